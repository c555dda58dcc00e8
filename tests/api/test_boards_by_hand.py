"""All three boards, for everybody, at every stage of contests drawn at random, computed a second time."""

from datetime import timedelta

import pytest
from fastapi.testclient import TestClient

from app.services.boards import verdicts
from app.services.contests.contest import parsed
from tests.support.application import application
from tests.support.board_facts import hours
from tests.support.random_contests import COMBINATIONS, Drawn, nothing_written_down

__all__ = ["nothing_written_down"]

LEASE = timedelta(minutes=5)


def play(client: TestClient, seed: int, *, rule: str, feedback: str) -> None:
    drawn = Drawn(client, seed, rule=rule, feedback=feedback)
    drawn.check()
    for _ in range(int(drawn.rng.integers(6, 11))):
        drawn.submit()
    if seed % 2:
        drawn.bar(sent=drawn.pick(drawn.facts.sent))
    drawn.check()
    if seed % 3:
        drawn.rescore(drawn.now - hours(55))
        drawn.check()
    drawn.publish()
    drawn.check()
    drawn.open_attacks()
    for _ in range(9):
        drawn.guess()
    if seed % 5:
        drawn.rescore(drawn.now - hours(10))
    before = drawn.check()
    victim = drawn.pick(drawn.facts.sent)
    drawn.bar(team=victim.team)
    other = next((sent for sent in drawn.facts.sent if sent.target and not sent.barred), None)
    if other is not None:
        drawn.bar(sent=other)
    drawn.check()
    drawn.bar(team=victim.team, out=False)
    if other is not None:
        drawn.bar(sent=other, out=False)
    assert drawn.check() == before
    drawn.bar(team=drawn.pick(drawn.facts.teams))
    drawn.close()
    after = drawn.check()
    parsed.cache_clear()
    verdicts.kept.clear()
    with TestClient(application(), base_url="http://localhost") as again:
        assert drawn.check(again) == after


@pytest.mark.parametrize(
    ("seed", "rule", "feedback"),
    [
        (6, "rank_sum", "immediate"),
        pytest.param(1, "score", "hidden", marks=pytest.mark.full),
        pytest.param(2, "score", "daily", marks=pytest.mark.full),
    ],
)
def test_the_boards_are_what_plain_counting_says(
    client: TestClient, seed: int, rule: str, feedback: str
) -> None:
    play(client, seed, rule=rule, feedback=feedback)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(10, 34))
def test_the_boards_are_what_plain_counting_says_of_many_contests(client: TestClient, seed: int) -> None:
    rule, feedback = COMBINATIONS[seed // 4 % len(COMBINATIONS)]
    play(client, seed, rule=rule, feedback=feedback)
