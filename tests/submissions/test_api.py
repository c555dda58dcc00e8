"""Submissions through the API: accepted, refused, scored and shown."""

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import QueuePool

from app.config import Settings
from app.core.db import engine
from app.core.db.models import Evaluation, Secret, Submission
from app.core.storage.store import Store
from tests.support.accounts import count_rows
from tests.support.arena import Arena
from tests.support.query_counter import log_queries
from tests.support.uploads import INVALID_UPLOADS, VALID_SECRET, VALID_TABLE, score_everything

MAX_UPLOAD_STATEMENTS = 21


def test_upload_returns_a_receipt(arena: Arena) -> None:
    response = arena.submit("red")
    assert response.status_code == 202
    receipt = response.json()
    assert receipt["status"] == "QUEUED"
    assert len(receipt["sha256"]["anonymized.csv"]) == len(receipt["commitment"]) == 64
    assert receipt["warnings"] == []


def test_waiting_submission_says_when_to_ask_again(arena: Arena) -> None:
    first, second = (arena.submit("red", seed=seed).json()["id"] for seed in (1, 2))

    def read_intervals() -> list[str | None]:
        responses = [arena.get(f"/submissions/{identifier}", team="red") for identifier in (first, second)]
        return [response.headers.get("Retry-After") for response in responses]

    assert read_intervals() == ["1", "2"]
    score_everything()
    assert read_intervals() == [None, None]


def test_scored_submission_has_all_measures_and_is_on_the_board(arena: Arena) -> None:
    identifier = arena.submit("red").json()["id"]
    score_everything()
    submission = arena.get_submission(identifier, "red")
    assert submission["status"] == "SCORED"
    assert submission["result"]["verdict"] == "accepted"
    assert list(submission["result"]["measures"])[:2] == ["mean_mae", "cross_mean"]
    assert submission["step"] == submission["steps"] > 10
    (row,) = arena.get_board()["rows"]
    assert (row["rank"], row["team"], row["entries"]) == (1, "red", 1)
    assert row["overall"] == round(submission["result"]["overall"], 4)


def test_excessive_release_is_rejected_with_measures_but_no_rank(arena: Arena) -> None:
    identifier = arena.submit_excessive("red").json()["id"]
    score_everything()
    submission = arena.get_submission(identifier, "red")
    assert submission["status"] == "REJECTED"
    assert submission["result"]["violations"][0]["code"] == "excessive_anonymization"
    assert submission["result"]["measures"]["mean_mae"]["value"] == 0
    (row,) = arena.get_board()["rows"]
    assert row["rank"] is None
    assert row["overall"] is None


@pytest.mark.parametrize("case", INVALID_UPLOADS.values(), ids=INVALID_UPLOADS)
def test_upload_errors_have_a_location_are_those_of_a_check_and_nothing_is_stored(
    arena: Arena, settings: Settings, case: tuple[str, bytes, str, int | None, bool]
) -> None:
    file, content, code, row, has_column = case
    arena.get_team_token("red")
    files_before = sorted((settings.data / "blobs").rglob("*"))
    files = {"anonymized": VALID_TABLE, "secret": VALID_SECRET} | {file: content}
    parts = {name: (f"{name}.csv", part) for name, part in files.items()}
    check_response = arena.post(f"/competitions/{arena.slug}/submissions/check", team="red", files=parts)
    response = arena.submit("red", anonymized=files["anonymized"], secret=files["secret"])
    assert (check_response.status_code, check_response.json()) == (422, response.json())
    assert response.status_code == 422
    assert response.headers["content-type"] == "application/problem+json"
    problem = response.json()
    first = problem["errors"][0]
    assert (first["file"], first["code"], first["row"]) == (file, code, row)
    assert (first["column"] is not None) == has_column
    assert row is None or first["line"] == row + 1
    assert file != "secret" or "value" not in first["values"]
    assert "value" not in first
    assert problem["total"] >= 1
    assert count_rows(Submission) == count_rows(Secret) == count_rows(Evaluation) == 0
    assert sorted((settings.data / "blobs").rglob("*")) == files_before


def test_file_above_the_size_limit_is_refused(client: TestClient) -> None:
    arena = Arena.create(client, extra_toml="[limits]\nfile_mb = 1")
    response = arena.submit("red", anonymized=b"x" * (2**20 + 1))
    assert (response.status_code, response.json()["code"]) == (413, "too_large")
    assert response.json()["file"] == "anonymized"
    (error,) = response.json()["errors"]
    assert (error["file"], error["row"], error["code"]) == ("anonymized", None, "too_large")
    assert error["values"] == {"file": "anonymized", "most_mb": 1}
    assert response.json()["total"] == 1
    assert count_rows(Submission) == 0


def test_team_downloads_its_public_file_unchanged(arena: Arena) -> None:
    identifier = arena.submit("red").json()["id"]
    response = arena.get(f"/submissions/{identifier}/data/anonymized.csv", team="red")
    assert response.content == VALID_TABLE


def test_submissions_are_numbered_in_order_of_receipt(arena: Arena) -> None:
    red = [arena.submit("red", seed=seed).json() for seed in (1, 2)]
    blue = arena.submit("blue").json()
    red.append(arena.submit("red", seed=3).json())
    assert [submission["number"] for submission in (*red, blue)] == [1, 2, 3, 1]
    rows = arena.get(f"/competitions/{arena.slug}/submissions", team="red").json()
    assert [submission["number"] for submission in rows] == [3, 2, 1]
    arena.post(f"/submissions/{red[1]['id']}/cancel", team="red")
    assert [arena.get_submission(submission["id"], "red")["number"] for submission in red] == [1, 2, 3]
    all_submissions = arena.get(f"/competitions/{arena.slug}/submissions/all").json()
    assert sorted((submission["team"], submission["number"]) for submission in all_submissions) == [
        ("blue", 1), ("red", 1), ("red", 2), ("red", 3)
    ]  # fmt: skip


def test_upload_needs_a_constant_number_of_queries(arena: Arena) -> None:
    arena.get_team_token("red")
    counts = []
    arena.submit("red")  # the first one pins the scoring versions
    for seed in range(2, 5):
        with log_queries() as queries:
            assert arena.submit("red", seed=seed).status_code == 202
        counts.append(len(queries.statements))
    assert counts == [counts[0]] * 3
    assert counts[0] <= MAX_UPLOAD_STATEMENTS


def test_no_connection_is_held_while_a_release_is_stored(
    arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    save, counts = Store.save, []

    def save_and_count(store: Store, content: bytes) -> str:
        pool = engine.get_engine().pool
        assert isinstance(pool, QueuePool)
        counts.append(pool.checkedout())
        return save(store, content)

    arena.get_team_token("red")
    monkeypatch.setattr(Store, "save", save_and_count)
    assert arena.submit("red").status_code == 202
    assert counts == [0]
