"""The target of a contest by month as a page: four questions that are answered alike, told once."""

import pytest
from fastapi.testclient import TestClient

from anoncup.tracks.monthly.files import QUESTIONS
from app.locale.language import LANGUAGES
from tests.support.arena import Arena
from tests.support.monthly_contest import ORIGINAL, opened, scored
from tests.support.target_pages import text_of
from tests.web.reader import page
from tests.web.spoken import said

pytestmark = pytest.mark.full


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_question_has_a_form_and_all_are_explained_once_with_commands_that_name_files(
    client: TestClient, arena: Arena, language: str
) -> None:
    contest = opened(client, arena, *ORIGINAL)
    submission = scored(contest, "red")
    scored(contest, "blue")
    contest.attack()
    target = contest.target_of(submission)
    answer = page(contest.arena, f"/targets/{target['id']}", team="blue", language=language)
    shown = text_of(answer)
    for name in QUESTIONS:
        assert answer.text.count(f'id="guessing-{name}"') == 1
        assert shown.count(said(f"question_{name}", language)) == 1
    assert shown.count(said("guess_guide_link_25", language)) == 1
    assert said("target_file_transactions", language) in shown
    given = "--original cup-2017/customers.csv --original cup-2017/transactions.csv"
    assert f"{given} --original knowledge_25=cup-2017/knowledge_25.csv" in shown
    assert f"--transactions cup-2017/targets/{target['name']}/transactions.csv --into guesses" in shown
    sent = f"anoncup guess cup-2017/{target['name']} --question link_100 --file guesses/"
    assert f"{sent}date_quantity.link_100.csv" in shown
