"""What the board pages say beside their numbers, to every reader at every stage."""

import re
from datetime import UTC, datetime, timedelta
from html import unescape

import pytest
from fastapi.testclient import TestClient

from app.core.pages import notation
from tests.support.arena import Arena
from tests.support.contest import Contest
from tests.support.translations import translate
from tests.support.uploads import score_everything
from tests.support.visitor_pages import (
    extract_text,
    get_board_page,
    parse_ranking,
)

pytestmark = pytest.mark.full

COLUMN_GROUPS = ("in_utility", "in_security", "measures_only", "attackers_only")
BOARDS = ("anonymization", "reidentification", "matrix")
TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d[\d:.+]*")


CLOSED_BOARD_NOTES = {
    "teams": "Only the teams of the competition see this board.",
    "organizers": "Only the organizers see this board for now. Your own results are on your submissions page.",
}


@pytest.mark.parametrize("setting", CLOSED_BOARD_NOTES)
@pytest.mark.parametrize("board_name", BOARDS)
def test_closed_board_only_says_who_may_see_it(client: TestClient, setting: str, board_name: str) -> None:
    arena = Arena.create(client, extra_toml=f'[publication]\nboard = "{setting}"')
    arena.submit("redteam")
    arena.submit("blueteam")
    score_everything()
    visitor = get_board_page(arena, board_name)
    assert translate(CLOSED_BOARD_NOTES[setting]) in unescape(visitor)
    assert "redteam" not in visitor
    assert f"boards/{board_name}.csv" not in visitor
    assert (f"/sign-in?to=/competitions/small/boards/{board_name}" in visitor.partition("<main")[2]) == (
        setting == "teams"
    )
    own = get_board_page(arena, board_name, team="redteam")
    assert (f"boards/{board_name}.csv" in own) == (setting == "teams")
    if board_name == "anonymization":
        assert ("blueteam" in own) == (setting == "teams")
        assert "blueteam" in get_board_page(arena, board_name, organizer=True)


def mask_times(html: str) -> str:
    """Return the page with every time replaced."""
    return TIMESTAMP.sub("…", html)


def test_frozen_board_is_announced_and_changes_only_for_organizers(client: TestClient) -> None:
    ahead, past = (datetime.now(UTC) + timedelta(hours=hours) for hours in (5, -1))
    publication = "[publication]\nfrozen_from = {}".format
    html = get_board_page(Arena.create(client, slug="ahead", extra_toml=publication(ahead.isoformat())))
    assert translate("freeze_ahead") in html
    assert notation.format_clock_time(ahead, "Asia/Tokyo") in html
    contest = Contest.create(client, extra_toml=publication(past.isoformat()))
    html_before = mask_times(get_board_page(contest.arena, team="red"))
    contest.submit("blue")
    assert mask_times(get_board_page(contest.arena, team="red")) == html_before
    assert translate("Frozen until the end of the competition. This is the board as of") in html_before
    assert "data-live" not in html_before
    organizers = get_board_page(contest.arena, organizer=True)
    assert translate("freeze_others") in organizers
    assert parse_ranking(organizers)[0][1] == "blue"


def read_columns(html: str) -> list[str]:
    """Return the measures and attackers in the order of the table, read from their links to the rules."""
    return re.findall(r'/rules#(\w+)"', html.partition('<table class="ranks')[2].partition("</thead>")[0])


def test_weighted_measures_and_counted_attackers_are_grouped(client: TestClient) -> None:
    arena = Arena.create(client, extra_toml="[attackers.euc1]\ncounts = false")
    arena.submit("red")
    score_everything()
    html = get_board_page(arena, query="?columns=all", organizer=True)
    head = extract_text(html.partition('<table class="ranks')[2].partition("</thead>")[0])
    order = [head.index(translate(f"columns_{name}")) for name in COLUMN_GROUPS]
    assert order == sorted(order)
    columns = read_columns(html)
    assert columns[:3] == ["mean_mae", "cross_count", "information_loss"]
    assert columns[-1] == "euc1"
    assert head.count(f"{translate('weight')} 2") == 1
    bold = set(re.findall(r"<td[^>]*><b>(.*?)</b>", html))
    board = arena.get("/competitions/small/boards/anonymization").json()
    assert bold == {notation.format_score(board["rows"][0]["security"])}
