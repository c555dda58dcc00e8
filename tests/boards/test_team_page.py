"""A team's page shows the numbers of the boards, and exists only for teams on the board."""

from uuid import uuid4

import pytest
from fastapi.testclient import TestClient

from tests.support.arena import Arena
from tests.support.contest import Contest
from tests.support.database_rows import load_team_id
from tests.support.page_requests import get_page
from tests.support.visitor_pages import extract_text


@pytest.mark.full
def test_team_without_a_board_row_has_no_page(client: TestClient) -> None:
    contest = Contest.create(client)
    contest.submit("red")
    idle = contest.arena.get_team_token("idle")
    assert idle
    identifier = load_team_id("red")
    unknown = get_page(contest.arena, f"{contest.path}/teams/{uuid4()}")
    for name in ("idle", "red"):
        if name == "red":
            contest.post_as_organizer(f"{contest.path}/teams/{identifier}/disqualify")
        response = get_page(contest.arena, f"{contest.path}/teams/{load_team_id(name)}")
        assert response.status_code == unknown.status_code == 404
        assert read_main_text(response.text) == read_main_text(unknown.text)
    other_contest = Contest.create(client, slug="other")
    other_contest.submit("elsewhere")
    assert get_page(contest.arena, f"{contest.path}/teams/{load_team_id('elsewhere')}").status_code == 404


def read_main_text(html: str) -> str:
    return extract_text(html.partition("<main")[2])


def test_closed_board_has_no_team_pages(client: TestClient) -> None:
    arena = Arena.create(client, extra_toml='[publication]\nboard = "organizers"')
    arena.submit("red")
    for identifier in (load_team_id("red"), uuid4()):
        response = get_page(arena, f"/competitions/small/teams/{identifier}")
        assert response.status_code == 403
        assert "red" not in read_main_text(response.text)
