"""The contest that the pictures of the documents are taken of, with few of its teams."""

import pytest
from fastapi.testclient import TestClient

from tests.support import cup_2015
from tests.support.contest import competition_row

pytestmark = pytest.mark.full


@pytest.mark.full
def test_it_is_played_to_its_reveal_with_a_course_of_every_team_and_individuals_found(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = (cup_2015.OURS, *[team for team in cup_2015.TEAMS if team != cup_2015.OURS][:3])
    monkeypatch.setattr(cup_2015, "TEAMS", few)
    played = cup_2015.Cup.opened(client)
    played.attack()
    played.close()
    row = competition_row(cup_2015.SLUG)
    assert row.revealed_at is not None
    board = played.contest.board()["rows"]
    assert {one["team"] for one in board} == set(few)
    assert all(0 <= one["overall"] <= 1 for one in board)
    attackers = played.contest.board("reidentification")["rows"]
    assert {one["team"] for one in attackers} == set(few)
    assert sum(one["identified"] or 0 for one in attackers) > 0
    told = {each["team"]: len(each["steps"]) for each in played.contest.board("history")["teams"]}
    assert told.keys() == set(few)
    assert sum(told.values()) > len(few)
