"""The contest of the documents' screenshots, with four of its teams."""

import pytest
from fastapi.testclient import TestClient

from tests.support import cup_2015
from tests.support.contest import load_round

pytestmark = pytest.mark.full


@pytest.mark.full
def test_cup_is_played_to_its_reveal(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    teams = (cup_2015.OUR_TEAM, *[team for team in cup_2015.TEAMS if team != cup_2015.OUR_TEAM][:3])
    monkeypatch.setattr(cup_2015, "TEAMS", teams)
    cup = cup_2015.PlayedCup.create(client)
    cup.play_attacks()
    cup.close_cup()
    row = load_round(cup_2015.SLUG)
    assert row.revealed_at is not None
    board = cup.contest.get_board()["rows"]
    assert {board_row["team"] for board_row in board} == set(teams)
    assert all(0 <= board_row["overall"] <= 1 for board_row in board)
    attackers = cup.contest.get_board("reidentification")["rows"]
    assert {board_row["team"] for board_row in attackers} == set(teams)
    assert sum(board_row["identified"] or 0 for board_row in attackers) > 0
    step_counts = {
        timeline["team"]: len(timeline["steps"]) for timeline in cup.contest.get_board("history")["teams"]
    }
    assert step_counts.keys() == set(teams)
    assert sum(step_counts.values()) > len(teams)
