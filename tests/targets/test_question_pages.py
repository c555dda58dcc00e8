"""Target pages with several questions: each has its own form, limit and best guess."""

import re
from html import unescape
from uuid import uuid4

import pytest
from fastapi.testclient import TestClient
from httpx2 import Response

from anoncup.schemas import GuessOutcome
from app.core.db.models import Guess
from app.targets.pages import OwnGuess, find_best_by_target
from tests.support.contest import Contest, judge_everything
from tests.support.page_requests import assert_refused, extract_text, extract_words, get_page, post_form
from tests.support.several_questions_contest import build_claims, create_contest, installed_track
from tests.support.several_questions_track import QUESTIONS_TOML, SEVERAL_QUESTIONS_TRACK
from tests.support.translations import translate
from tests.support.visitor_pages import parse_rows

__all__ = ["installed_track"]

pytestmark = pytest.mark.full


def post_guess(contest: Contest, target: str, content: bytes, question: str) -> Response:
    files = {"guess": ("guess.csv", content)}
    return post_form(
        contest.arena, f"/targets/{target}/guesses", {"question": question}, files=files, team="blue"
    )


def split_forms(text: str) -> dict[str, str]:
    """Return the markup between the heading and the end of the form of each question."""
    matches = re.findall(r"<h3>(\w[^<]*)</h3>(.*?)</form>", text, re.DOTALL)
    return {unescape(name): form for name, form in matches}


def open_target(client: TestClient, questions_toml: str = QUESTIONS_TOML) -> tuple[Contest, str, str]:
    """Open a contest in its second phase; return it with red's submission and the target made of it."""
    contest, red = create_contest(client, questions_toml)
    return contest, red, str(contest.find_target(red)["id"])


def read_words(contest: Contest, path: str) -> str:
    return " ".join(extract_words(get_page(contest.arena, path, team="blue").text))


def test_each_question_has_a_form_a_check_and_commands(client: TestClient) -> None:
    contest, red, target = open_target(client)
    response = get_page(contest.arena, f"/targets/{target}", team="blue")
    question_forms = split_forms(response.text)
    link_label = translate("question_link")
    assert list(question_forms) == [link_label, "value"]
    for form in question_forms.values():
        assert f'data-check="/targets/{target}/guesses/check"' in form
    assert 'name="question" value="value"' in question_forms["value"]
    assert "CSV headed like the column that is asked for" in question_forms["value"]
    assert 'id="guessing-link"' in question_forms[link_label]
    text, name = extract_text(response), contest.find_target(red)["name"]
    first = next(iter(SEVERAL_QUESTIONS_TRACK.attackers))
    assert f"--anonymized small/targets/{name}/anonymized.csv --into guesses" in text
    command = f"anoncup guess small/{name}"
    assert f"{command} --question link --file guesses/{first}.link.csv" in text
    assert f"{command} --question value --file value.csv" in text


def test_guesses_show_their_question_and_the_best_of_each(client: TestClient) -> None:
    contest, red, target = open_target(client)
    for correct in (30, 8):
        assert post_guess(contest, target, build_claims(contest, red, correct), "value").status_code == 303
    assert post_guess(contest, target, contest.build_guess(red, 10), "link").status_code == 303
    judge_everything()
    response = get_page(contest.arena, f"/targets/{target}", team="blue")
    text = " ".join(extract_words(response.text))
    assert "Your best (Origin of the rows) 0.2500 10 / 40" in text
    assert "Your best (value) 0.7500" in text
    assert [row[-6:] for row in parse_rows(response.text) if row][-3:] == [
        ["Origin of the rows", "Scored", "10 / 40", "10", "0.2500", "0.2500"],
        ["value", "Scored", "8 / 40", "–", "0.2000", "0.0000"],
        ["value", "Scored", "30 / 40", "–", "0.7500", "0.5000"],
    ]
    assert "Guesses left: 1" in extract_text(response)
    targets_text = read_words(contest, f"{contest.path}/targets")
    assert "Origin of the rows 2 value 1 Origin of the rows 0.2500 10 / 40 value 0.7500" in targets_text


def test_best_guess_has_the_largest_risk() -> None:
    verdicts = [
        GuessOutcome(value=value, baseline=baseline, details={})
        for value, baseline in ((0.6, 0.5), (0.5, 0.1), (0.4, 0.1), (0.9, 1.0))
    ]
    stored_guess = Guess(target_id=uuid4(), question="value")
    results = [OwnGuess(stored_guess, verdict, None, is_share_of_rows=False) for verdict in verdicts]
    for order in (results, results[::-1]):
        assert find_best_by_target(order) == {stored_guess.target_id: {"value": verdicts[1]}}


def test_refused_guess_is_explained_in_the_form_of_its_question(client: TestClient) -> None:
    contest, _, target = open_target(client)
    refusal = post_guess(contest, target, b"age\n20\n", "value")
    assert refusal.status_code == 422
    question_forms = split_forms(refusal.text)
    assert "The first line must be age, a line for each row below." in unescape(question_forms["value"])
    assert [name for name, form in question_forms.items() if 'class="note bad"' in form] == ["value"]
    unknown_response = post_guess(contest, target, b"age\n", "who")
    assert_refused(unknown_response, 422, "asked here are link, value")
