"""Checks of uploads: the answer that a submission or guess would get, without storing it."""

from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from httpx2 import Response
from limits import RateLimitItemPerYear
from sqlalchemy import text

from anoncup.tables.csv_text import write_csv
from app.config import Settings
from app.core.db.transaction import transaction
from app.core.http import throttle
from tests.support.arena import ROWS, Arena, build_noisy_release
from tests.support.contest import Contest
from tests.support.uploads import VALID_SECRET, VALID_TABLE, edit_rows

pytestmark = [pytest.mark.full, pytest.mark.contest(teams=("red", "blue"), attacks=True)]

VALID_FILES = {"anonymized": VALID_TABLE, "secret": VALID_SECRET}


def check_files(arena: Arena, files: dict[str, bytes], team: str = "red", **texts: str) -> Response:
    parts = {name: (f"{name}.csv", content) for name, content in files.items()}
    path = f"/competitions/{arena.slug}/submissions/check"
    return arena.post(path, team=team, files=parts, data=texts)


def submit_files(arena: Arena, files: dict[str, bytes]) -> Response:
    return arena.submit("red", anonymized=files["anonymized"], secret=files["secret"])


def list_errors(problem: Any) -> list[tuple[str, str]]:
    return [(error["file"], error["code"]) for error in problem["errors"]]


def check_guess(contest: Contest, target: str, content: bytes, team: str = "blue", **texts: str) -> Response:
    files = {"guess": ("guess.csv", content)}
    token = contest.arena.get_team_token(team)
    return contest.arena.post(f"/targets/{target}/guesses/check", token=token, files=files, data=texts)


def digest_storage(settings: Settings) -> tuple[dict[str, str | None], list[Path]]:
    """Return a digest of the rows of each table, and the names of all stored files."""
    rows = "SELECT md5(string_agg(each::text, chr(10) ORDER BY each::text)) FROM {} each"
    with transaction() as session:
        names = session.scalars(text("SELECT relname FROM pg_stat_user_tables")).all()
        digests = {name: session.scalar(text(rows.format(name))) for name in names}
    return digests, sorted((settings.data / "blobs").rglob("*"))


DUPLICATED_SECRET = edit_rows(VALID_SECRET, lambda rows: [*rows[:-1], rows[1]])


def test_reported_errors_cover_every_file(arena: Arena) -> None:
    files = {"anonymized": write_csv(arena.table.assign(income="many")), "secret": DUPLICATED_SECRET}
    problem = check_files(arena, files).json()
    assert (len(problem["errors"]), problem["total"]) == (20, ROWS + 1)
    assert list_errors(problem)[-2:] == [("anonymized", "not_a_number"), ("secret", "duplicate_row")]


def test_check_of_valid_files_returns_warnings_and_digests(arena: Arena) -> None:
    unshuffled_files = {"anonymized": write_csv(arena.table), "secret": b"original_row\n" + b"".join(
        b"%d\n" % row for row in range(1, ROWS + 1)
    )}  # fmt: skip
    for _ in range(2):  # the second time it is a repeated release
        check_result = check_files(arena, unshuffled_files).json()
        receipt = arena.submit(
            "red", anonymized=unshuffled_files["anonymized"], secret=unshuffled_files["secret"]
        ).json()
        assert check_result == {"rows": ROWS, "sha256": receipt["sha256"], "warnings": receipt["warnings"]}
    assert {warning["code"] for warning in check_result["warnings"]} == {
        "rows_in_original_order",
        "sent_before",
    }
    other_team = check_files(arena, unshuffled_files, team="blue").json()
    assert [warning["code"] for warning in other_team["warnings"]] == ["rows_in_original_order"]


def test_check_writes_nothing(arena: Arena, settings: Settings) -> None:
    arena.submit("red")
    quota = arena.get(f"/competitions/{arena.slug}/quota", team="red").json()
    storage_before = digest_storage(settings)
    table, secret = build_noisy_release(5, arena.table)
    assert check_files(arena, {"anonymized": table, "secret": secret}, comment="a try").status_code == 200
    assert check_files(arena, {"anonymized": table, "secret": b"original_row\n0\n"}).status_code == 422
    assert digest_storage(settings) == storage_before
    assert arena.get(f"/competitions/{arena.slug}/quota", team="red").json() == quota


