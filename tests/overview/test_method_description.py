"""Method descriptions of teams: hidden until the close, and removable by organizers."""

from typing import Any

import pytest

from tests.support.arena import Arena
from tests.support.contest import Contest
from tests.support.page_requests import get_page, post_form, send_form

pytestmark = pytest.mark.full

DESCRIPTION = "1. Noise\r\n2. <b>swaps</b>"
DESCRIPTION_HTML = "1. Noise\n2. &lt;b&gt;swaps&lt;/b&gt;"


def read_team_page(arena: Arena, **viewer: Any) -> str:
    row = arena.get_board()["rows"][0]
    response = get_page(arena, f"/competitions/{arena.slug}/teams/{row['team_id']}", **viewer)
    assert response.status_code == 200
    return response.text


def test_method_description_is_public_from_the_close_until_removal(contest: Contest) -> None:
    arena, path, stored = contest.arena, contest.path, DESCRIPTION.replace("\r", "")
    contest.submit("red")
    response = post_form(arena, f"{path}/team/method", {"method_description": DESCRIPTION}, team="red")
    assert response.status_code == 303
    assert arena.get(f"{path}/team", team="red").json()["method_description"] == stored
    for stage in (contest.open_attacks, contest.close_attacks):
        assert DESCRIPTION_HTML not in read_team_page(arena)
        assert DESCRIPTION_HTML not in read_team_page(arena, team="blue")
        stage()
    assert DESCRIPTION_HTML in read_team_page(arena)
    organizer_page = f"{path}/organize/teams/{arena.get_board()['rows'][0]['team_id']}"
    assert DESCRIPTION_HTML in get_page(arena, organizer_page, organizer=True).text
    send_form(arena, f"{organizer_page}/method", organizer=True)
    assert DESCRIPTION_HTML not in read_team_page(arena)
    entry = arena.get(f"{path}/audit").json()[0]
    assert (entry["action"], entry["before"]) == ("team.silence", {"method_description": stored})
