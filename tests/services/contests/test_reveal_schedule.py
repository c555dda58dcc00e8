"""The reveal time equals that of a reference that tries every hour, on hostile histories."""

from datetime import UTC, datetime, timedelta
from random import Random

import pytest

from app.services.contests.reveal_schedule import DeadlineObservation, compute_reveal_time

START = datetime(2027, 1, 1, tzinfo=UTC)


def moment_at(hour: float) -> datetime:
    return START + timedelta(hours=hour)


def build_observation(
    observed_hour: float, end: float, *, notice: float = 24, free: bool = False
) -> DeadlineObservation:
    return DeadlineObservation(moment_at(end), timedelta(hours=notice), moment_at(observed_hour), free)


def is_foreseeable(moment: datetime, history: list[DeadlineObservation]) -> bool:
    """Return whether readers of all observed deadlines had to expect a reveal at ``moment``.

    They had to if some deadline was announced early enough and neither it nor any deadline observed since
    is after ``moment``.
    """
    for position, observation in enumerate(history):
        earlier = history[: position + 1]
        start = max((i for i, entry in enumerate(earlier) if entry.before_submissions), default=0)
        notice = max(entry.notice for entry in earlier[start:])
        known_since = (
            observation.observed_at if observation.before_submissions else observation.observed_at + notice
        )
        if known_since <= moment and all(
            later_observation.end <= moment for later_observation in history[position:]
        ):
            return True
    return False


def find_first_foreseeable_moment(end: datetime, history: list[DeadlineObservation]) -> datetime:
    """Return the first possible moment by trying every whole hour, since all moments here are whole hours."""
    return next(
        moment_at(hour)
        for hour in range(400)
        if moment_at(hour) >= end and is_foreseeable(moment_at(hour), history)
    )


@pytest.mark.parametrize("seed", range(40))
def test_secrets_are_revealed_at_the_first_foreseeable_moment(seed: int) -> None:
    rng = Random(seed)
    for _ in range(50):
        hours = sorted(rng.sample(range(100), rng.randint(1, 7)))
        free_count = rng.choice([0, 1, 1, 2, 3])
        history = [
            build_observation(
                hour, rng.randint(0, 150), notice=rng.choice([0, 1, 5, 24, 48]), free=position < free_count
            )
            for position, hour in enumerate(hours)
        ]
        end = moment_at(rng.randint(0, 150)) if rng.random() < 0.5 else history[-1].end
        shuffled_history = rng.sample(history, len(history))
        # The reader has seen the whole history, so a moment before its last entry means "at once".
        asked_at, revealed_at = history[-1].observed_at, compute_reveal_time(end, shuffled_history)
        assert revealed_at is not None
        assert max(asked_at, revealed_at) == max(asked_at, find_first_foreseeable_moment(end, history))


def test_nothing_is_revealed_without_an_observed_deadline() -> None:
    assert compute_reveal_time(moment_at(0), []) is None


@pytest.mark.parametrize(
    ("history", "end", "reveal"),
    [
        ([build_observation(0, 100, free=True)], 100, 100),
        # A later deadline counts at once, whether it has been observed or not.
        ([build_observation(0, 100, free=True), build_observation(99, 110)], 110, 110),
        ([build_observation(0, 100, free=True)], 110, 110),
        # An earlier deadline counts after the notice, and never reveals later than the previous one did.
        ([build_observation(0, 100, free=True), build_observation(50, 51)], 51, 74),
        ([build_observation(0, 100, free=True), build_observation(90, 91)], 91, 100),
        ([build_observation(0, 100, free=True), build_observation(50, 80)], 80, 80),
        # An earlier deadline that has not been observed yet has no effect.
        ([build_observation(0, 100, free=True)], 51, 100),
        # A phase that was extended and cut back to its former end counts as shortened.
        (
            [build_observation(0, 100, free=True), build_observation(20, 300), build_observation(99, 100)],
            100,
            123,
        ),
        # A notice period removed in the same change, or before it, still applies.
        ([build_observation(0, 100, free=True), build_observation(50, 51, notice=0)], 51, 74),
        (
            [
                build_observation(0, 100, free=True),
                build_observation(10, 100, notice=0),
                build_observation(50, 51, notice=0),
            ],
            51,
            74,
        ),
        # Before the first submission everything may be changed freely.
        (
            [
                build_observation(0, 100, free=True),
                build_observation(1, 10, notice=0, free=True),
                build_observation(2, 3, notice=0),
            ],
            3,
            3,
        ),
        # A contest with submissions before its first observed deadline waits for the notice.
        ([build_observation(50, 51)], 51, 74),
        ([build_observation(50, 90)], 90, 90),
        # Moving the deadline back and forth does not bring the reveal forward.
        (
            [
                build_observation(0, 100, free=True),
                build_observation(50, 51),
                build_observation(60, 99),
                build_observation(61, 62),
            ],
            62,
            85,
        ),
    ],
)
def test_reveal_times_of_worked_examples(
    history: list[DeadlineObservation], end: float, reveal: float
) -> None:
    assert compute_reveal_time(moment_at(end), history) == moment_at(reveal)


def test_reveal_time_is_computed_in_linear_time() -> None:
    """Linear time: an organizer who moves the deadline every second does not slow the clock down."""
    history = [build_observation(number / 3600, 1000 + number % 2) for number in range(20_000)]
    assert compute_reveal_time(moment_at(1000), history) == moment_at(1001)