def test_check_after_the_phase_is_refused_like_a_submission(client: TestClient) -> None:
    arena = Arena.create(client)
    Contest(arena).move_phases(anonymization=(-48, -24))
    for files in (VALID_FILES, VALID_FILES | {"secret": DUPLICATED_SECRET}):
        check_response, submit_response = check_files(arena, files), submit_files(arena, files)
        assert check_response.status_code == submit_response.status_code == 409
        assert check_response.json() == submit_response.json()
    assert check_response.json()["code"] == "phase_closed"


def test_team_without_quota_can_still_check_files(client: TestClient) -> None:
    arena = Arena.create(client, extra_toml="[limits]\nattempts_total = 1")
    assert arena.submit("red").status_code == 202
    assert arena.submit("red", seed=2).json()["code"] == "quota_used_up"
    assert check_files(arena, VALID_FILES).status_code == 200


def test_comment_sent_as_a_file_is_refused_as_in_a_submission(arena: Arena) -> None:
    token = arena.get_team_token("red")
    files = {name: (f"{name}.csv", content) for name, content in VALID_FILES.items()}
    files |= {"comment": ("c.txt", b"a try")}
    for path in ("/submissions/check", "/submissions"):
        response = arena.post(f"/competitions/small{path}", token=token, files=files)
        assert (response.status_code, response.json()["code"]) == (422, "comment")


def test_checks_are_throttled_per_team_with_retry_after(
    arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(throttle, "TEAM_CHECK_LIMIT", RateLimitItemPerYear(2, 1, "checks"))
    assert [check_files(arena, VALID_FILES).status_code for _ in range(2)] == [200, 200]
    refusal = check_files(arena, VALID_FILES)
    assert (refusal.status_code, refusal.json()["code"]) == (429, "too_many_checks")
    assert int(refusal.headers["retry-after"]) == refusal.json()["values"]["seconds"] > 0
    assert check_files(arena, VALID_FILES, team="blue").status_code == 200
    assert arena.submit("red").status_code == 202


def find_target(contest: Contest, *, is_own: bool = False) -> str:
    (target_id,) = [target["id"] for target in contest.list_targets("blue") if target["own"] is is_own]
    return str(target_id)


@pytest.mark.parametrize("content", [b"original_row\n" + b"1\n" * 3, b"PK\x03\x04"])
def test_guess_check_reports_the_same_errors_as_a_guess(contest: Contest, content: bytes) -> None:
    target = find_target(contest)
    check_response = check_guess(contest, target, content)
    refusal = contest.submit_guess("blue", target, content)
    assert check_response.status_code == refusal.status_code == 422
    assert check_response.json() == refusal.json()


def test_guess_check_counts_answers_and_stores_nothing(contest: Contest, settings: Settings) -> None:
    target = find_target(contest)
    storage_before = digest_storage(settings)
    response = check_guess(contest, target, b"original_row\n" + b"1\n" * 30 + b"0\n" * 10)
    assert response.json() == {"question": "link", "answered": 30, "warnings": []}
    empty_guess = check_guess(contest, target, b"original_row\n" + b"0\n" * ROWS).json()
    assert [item["code"] for item in empty_guess["warnings"]] == ["no_answer"]
    from_zero = b"original_row\n" + b"".join(b"%d\n" % row for row in range(ROWS))
    (warning,) = check_guess(contest, target, from_zero).json()["warnings"]
    assert warning["code"] == "rows_from_zero"
    assert digest_storage(settings) == storage_before


def test_only_teams_that_may_guess_can_check_a_guess(contest: Contest) -> None:
    guess = b"original_row\n" + b"1\n" * ROWS
    own_target_response = check_guess(contest, find_target(contest, is_own=True), guess)
    assert (own_target_response.status_code, own_target_response.json()["code"]) == (403, "own_target")
    unknown = check_guess(contest, find_target(contest), guess, question="riddle")
    assert (unknown.status_code, unknown.json()["code"]) == (422, "unknown_question")
