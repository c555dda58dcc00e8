"""Whose a target could be, on the organizers' desk and on the target's own page."""

from html import unescape

import pytest
from fastapi.testclient import TestClient

from app.web import words
from tests.services.test_owners import counted, opened
from tests.web.reader import page


@pytest.mark.parametrize("language", words.LANGUAGES)
def test_a_target_shows_of_how_many_teams_it_could_be(client: TestClient, language: str) -> None:
    contest = opened(client)
    contest.attack()
    for target in contest.targets("red"):
        path = f"/targets/{target['id']}"
        shown = unescape(page(contest.arena, path, team="red", language=language).text)
        assert f"<dt>{words.WORDS['target_owners'][language]}</dt><dd>{target['owners']}</dd>" in shown
        assert words.WORDS["target_owners_note"][language] in shown


@pytest.mark.parametrize("language", words.LANGUAGES)
def test_the_organizers_desk_shows_the_numbers_and_what_hides_more(client: TestClient, language: str) -> None:
    contest = opened(client, at_least=9)
    path = f"{contest.path}/organize"
    shown = unescape(page(contest.arena, path, organizer=True, language=language).text)
    said = {key: text[language] for key, text in words.WORDS.items()}
    assert said["run_owners_said"].format(targets=4, teams=4) in shown
    assert said["run_owners_then"] in shown
    assert said["duty_owners_few"].format(n=4) in shown
    number = counted()
    assert f"<dt>{said['run_owners_least']}</dt><dd>{number.least}</dd>" in shown
    offered = [
        said["run_owners_coarser"].format(digits=digits, least=least)
        for digits, least in number.coarser.items()
    ]
    assert all(line in shown for line in offered or [said["run_owners_no_coarser"]])
    contest.between()
    again = unescape(page(contest.arena, path, organizer=True, language=language).text)
    assert said["run_owners_then"] not in again
