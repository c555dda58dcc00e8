"""A team's page shows the numbers of the boards, and exists only for teams on the board."""

import json
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select

from app.core.db.models import RecordedVerdict
from app.core.db.transaction import transaction
from tests.support.arena import ROWS, Arena
from tests.support.contest import Contest
from tests.support.database_rows import load_team_id
from tests.support.page_requests import get_page
from tests.support.rescores import apply_rescore, build_reweighted_file
from tests.support.standings import move_times_back
from tests.support.translations import translate
from tests.support.visitor_pages import extract_text

IMMEDIATE = '[publication]\nfeedback = "immediate"'


def read_team_page(contest: Contest, name: str, **viewer: Any) -> str:
    response = get_page(contest.arena, f"{contest.path}/teams/{load_team_id(name)}", **viewer)
    assert response.status_code == 200, response.text
    return response.text


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


def list_reasons(contest: Contest, **viewer: Any) -> list[str | None]:
    teams = contest.get_board("history", **viewer)["teams"]
    return [step["why"] for team in teams if team["team"] == "red" for step in team["steps"]]


@pytest.mark.full
def test_reasons_of_score_changes_follow_visibility(client: TestClient) -> None:
    contest = Contest.create(client, extra_toml=IMMEDIATE)
    red, _ = contest.submit("red"), contest.submit("blue")
    apply_rescore(contest, build_reweighted_file(contest))
    store_weak_attacks()
    contest.open_attacks()
    move_times_back(timedelta(seconds=10))
    contest.submit_correct_guess("blue", red, 30)
    expected: list[str | None] = ["release", "guesses"]
    viewers: list[dict[str, Any]] = [{"team": "red"}, {"organizer": True}, {}]
    for viewer in viewers:
        visible_reasons = expected if viewer else [None] * 2
        assert list_reasons(contest, **viewer) == visible_reasons
        html = read_team_page(contest, "red", **viewer)
        assert (translate("because_guesses") in html) == (visible_reasons == expected)
    contest.close_attacks()
    assert list_reasons(contest) == expected


def store_weak_attacks() -> None:
    """Store results in which every built-in attacker has identified 8 of 40 individuals."""
    with transaction() as session:
        for verdict in session.scalars(select(RecordedVerdict)):
            content = json.loads(json.dumps(verdict.content))
            for attacker in content["attackers"].values():
                attacker |= {"correct": 8, "rate": 8 / ROWS}
            verdict.content = content | {"security": 8 / ROWS}
