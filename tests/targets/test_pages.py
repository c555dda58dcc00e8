"""Target pages of the re-identification phase: guesses by a form, and scores hidden until their time."""

import re
from html import unescape

import pytest
from fastapi.testclient import TestClient
from httpx2 import Response
from sqlalchemy import select

from app.core.db.models import Guess, State
from app.core.db.transaction import transaction
from tests.support.accounts import count_rows
from tests.support.arena import ROWS
from tests.support.contest import Contest, judge_everything
from tests.support.page_requests import assert_refused, extract_text, extract_words, get_page, post_form
from tests.support.translations import translate

PUBLICATION = '[publication]\nfeedback = "{feedback}"'


def start_attack_phase(client: TestClient, *, feedback: str = "immediate") -> tuple[Contest, str, str]:
    """Start the second phase of a contest and return it with red's submission and the target made of it."""
    contest = Contest.create(client, extra_toml=PUBLICATION.format(feedback=feedback))
    submission, _ = contest.publish_targets("red", "blue")
    return contest, submission, str(contest.find_target(submission)["id"])


def post_guess(
    contest: Contest, target: str, content: bytes, *, team: str = "blue", language: str = "en"
) -> Response:
    files = {"guess": ("guess.csv", content)}
    return post_form(contest.arena, f"/targets/{target}/guesses", files=files, team=team, language=language)


def test_immediate_feedback_shows_the_result_at_once(client: TestClient) -> None:
    contest, submission, target = start_attack_phase(client)

    def read_last_guess() -> str:
        html = get_page(contest.arena, f"/targets/{target}", team="blue").text
        (paragraph,) = re.findall(r'<p id="last-guess".*?</p>', html, re.DOTALL)
        return unescape(paragraph)

    post_response = post_guess(contest, target, contest.build_guess(submission, 7))
    assert post_response.headers["location"] == f"/targets/{target}?done=guess_submitted"
    waiting_response = get_page(contest.arena, post_response.headers["location"], team="blue")
    assert translate("guess_QUEUED") in extract_text(waiting_response)
    assert 'hx-trigger="every 3s"' in waiting_response.text
    assert translate("is being scored; the result appears here.") in read_last_guess()
    judge_everything()
    assert f"7 of {ROWS} rows are right (0.1750)." in read_last_guess()
    for path in (f"/targets/{target}", f"{contest.path}/targets"):
        response = get_page(contest.arena, path, team="blue")
        assert "0.1750" in response.text
        assert f"7 / {ROWS}" in " ".join(extract_words(response.text))
        assert "hx-trigger" not in response.text
    assert "Guesses left: 2" in extract_text(get_page(contest.arena, f"/targets/{target}", team="blue"))


@pytest.mark.full
def test_guess_on_a_withdrawn_target_is_said_not_to_count(client: TestClient) -> None:
    contest, submission, target = start_attack_phase(client)
    contest.submit_correct_guess("blue", submission, 7)
    assert contest.arena.post(f"/submissions/{submission}/disqualify").status_code == 200
    html = get_page(contest.arena, f"{contest.path}/targets", team="blue").text
    assert translate("Does not count: the target was withdrawn") in html
    assert translate("guess_SCORED") not in html
    assert f"/targets/{target}" not in html  # where others find nothing any more


@pytest.mark.full
def test_same_file_is_one_guess_unless_the_service_failed(client: TestClient) -> None:
    contest, submission, target = start_attack_phase(client)
    content = contest.build_guess(submission, 3)
    assert [post_guess(contest, target, content).status_code for _ in range(2)] == [303, 303]
    assert count_rows(Guess) == 1
    with transaction() as session:
        session.scalars(select(Guess)).one().state = State.ERROR
    assert post_guess(contest, target, content).status_code == 303
    assert count_rows(Guess) == 2


@pytest.mark.full
def test_page_after_the_close_shows_the_secret_and_no_form(client: TestClient) -> None:
    contest, submission, target = start_attack_phase(client)
    secret_path = f"/api/v1/targets/{target}/secret"
    assert secret_path not in get_page(contest.arena, f"/targets/{target}", team="blue").text
    contest.close_attacks()
    late_response = post_guess(contest, target, contest.build_guess(submission, 1))
    assert_refused(late_response, 409, "The reidentification phase is not open.")
    response = get_page(contest.arena, f"/targets/{target}", team="blue")
    assert "red" in extract_words(response.text)
    assert 'type="file"' not in response.text
    assert f'href="{secret_path}"' in response.text
    reveals = contest.arena.get(f"{contest.path}/reveal").json()
    (salt,) = [entry["salt"] for entry in reveals if entry["submission_id"] == submission]
    assert salt in response.text
