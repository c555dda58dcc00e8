"""How a team did it: told by it, hidden until the close, taken away by organizers."""

from typing import Any

import pytest
from fastapi.testclient import TestClient

from app.services.teams import members
from tests.support.arena import Arena
from tests.support.contest import Contest
from tests.web.reader import page, send

pytestmark = pytest.mark.full

TOLD = "1. Noise\r\n2. <b>swaps</b>"
SHOWN = "1. Noise\n2. &lt;b&gt;swaps&lt;/b&gt;"


def team_page(arena: Arena, **reader: Any) -> str:
    row = arena.board()["rows"][0]
    shown = page(arena, f"/competitions/{arena.slug}/teams/{row['team_id']}", **reader)
    assert shown.status_code == 200
    return shown.text


def test_it_is_read_by_others_only_after_the_close_and_until_it_is_taken_away(client: TestClient) -> None:
    contest = Contest.opened(client)
    arena, path = contest.arena, contest.arena.slug
    contest.submit("red")
    told = send(arena, f"/competitions/{path}/team/approach", {"approach": TOLD}, team="red")
    assert told.status_code == 303
    assert arena.get(f"/competitions/{path}/team", token=arena.team("red")).json()[
        "approach"
    ] == TOLD.replace("\r", "")
    for stage in (contest.attack, contest.close):
        assert SHOWN not in team_page(arena)
        assert SHOWN not in team_page(arena, team="blue")
        stage()
    assert SHOWN in team_page(arena)
    team_id = arena.board()["rows"][0]["team_id"]
    desk = f"/competitions/{path}/organize/teams/{team_id}"
    assert SHOWN in page(arena, desk, organizer=True).text
    assert send(arena, f"{desk}/approach", organizer=True).status_code == 303
    assert SHOWN not in team_page(arena)
    last = arena.get(f"/competitions/{path}/audit").json()[0]
    assert (last["action"], last["before"]) == ("team.silence", {"approach": TOLD.replace("\r", "")})


@pytest.mark.parametrize("text", ["x" * (members.LONGEST_APPROACH + 1), "a\x00b"])
def test_what_no_page_can_show_is_refused_and_stays_in_the_form(arena: Arena, text: str) -> None:
    path = f"/competitions/{arena.slug}/team/approach"
    refused = send(arena, path, {"approach": text}, team="red")
    assert refused.status_code == 422
    assert 'role="alert"' in refused.text
    assert arena.get(f"/competitions/{arena.slug}/team", token=arena.team("red")).json()["approach"] is None


def test_an_empty_text_takes_it_back(arena: Arena) -> None:
    path = f"/competitions/{arena.slug}/team/approach"
    for text, kept in (("Noise.", "Noise."), (" \n ", None)):
        answer = arena.put(path, token=arena.team("red"), json={"approach": text})
        assert answer.json()["approach"] == kept
