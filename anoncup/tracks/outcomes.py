"""What an attack came to, whatever was asked: one number, and what it is held against."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from anoncup.messages import Message


@dataclass(frozen=True, slots=True)
class Outcome:
    """``value`` in [0, 1]: 1, the attacker knows all; 0 best for the anonymizer.

    ``baseline``: what blind guessing gets in expectation, and what E takes off; 0 where it takes nothing off.
    ``correct`` of ``trials``: counts, where there are any. ``interval``: of the value, where there is one.
    ``details``: further numbers by name.
    """

    value: float
    baseline: float = 0.0
    correct: int | float | None = None
    trials: int | None = None
    interval: tuple[float, float] | None = None
    details: Mapping[str, float] = field(default_factory=dict)

    @property
    def risk(self) -> float:
        """What E takes, in [0, 1]."""
        return beyond_chance(self.value, self.baseline)


def beyond_chance(value: float, chance: float) -> float:
    """max(0, (value - chance) / (1 - chance)), in [0, 1]; 0 where blind guessing knows all."""
    return max(0.0, (value - chance) / (1 - chance)) if chance < 1 else 0.0


NORMAL_95 = 1.959963984540054
"""97.5 % point of the normal distribution, for two-sided 95 % intervals."""


@dataclass(frozen=True, slots=True)
class Rate:
    """A re-identification rate in [0, 1], 0 best for the anonymizer.

    A guess vector's: ``correct`` is a count and ``interval`` Wilson's at 95 %. An expectation's: ``correct``
    is the expected count and ``sd`` the rate's standard deviation over the random choice. ``baseline``: the
    rate of blind guessing, 1/n. ``note``: what the attacker says about its answer. ``correct`` and
    ``trials``: None where nothing is counted. ``chance``: what E takes off, 0 where nothing
    is taken off. ``details``: further numbers by name. ``risks``: what E would take of each of several
    questions, of which this is the worst.
    """

    rate: float
    correct: int | float | None
    trials: int | None
    baseline: float
    interval: tuple[float, float] | None = None
    sd: float | None = None
    note: Message | None = None
    chance: float = 0.0
    details: Mapping[str, float] = field(default_factory=dict)
    risks: Mapping[str, float] = field(default_factory=dict)

    @property
    def risk(self) -> float:
        """What E takes, in [0, 1]."""
        return beyond_chance(self.rate, self.chance)


def rate_of_outcome(found: Outcome) -> Rate:
    """What a guess came to, as the rate of whoever made it."""
    return Rate(
        found.value,
        found.correct,
        found.trials,
        found.baseline,
        found.interval,
        chance=found.baseline,
        details=found.details,
    )


def wilson(correct: float, trials: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a proportion; of no trials, [0, 1]."""
    if trials == 0:
        return (0.0, 1.0)
    share, weight = correct / trials, NORMAL_95**2 / trials
    centre = (share + weight / 2) / (1 + weight)
    half = math.sqrt(share * (1 - share) * weight + weight**2 / 4) / (1 + weight)
    low = 0.0 if correct == 0 else max(centre - half, 0.0)
    high = 1.0 if correct == trials else min(centre + half, 1.0)
    return (low, high)
