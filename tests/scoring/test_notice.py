"""When secrets may be revealed: the rule against another that tries every moment, on hostile histories."""

from datetime import UTC, datetime, timedelta
from random import Random

import pytest

from app.services.contests.reveal_schedule import Witness, reveal_time

START = datetime(2027, 1, 1, tzinfo=UTC)


def at(hour: float) -> datetime:
    return START + timedelta(hours=hour)


def seen(hour: float, end: float, *, notice: float = 24, free: bool = False) -> Witness:
    return Witness(at(end), timedelta(hours=notice), at(hour), free)


def could_be_known(moment: datetime, history: list[Witness]) -> bool:
    """Whether readers of every witnessed end had to expect a reveal at ``moment``: one of them was no later,
    was told of early enough, and none that was told of since, itself included, is later."""
    for place, one in enumerate(history):
        earlier = history[: place + 1]
        begun = max((i for i, each in enumerate(earlier) if each.free), default=0)
        notice = max(each.notice for each in earlier[begun:])
        told_of = one.at if one.free else one.at + notice
        if told_of <= moment and all(later.end <= moment for later in history[place:]):
            return True
    return False


def first_moment(end: datetime, history: list[Witness]) -> datetime:
    """By trying every whole hour: all moments below are whole hours."""
    return next(at(hour) for hour in range(400) if at(hour) >= end and could_be_known(at(hour), history))


@pytest.mark.parametrize("seed", range(40))
def test_the_rule_reveals_at_the_first_moment_that_could_be_known(seed: int) -> None:
    rng = Random(seed)
    for _ in range(50):
        hours = sorted(rng.sample(range(100), rng.randint(1, 7)))
        freed = rng.choice([0, 1, 1, 2, 3])
        history = [
            seen(hour, rng.randint(0, 150), notice=rng.choice([0, 1, 5, 24, 48]), free=place < freed)
            for place, hour in enumerate(hours)
        ]
        end = at(rng.randint(0, 150)) if rng.random() < 0.5 else history[-1].end
        shuffled = rng.sample(history, len(history))
        # Asked by somebody who has seen all of it: what lies before means at once.
        asked, found = history[-1].at, reveal_time(end, shuffled)
        assert found is not None
        assert max(asked, found) == max(asked, first_moment(end, history))


def test_without_a_witness_there_is_no_reveal() -> None:
    assert reveal_time(at(0), []) is None


@pytest.mark.parametrize(
    ("history", "end", "reveal"),
    [
        ([seen(0, 100, free=True)], 100, 100),
        # Later: at once, whether witnessed yet or not.
        ([seen(0, 100, free=True), seen(99, 110)], 110, 110),
        ([seen(0, 100, free=True)], 110, 110),
        # Nearer: after the notice, and never later than what was said before.
        ([seen(0, 100, free=True), seen(50, 51)], 51, 74),
        ([seen(0, 100, free=True), seen(90, 91)], 91, 100),
        ([seen(0, 100, free=True), seen(50, 80)], 80, 80),
        # Not witnessed yet: as if it had not been moved.
        ([seen(0, 100, free=True)], 51, 100),
        # A longer phase cut back to what it once was is one that moves nearer.
        ([seen(0, 100, free=True), seen(20, 300), seen(99, 100)], 100, 123),
        # Notice that was taken away in the same act, or before, still runs.
        ([seen(0, 100, free=True), seen(50, 51, notice=0)], 51, 74),
        ([seen(0, 100, free=True), seen(10, 100, notice=0), seen(50, 51, notice=0)], 51, 74),
        # While there was nothing to reveal everything could be changed.
        ([seen(0, 100, free=True), seen(1, 10, notice=0, free=True), seen(2, 3, notice=0)], 3, 3),
        # A contest that was there before its end was first witnessed waits for its notice.
        ([seen(50, 51)], 51, 74),
        ([seen(50, 90)], 90, 90),
        # Moving it to and fro gains nothing.
        ([seen(0, 100, free=True), seen(50, 51), seen(60, 99), seen(61, 62)], 62, 85),
    ],
)
def test_worked_examples(history: list[Witness], end: float, reveal: float) -> None:
    assert reveal_time(at(end), history) == at(reveal)


def test_a_thousand_changes_are_looked_at_once() -> None:
    """Linear: who moves the end each second makes the clock no slower."""
    history = [seen(number / 3600, 1000 + number % 2) for number in range(20_000)]
    assert reveal_time(at(1000), history) == at(1001)
