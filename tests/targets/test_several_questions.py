"""A contest with two questions: each has its own file, limit and score."""

from collections.abc import Mapping
from typing import Any

import pytest
from fastapi.testclient import TestClient
from httpx2 import Response

from anoncup.rules.toml_text import replace_tables
from app.core.db.models import Round
from app.core.db.transaction import transaction
from app.core.locale.language import LANGUAGES
from app.targets.guesses import GuessUpload
from tests.support.arena import ROWS
from tests.support.contest import Contest, judge_everything
from tests.support.page_requests import get_page
from tests.support.several_questions_contest import build_claims, create_contest, installed_track
from tests.support.several_questions_track import QUESTIONS_TOML, SEVERAL_QUESTIONS_TRACK

__all__ = ["installed_track"]

pytestmark = pytest.mark.full

UNCOUNTED_ATTACKERS = "".join(
    f"[attackers.{name}]\ncounts = false\n" for name in SEVERAL_QUESTIONS_TRACK.attackers
)


def send_guess(
    contest: Contest, submission: str, content: bytes, question: str | None = None, *, key: str = ""
) -> Response:
    """Send a guess of team blue about the target of a submission."""
    target = contest.find_target(submission)["id"]
    return contest.submit_guess("blue", target, content, key=key or None, question=question)


def list_guesses(contest: Contest) -> list[dict[str, Any]]:
    guesses: list[dict[str, Any]] = contest.arena.get(f"{contest.path}/guesses", team="blue").json()
    return guesses


def test_each_question_is_parsed_judged_and_counted_separately(client: TestClient) -> None:
    contest, red = create_contest(client)
    value_response = send_guess(contest, red, build_claims(contest, red, 30), "value")
    assert (
        value_response.status_code,
        value_response.json()["question"],
        value_response.json()["answered"],
    ) == (202, "value", 30)
    link_response = send_guess(contest, red, contest.build_guess(red, 10))
    assert (link_response.json()["question"], link_response.json()["guesses_left"]) == ("link", 2)
    judge_everything()
    link, value = list_guesses(contest)
    assert (link["question"], link["rate"], link["correct"]) == ("link", 10 / ROWS, 10)
    assert (value["question"], value["rate"], value["correct"]) == ("value", 30 / ROWS, None)
    assert value["outcome"]["baseline"] == 0.5
    assert value["outcome"]["details"] == {"columns": 3.0}
    target = next(row for row in contest.list_targets("blue") if not row["own"])
    assert target["guesses_left_by_question"] == {"link": 2, "value": 2}
    assert target["guesses_left"] == 4


@pytest.mark.parametrize(("credit", "hits", "expected_count"), [(0.5, 15, None), (0.5, 10, 5), (1.0, 15, 15)])
def test_fractional_score_is_exact_without_a_count(
    client: TestClient, credit: float, hits: int, expected_count: int | None
) -> None:
    contest, red = create_contest(client, questions_toml=f"{QUESTIONS_TOML}credit = {credit}\n")
    send_guess(contest, red, build_claims(contest, red, hits), "value")
    judge_everything()
    (guess,) = list_guesses(contest)
    assert (guess["status"], guess["correct"], guess["rate"]) == ("SCORED", expected_count, hits / ROWS)
    assert (guess["outcome"]["correct"], guess["outcome"]["trials"]) == (credit * hits, ROWS)
    target = guess["target_id"]
    for language in LANGUAGES:
        response = get_page(contest.arena, f"/targets/{target}", team="blue", language=language)
        assert (response.status_code, "None" in response.text) == (200, False)


def test_unknown_question_is_refused_with_the_valid_ones(client: TestClient) -> None:
    contest, red = create_contest(client, questions_toml="")
    for name in ("value", "Link", "", "../link"):
        refusal = send_guess(contest, red, contest.build_guess(red, 1), name).json()
        assert (refusal["status"], refusal["code"]) == (422, "unknown_question")
        assert refusal["detail"].endswith("asked here are link")
    assert send_guess(contest, red, contest.build_guess(red, 1), "link").status_code == 202
    assert next(row for row in contest.list_targets("blue") if not row["own"])["guesses_left"] == 2


def test_question_removed_while_a_guess_is_read_is_refused(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    contest, red = create_contest(client)
    read_guess = GuessUpload.parse_files

    def remove_question(upload: GuessUpload, files: Mapping[str, bytes]) -> None:
        read_guess(upload, files)
        with transaction() as session:
            competition = session.get_one(Round, upload.round.id).competition
            competition.file = replace_tables(competition.file, "questions", "")

    monkeypatch.setattr(GuessUpload, "parse_files", remove_question)
    refusal = send_guess(contest, red, build_claims(contest, red, 1), "value").json()
    assert (refusal["status"], refusal["code"]) == (422, "unknown_question")
    assert list_guesses(contest) == []


def test_guess_limits_are_independent_between_questions(client: TestClient) -> None:
    contest, red = create_contest(client)
    responses = [send_guess(contest, red, build_claims(contest, red, hits), "value") for hits in range(4)]
    assert [response.status_code for response in responses] == [202, 202, 202, 429]
    assert [response.json()["guesses_left"] for response in responses[:3]] == [2, 1, 0]
    assert send_guess(contest, red, contest.build_guess(red, 1), "link").json()["guesses_left"] == 2


def test_file_for_another_question_is_malformed(client: TestClient) -> None:
    contest, red = create_contest(client)
    responses = (
        send_guess(contest, red, build_claims(contest, red, 3)),
        send_guess(contest, red, b"original_row\n1\n", "value"),
    )
    assert [response.json()["errors"][0]["code"] for response in responses] == ["guess_header", "header"]


def test_idempotency_key_is_valid_for_one_question(client: TestClient) -> None:
    contest, red = create_contest(client)
    content = build_claims(contest, red, 5)
    first, retry = (send_guess(contest, red, content, "value", key="once") for _ in range(2))
    assert (first.status_code, retry.json()) == (202, first.json())
    refusal = send_guess(contest, red, content, "link", key="once")
    assert (refusal.status_code, refusal.json()["code"]) == (422, "idempotency_key_reused")
    assert len(list_guesses(contest)) == 1


def test_boards_show_the_gain_over_the_baseline_of_each_question(client: TestClient) -> None:
    contest, red = create_contest(client, QUESTIONS_TOML + UNCOUNTED_ATTACKERS)
    row_before = next(row for row in contest.get_board()["rows"] if row["team"] == "red")
    assert row_before["security"] == 0.0
    for content, question in (
        (build_claims(contest, red, 8), "value"),  # less than chance
        (build_claims(contest, red, 34), "value"),
        (contest.build_guess(red, 10), "link"),
    ):
        assert send_guess(contest, red, content, question).status_code == 202
    judge_everything()
    above_baseline = (34 / ROWS - 0.5) / 0.5
    rows = contest.get_board("reidentification", organizer=True)["rows"]
    row = next(entry for entry in rows if entry["team"] == "blue")
    assert row["identified"] is None
    assert row["score"] == pytest.approx(max(above_baseline, 10 / ROWS))
    assert row["by_question"] == {"link": 10 / ROWS, "value": pytest.approx(above_baseline)}
    contest.close_attacks()
    row_after = next(row for row in contest.get_board()["rows"] if row["team"] == "red")
    assert row_after["security"] == pytest.approx(above_baseline)
