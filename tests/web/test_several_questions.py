"""A target's page where a competition asks several questions: a form, a limit and a best guess for each."""

import re
from collections.abc import Iterator
from html import unescape
from uuid import uuid4

import pytest
from fastapi.testclient import TestClient
from httpx2 import Response
from sqlalchemy import select

from anoncup.schemas import Judged
from app.db.models import Guess
from app.db.transaction import transaction
from app.locale.language import LANGUAGES
from app.web.team.targets import Told, best_by_target
from tests.support.arena import ROWS
from tests.support.contest import Contest, judge_everything
from tests.support.several_questions_contest import claims, played
from tests.support.several_questions_track import ASKED, RIDDLES
from tests.support.target_pages import text_of
from tests.support.track_package import installed
from tests.web.reader import page, send, words_of
from tests.web.spoken import said

pytestmark = pytest.mark.full


@pytest.fixture(autouse=True, scope="module")
def riddles(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with installed(RIDDLES, "tests.support.several_questions_track", tmp_path_factory.mktemp("packages")):
        yield


def guess(contest: Contest, target: str, content: bytes, question: str) -> Response:
    files = {"guess": ("guess.csv", content)}
    return send(contest.arena, f"/targets/{target}/guesses", {"question": question}, files=files, team="blue")


def forms(text: str) -> dict[str, str]:
    """What stands between each question's heading and the end of its form."""
    found = re.findall(r"<h3>(\w[^<]*)</h3>(.*?)</form>", text, re.DOTALL)
    return {unescape(name): form for name, form in found}


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_question_has_its_form_with_its_own_check(client: TestClient, language: str) -> None:
    contest, red = played(client)
    target = str(contest.target_of(red)["id"])
    shown = page(contest.arena, f"/targets/{target}", team="blue", language=language).text
    found = forms(shown)
    link = said("question_link", language)
    assert list(found) == [link, "value"]
    for form in found.values():
        assert f'data-check="/targets/{target}/guesses/check"' in form
    assert 'name="question" value="value"' in found["value"]
    assert "CSV headed like the column that is asked for" in found["value"]
    assert 'id="guessing-link"' in found[link]


def test_guesses_are_listed_with_their_question_and_the_best_of_each(client: TestClient) -> None:
    contest, red = played(client)
    target = str(contest.target_of(red)["id"])
    for right in (30, 8):
        assert guess(contest, target, claims(contest, red, right), "value").status_code == 303
    assert guess(contest, target, contest.right_on(red, 10), "link").status_code == 303
    judge_everything()
    shown = page(contest.arena, f"/targets/{target}", team="blue")
    text = " ".join(words_of(shown.text))
    assert "Your best (Origin of the rows) 0.2500 10 / 40" in text
    assert "Your best (value) 0.7500" in text
    rows = re.findall(r"<tr><th.*?</tr>", shown.text, re.DOTALL)
    cells = [
        [" ".join(words_of(cell)) for cell in re.findall(r"<td.*?</td>", row, re.DOTALL)] for row in rows
    ]
    assert cells[-3:] == [
        ["Origin of the rows", "Scored", "10 / 40", "10", "0.2500", "0.2500"],
        ["value", "Scored", "8 / 40", "–", "0.2000", "0.0000"],
        ["value", "Scored", "30 / 40", "–", "0.7500", "0.5000"],
    ]
    assert "Guesses left: 1" in text_of(shown)
    listed = " ".join(words_of(page(contest.arena, f"{contest.path}/targets", team="blue").text))
    assert "Origin of the rows 2 value 1 Origin of the rows 0.2500 10 / 40 value 0.7500" in listed


def test_what_a_guess_without_counts_found_is_told_beside_blind_guessing(client: TestClient) -> None:
    contest, red = played(client)
    target = str(contest.target_of(red)["id"])
    guess(contest, target, claims(contest, red, 30), "value")
    judge_everything()
    shown = text_of(page(contest.arena, f"/targets/{target}", team="blue"))
    assert (
        said("It found {rate}; guessing at random finds {baseline}.", rate="0.7500", baseline="0.5000")
        in shown
    )


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(("asked", "word", "other"), [(ASKED, "Value", "Rate"), ("", "Rate", "Value")])
def test_the_column_of_what_guesses_found_speaks_of_rates_only_where_all_are_counted(
    client: TestClient, asked: str, word: str, other: str, language: str
) -> None:
    contest, red = played(client, asked)
    target = str(contest.target_of(red)["id"])
    guess(contest, target, contest.right_on(red, 10), "link")
    shown = page(contest.arena, f"/targets/{target}", team="blue", language=language).text
    heads = re.findall(r'<th scope="col" class="number">([^<]*)</th>', shown)
    assert (said(word, language) in heads, said(other, language) in heads) == (True, False)


def test_what_was_counted_beside_is_not_said_to_be_the_value(client: TestClient) -> None:
    contest, red = played(client)
    target = str(contest.target_of(red)["id"])
    guess(contest, target, claims(contest, red, 30), "value")
    judge_everything()
    with transaction() as session:
        made = session.scalars(select(Guess)).one()
        assert made.outcome is not None
        made.outcome = {**made.outcome, "correct": 33, "trials": ROWS}
    shown = text_of(page(contest.arena, f"/targets/{target}", team="blue"))
    assert (
        said("It found {rate}; guessing at random finds {baseline}.", rate="0.7500", baseline="0.5000")
        in shown
    )
    assert "rows are right" not in shown
    assert "33 /" not in shown
    listed = " ".join(words_of(page(contest.arena, f"{contest.path}/targets", team="blue").text))
    assert "value 0.7500 33" not in listed
    assert "value 0.7500" in listed


def test_the_best_guess_is_that_with_the_largest_risk_as_on_boards() -> None:
    found = [
        Judged(value=value, baseline=baseline, details={})
        for value, baseline in ((0.6, 0.5), (0.5, 0.1), (0.4, 0.1), (0.9, 1.0))
    ]
    made = Guess(target_id=uuid4(), question="value")
    own = [Told(made, one, None, counts=False) for one in found]
    for order in (own, own[::-1]):
        assert best_by_target(order) == {made.target_id: {"value": found[1]}}


def test_a_refused_guess_is_explained_by_the_form_of_its_question(client: TestClient) -> None:
    contest, red = played(client)
    target = str(contest.target_of(red)["id"])
    refused = guess(contest, target, b"age\n20\n", "value")
    assert refused.status_code == 422
    found = forms(refused.text)
    assert "The first line must be age, a line for each row below." in unescape(found["value"])
    assert [name for name, form in found.items() if 'class="note bad"' in form] == ["value"]
    unknown = guess(contest, target, b"age\n", "who")
    assert (unknown.status_code, "asked here are link, value" in text_of(unknown)) == (422, True)


def test_a_file_sent_twice_is_one_guess_and_the_same_for_another_question_another(client: TestClient) -> None:
    contest, red = played(client)
    target = str(contest.target_of(red)["id"])
    content = claims(contest, red, 3)
    assert [guess(contest, target, content, "value").status_code for _ in range(2)] == [303, 303]
    assert guess(contest, target, content, "link").status_code == 422
    assert len(contest.arena.get(f"{contest.path}/guesses", token=contest.arena.team("blue")).json()) == 1


def test_the_commands_name_the_question_and_the_file_that_attack_has_written_for_it(
    client: TestClient,
) -> None:
    contest, red = played(client)
    target = contest.target_of(red)
    shown = text_of(page(contest.arena, f"/targets/{target['id']}", team="blue"))
    first = next(iter(RIDDLES.attackers))
    assert f"--anonymized small/targets/{target['name']}/anonymized.csv --into guesses" in shown
    sent = f"anoncup guess small/{target['name']}"
    assert f"{sent} --question link --file guesses/{first}.link.csv" in shown
    assert f"{sent} --question value --file value.csv" in shown


def test_a_question_without_guesses_left_says_so_and_the_other_stays_open(client: TestClient) -> None:
    contest, red = played(client)
    target = str(contest.target_of(red)["id"])
    for right in range(3):
        guess(contest, target, claims(contest, red, right), "value")
    shown = page(contest.arena, f"/targets/{target}", team="blue")
    assert said("Your team has no guess left on this question.") in text_of(shown)
    assert re.findall(r'name="question" value="(\w+)"', shown.text) == ["link"]
