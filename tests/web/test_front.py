"""The front page: which competitions there are, where they stand, and whose they are."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import event

from app.db.engine import get_engine
from app.db.models import Competition
from app.db.transaction import transaction
from tests.support.arena import Arena, competition_file
from tests.support.uploads import score_everything
from tests.web.reader import page, words_of
from tests.web.spoken import said

pytestmark = pytest.mark.full


def headings(shown: str) -> list[str]:
    """The groups and the titles below them, in their order."""
    found = re.findall(r"<h2[^>]*>(.*?)</h2>|<h3><a [^>]*>(.*?)</a>", shown)
    return [group or title for group, title in found]


def another(
    slug: str, title: str, *, opens: float, closes: float, more: str = "", over: bool = False
) -> None:
    """A competition of nobody who asks."""
    done = {"published_at": datetime.now(UTC)} if over else {}
    file = competition_file(slug, opens=opens, closes=closes, more=more).replace("Small cup", title)
    with transaction() as session:
        session.add(Competition(slug=slug, file=file, scales={}, original={}, **done))


def test_what_goes_on_stands_first_then_what_is_to_come_then_what_is_over(arena: Arena) -> None:
    another("later", "Later", opens=3, closes=4)
    another("soon", "Soon", opens=1, closes=4)
    another("ending", "Ending", opens=-3, closes=0.5)
    shown = page(arena, "/").text
    assert headings(shown) == ["Open now", "Ending", "Small cup", "Coming up", "Soon", "Later"]
    assert "Anonymization starts" in shown  # what the one to come waits for


def test_of_what_is_over_it_is_said_when_it_ended_the_last_first(arena: Arena) -> None:
    another("old", "Old", opens=-9, closes=-8, over=True)
    another("recent", "Recent", opens=-9, closes=-2, over=True)
    shown = page(arena, "/").text
    assert headings(shown)[-3:] == ["Past competitions", "Recent", "Old"]
    ended = re.findall(r"Ended <time datetime=\"([^\"]*)\"", shown)
    assert ended == sorted(ended, reverse=True)
    assert len(ended) == 2


def test_a_team_meets_its_own_competitions_first(arena: Arena) -> None:
    another("ending", "Ending", opens=-3, closes=0.5)
    shown = page(arena, "/", team="red").text
    assert headings(shown) == ["Your competitions", "Small cup", "Open now", "Ending"]
    assert "Your team: red" in shown
    assert said("You organize it") not in shown


def test_organizers_are_told_which_are_theirs_and_may_create_another(arena: Arena) -> None:
    shown = page(arena, "/", organizer=True).text
    assert headings(shown)[0] == "Your competitions"
    assert said("You organize it") in shown
    assert 'href="/organize/new"' in shown
    assert 'href="/organize/new"' not in page(arena, "/", team="red").text
    assert 'href="/organize/new"' not in page(arena, "/").text


def test_a_long_name_of_a_team_is_text(arena: Arena) -> None:
    name = '<i>"長い名前"</i>' * 5
    shown = page(arena, "/", team=name).text
    assert "<i>" not in shown
    assert "&lt;i&gt;" in shown


@pytest.mark.parametrize(
    ("setting", "seen_by"), [("public", {None, "red"}), ("teams", {"red"}), ("organizers", set())]
)
def test_teams_are_counted_for_those_to_whom_the_boards_are_open(
    client: TestClient, setting: str, seen_by: set[str | None]
) -> None:
    arena = Arena.opened(client, file=competition_file(more=f'[publication]\nboard = "{setting}"'))
    arena.team("red")
    arena.team("blue")
    for team in (None, "red"):
        assert ("2 teams" in page(arena, "/", team=team).text) == (team in seen_by)
    assert "2 teams" in page(arena, "/", organizer=True).text


def test_who_leads_the_first_that_has_begun_is_shown_with_the_way_to_their_page(arena: Arena) -> None:
    another("soon", "Soon", opens=1, closes=4)
    assert "podium" not in page(arena, "/").text
    arena.submit("red")
    score_everything()
    (row,) = arena.get(f"/competitions/{arena.slug}/boards/anonymization").json()["rows"]
    for reader in ({}, {"team": "blue"}, {"organizer": True}):
        shown = page(arena, "/", **reader).text
        assert f'href="/competitions/{arena.slug}/teams/{row["team_id"]}"' in shown
        assert f"Risk E 1 red {row['overall']:.4f}" in " ".join(words_of(shown))
    another("ending", "Ending", opens=-3, closes=0.5)
    assert "podium" not in page(arena, "/").text  # the first is another one, and nobody leads it
    assert "podium" in page(arena, "/", team="blue").text


@pytest.mark.parametrize(("setting", "seen_by"), [("teams", {"red"}), ("organizers", set())])
def test_leaders_are_shown_to_those_to_whom_the_boards_are_open(
    client: TestClient, setting: str, seen_by: set[str | None]
) -> None:
    arena = Arena.opened(client, file=competition_file(more=f'[publication]\nboard = "{setting}"'))
    arena.submit("red")
    score_everything()
    for team in (None, "red"):
        assert ("podium" in page(arena, "/", team=team).text) == (team in seen_by)
    assert "podium" in page(arena, "/", organizer=True).text


def test_a_frozen_board_says_so_to_those_for_whom_it_stands_still(client: TestClient) -> None:
    since = (datetime.now(UTC) + timedelta(seconds=-1)).isoformat()
    file = competition_file(opens=-2, more=f"[publication]\nfrozen_from = {since}")
    arena = Arena.opened(client, file=file)
    arena.submit("red")
    score_everything()
    assert "podium" not in page(arena, "/").text  # what came after stands on no board of a visitor's
    own = page(arena, "/", organizer=True).text
    assert "podium" in own
    assert said("as it stood on") not in own


def test_the_page_asks_the_database_as_often_however_many_competitions_there_are(arena: Arena) -> None:
    arena.team("red")
    few = queries(arena)
    for number in range(20):
        another(f"cup-{number}", f"Cup {number}", opens=-1, closes=number + 1)
    assert queries(arena) == few


def queries(arena: Arena) -> int:
    asked: list[str] = []
    arena.session(arena.team("red"))  # begun before anything is counted

    def count(connection: object, cursor: object, statement: str, *_: object) -> None:
        asked.append(statement)

    event.listen(get_engine(), "before_cursor_execute", count)
    try:
        assert page(arena, "/", team="red").status_code == 200
    finally:
        event.remove(get_engine(), "before_cursor_execute", count)
    return len(asked)


def test_the_front_page_is_whole_in_japanese(arena: Arena) -> None:
    shown = words_of(page(arena, "/", language="ja").text)
    for text in ("開催中", "小さな杯", "個票データ"):
        assert text in shown
