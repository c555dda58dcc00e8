"""The target page of a monthly contest explains its four similar questions once."""

import pytest
from fastapi.testclient import TestClient

from anoncup.tracks.monthly.files import QUESTIONS
from app.locale.language import LANGUAGES
from tests.support.arena import Arena
from tests.support.monthly_contest import ORIGINAL, create_contest, submit_and_score
from tests.support.page_requests import get_page
from tests.support.team_pages import extract_text
from tests.support.translations import translate

pytestmark = pytest.mark.full


@pytest.mark.parametrize("language", LANGUAGES)
def test_similar_questions_are_explained_once_with_commands(
    client: TestClient, arena: Arena, language: str
) -> None:
    contest = create_contest(client, arena, *ORIGINAL)
    submission = submit_and_score(contest, "red")
    submit_and_score(contest, "blue")
    contest.open_attacks()
    target = contest.find_target(submission)
    response = get_page(contest.arena, f"/targets/{target['id']}", team="blue", language=language)
    text = extract_text(response)
    for name in QUESTIONS:
        assert response.text.count(f'id="guessing-{name}"') == 1
        assert text.count(translate(f"question_{name}", language)) == 1
    assert text.count(translate("guess_guide_link_25", language)) == 1
    assert translate("target_file_transactions", language) in text
    attack_options = "--original cup-2017/customers.csv --original cup-2017/transactions.csv"
    assert f"{attack_options} --original knowledge_25=cup-2017/knowledge_25.csv" in text
    assert f"--transactions cup-2017/targets/{target['name']}/transactions.csv --into guesses" in text
    guess_command = f"anoncup guess cup-2017/{target['name']} --question link_100 --file guesses/"
    assert f"{guess_command}date_quantity.link_100.csv" in text
