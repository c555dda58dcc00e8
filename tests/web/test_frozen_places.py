"""Ranks on a submission's page while the board is frozen, and by sums of ranks: only what the board shows."""

import pytest
from fastapi.testclient import TestClient

from anoncup.rules.toml_text import with_tables
from tests.support.contest import Contest
from tests.support.frozen_boards import freeze, opened
from tests.support.rejudgings import applied, file_of
from tests.web.reader import page
from tests.web.spoken import said

pytestmark = pytest.mark.full


def shown(contest: Contest, submission: str, *, team: str = "red") -> str:
    return page(contest.arena, f"/submissions/{submission}", team=team).text


def test_on_a_frozen_board_a_later_one_is_supposed_among_what_stood_then(client: TestClient) -> None:
    contest = opened(client)
    early = contest.submit("red")
    contest.submit("blue")
    freeze(contest)
    late = contest.submit("red")
    contest.submit("green")  # of whom the frozen board says nothing
    for submission in (early, late):
        assert "The board is frozen" in shown(contest, submission)
    own = next(row for row in contest.board(team="red")["rows"] if row["own"])
    assert said("Rank {rank} of {teams}.", rank=own["rank"], teams=2) in shown(contest, early)
    assert said("The board shows the team’s best submission: rank {rank}.", rank=own["rank"]) in shown(
        contest, late
    )
    organizers = page(contest.arena, f"/submissions/{late}", organizer=True).text
    assert "The board is frozen" not in organizers
    even = "".join(f"[measures.{name}]\nweight = 1.0\n" for name in ("cross_count", "mean_mae"))
    text = with_tables(file_of(contest), "measures", even)
    applied(contest, with_tables(text, "scales", ""))  # what stood then was scored by other rules
    assert said("Rank and distance") not in shown(contest, late)
    assert said("Rank {rank} of {teams}.", rank=own["rank"], teams=2) in shown(contest, early)


@pytest.mark.parametrize("rule", ["score", "rank_sum"])
def test_where_sums_of_ranks_decide_no_distance_is_told(client: TestClient, rule: str) -> None:
    contest = opened(client, rule=rule)
    sent = {team: contest.submit(team) for team in ("red", "blue", "green")}
    by_sum = said(
        "Here the sum of the ranks in each measure and in risk decides, so the gap cannot be given as one number."
    )
    for team, submission in sent.items():
        found = shown(contest, submission, team=team)
        assert (by_sum in found) is (rule == "rank_sum")
        assert ('<ul class="gaps">' in found) is (rule == "score")
