"""All three boards of random contests, for every audience and stage, compared with recomputed boards."""

import pytest
from fastapi.testclient import TestClient

from anoncup.competition.parser import read_file
from tests.support.application import build_application
from tests.support.board_facts import make_hours
from tests.support.random_contests import COMBINATIONS, RandomContest, unrecorded_versions

__all__ = ["unrecorded_versions"]


def play(client: TestClient, seed: int, *, rule: str, feedback: str) -> None:
    contest = RandomContest(client, seed, rule=rule, feedback=feedback)
    contest.check_boards()
    for _ in range(int(contest.rng.integers(6, 11))):
        contest.submit()
    if seed % 2:
        contest.set_disqualified(submission=contest.pick(contest.facts.submissions))
    contest.check_boards()
    if seed % 3:
        contest.rescore(contest.now - make_hours(55))
        contest.check_boards()
    contest.publish()
    contest.check_boards()
    contest.open_attacks()
    for _ in range(9):
        contest.submit_guess()
    if seed % 5:
        contest.rescore(contest.now - make_hours(10))
    boards_before = contest.check_boards()
    contest.check_histories()
    victim = contest.pick(contest.facts.submissions)
    contest.set_disqualified(team=victim.team)
    target_submission = next(
        (
            submission
            for submission in contest.facts.submissions
            if submission.target_name and not submission.is_disqualified
        ),
        None,
    )
    if target_submission is not None:
        contest.set_disqualified(submission=target_submission)
    contest.check_boards()
    contest.set_disqualified(team=victim.team, is_disqualified=False)
    if target_submission is not None:
        contest.set_disqualified(submission=target_submission, is_disqualified=False)
    assert contest.check_boards() == boards_before
    contest.set_disqualified(team=contest.pick(contest.facts.teams))
    contest.close()
    boards_after = contest.check_boards()
    contest.check_histories()
    read_file.cache_clear()
    with TestClient(build_application(), base_url="http://localhost") as second_client:
        assert contest.check_boards(second_client) == boards_after


@pytest.mark.parametrize(
    ("seed", "rule", "feedback"),
    [
        (6, "rank_sum", "immediate"),
        pytest.param(7, "formula", "daily", marks=pytest.mark.full),
        pytest.param(1, "score", "hidden", marks=pytest.mark.full),
        pytest.param(2, "score", "daily", marks=pytest.mark.full),
    ],
)
def test_boards_match_a_plain_recount(client: TestClient, seed: int, rule: str, feedback: str) -> None:
    play(client, seed, rule=rule, feedback=feedback)


@pytest.mark.full
@pytest.mark.parametrize("seed", [11, 12, 17, 25, 34])  # each of the other combinations
def test_boards_of_many_contests_match_a_plain_recount(client: TestClient, seed: int) -> None:
    rule, feedback = COMBINATIONS[seed // 4 % len(COMBINATIONS)]
    play(client, seed, rule=rule, feedback=feedback)
