"""The replay page without scripts."""

import pytest
from fastapi.testclient import TestClient

from tests.support import large_contest
from tests.support.arena import Arena
from tests.support.contest import Contest
from tests.support.large_contest import ContestSize
from tests.support.page_requests import get_page
from tests.support.translations import translate
from tests.support.visitor_pages import parse_body

pytestmark = pytest.mark.full


def test_without_scripts_the_page_has_a_picture_of_each_lead(contest: Contest) -> None:
    large_contest.fill(contest, ContestSize(teams=12, submissions_per_team=4, targets=0))
    html = get_page(contest.arena, f"{contest.path}/boards/replay", team="the first").text
    noscript_html = html.partition("<noscript>")[2].partition("</noscript>")[0]
    assert (
        translate("The replay needs JavaScript. Without it, the picture and the table show who led and when.")
        in noscript_html
    )
    assert noscript_html.count('role="img"') == len(parse_body(html, 'aria-labelledby="leads"')) > 1


def test_closed_or_empty_replay_says_so(client: TestClient) -> None:
    arena = Arena.create(client, extra_toml='[publication]\nboard = "teams"')
    closed = get_page(arena, "/competitions/small/boards/replay").text
    assert translate("Only the teams of the competition see this board.") in closed
    assert "data-history" not in closed
    empty = get_page(arena, "/competitions/small/boards/replay", team="red").text
    assert translate("No submission has been scored yet: there is nothing to replay.") in empty
