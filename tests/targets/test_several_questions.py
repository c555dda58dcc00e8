"""A contest with two questions: each has its own file, form, limit, score and best guess."""

import re
from collections.abc import Mapping
from html import unescape
from typing import Any

import pytest
from fastapi.testclient import TestClient
from httpx2 import Response

from anoncup.rules.toml_text import replace_tables
from app.core.db.models import Round
from app.core.db.transaction import transaction
from app.targets.guesses import GuessUpload
from tests.support.arena import ROWS
from tests.support.contest import Contest, judge_everything
from tests.support.page_requests import assert_refused, post_form
from tests.support.several_questions_contest import build_claims, create_contest, installed_track
from tests.support.several_questions_track import QUESTIONS_TOML

__all__ = ["installed_track"]

pytestmark = pytest.mark.full


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


def test_idempotency_key_is_valid_for_one_question(client: TestClient) -> None:
    contest, red = create_contest(client)
    content = build_claims(contest, red, 5)
    first, retry = (send_guess(contest, red, content, "value", key="once") for _ in range(2))
    assert (first.status_code, retry.json()) == (202, first.json())
    refusal = send_guess(contest, red, content, "link", key="once")
    assert (refusal.status_code, refusal.json()["code"]) == (422, "idempotency_key_reused")
    assert len(list_guesses(contest)) == 1


def post_guess(contest: Contest, target: str, content: bytes, question: str) -> Response:
    files = {"guess": ("guess.csv", content)}
    return post_form(
        contest.arena, f"/targets/{target}/guesses", {"question": question}, files=files, team="blue"
    )


def split_forms(text: str) -> dict[str, str]:
    """Return the markup between the heading and the end of the form of each question."""
    matches = re.findall(r"<h3>(\w[^<]*)</h3>(.*?)</form>", text, re.DOTALL)
    return {unescape(name): form for name, form in matches}


def test_refused_guess_is_explained_in_the_form_of_its_question(client: TestClient) -> None:
    contest, red = create_contest(client)
    target = contest.find_target(red)["id"]
    refusal = post_guess(contest, target, b"age\n20\n", "value")
    assert refusal.status_code == 422
    question_forms = split_forms(refusal.text)
    assert "The first line must be age, a line for each row below." in unescape(question_forms["value"])
    assert [name for name, form in question_forms.items() if 'class="note bad"' in form] == ["value"]
    unknown_response = post_guess(contest, target, b"age\n", "who")
    assert_refused(unknown_response, 422, "asked here are link, value")
