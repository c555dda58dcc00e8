"""The rank on a submission's page reveals no more than the board, when frozen and with rank sums."""

import pytest
from fastapi.testclient import TestClient

from anoncup.rules.toml_text import replace_tables
from tests.support.board_facts import create_contest, freeze_boards
from tests.support.contest import Contest
from tests.support.page_requests import get_page
from tests.support.rescores import apply_rescore, get_competition_file
from tests.support.translations import translate

pytestmark = pytest.mark.full


def read_submission_page(contest: Contest, submission: str, *, team: str = "red") -> str:
    return get_page(contest.arena, f"/submissions/{submission}", team=team).text


def test_later_submission_is_ranked_on_the_frozen_board(client: TestClient) -> None:
    contest = create_contest(client)
    frozen_id = contest.submit("red")
    contest.submit("blue")
    freeze_boards(contest)
    later_id = contest.submit("red")
    contest.submit("green")  # not on the frozen board
    for submission in (frozen_id, later_id):
        assert "The board is frozen" in read_submission_page(contest, submission)
    own = next(row for row in contest.get_board(team="red")["rows"] if row["own"])
    assert translate("Rank {rank} of {teams}.", rank=own["rank"], teams=2) in read_submission_page(
        contest, frozen_id
    )
    assert translate(
        "The board shows the team’s best submission: rank {rank}.", rank=own["rank"]
    ) in read_submission_page(contest, later_id)
    organizers = get_page(contest.arena, f"/submissions/{later_id}", organizer=True).text
    assert "The board is frozen" not in organizers
    equal_weights = "".join(f"[measures.{name}]\nweight = 1.0\n" for name in ("cross_count", "mean_mae"))
    text = replace_tables(get_competition_file(contest), "measures", equal_weights)
    apply_rescore(contest, replace_tables(text, "scales", ""))  # the frozen rows were scored by other rules
    assert translate("Rank and distance") not in read_submission_page(contest, later_id)
    assert translate("Rank {rank} of {teams}.", rank=own["rank"], teams=2) in read_submission_page(
        contest, frozen_id
    )


@pytest.mark.parametrize("rule", ["score", "rank_sum"])
def test_no_distance_to_the_next_rank_is_shown_with_rank_sums(client: TestClient, rule: str) -> None:
    contest = create_contest(client, rule=rule)
    submissions = {team: contest.submit(team) for team in ("red", "blue", "green")}
    rank_sum_note = translate(
        "Here the sum of the ranks in each measure and in risk decides, so the gap cannot be given as one number."
    )
    for team, submission in submissions.items():
        html = read_submission_page(contest, submission, team=team)
        assert (rank_sum_note in html) is (rule == "rank_sum")
        assert ('<ul class="gaps">' in html) is (rule == "score")
