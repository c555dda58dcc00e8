"""Outcomes of attacks on any question: a value, its baseline and its uncertainty."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from anoncup.messages import Message


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of a guess. ``value`` in [0, 1]: 1 if the attacker knows all; 0 is best for the anonymizer.

    ``baseline``: expected value of blind guessing, which E is adjusted for; 0 for no adjustment. ``correct``
    of ``trials``: counts, if there are any. ``interval``: confidence interval of the value, if known.
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
        """The contribution to E, in [0, 1]."""
        return adjust_for_chance(self.value, self.baseline)


def adjust_for_chance(value: float, chance: float) -> float:
    """Return max(0, (value - chance) / (1 - chance)), in [0, 1]; 0 if blind guessing is always right."""
    return max(0.0, (value - chance) / (1 - chance)) if chance < 1 else 0.0


NORMAL_95 = 1.959963984540054
"""97.5 % point of the normal distribution, for two-sided 95 % intervals."""


@dataclass(frozen=True, slots=True)
class Rate:
    """A re-identification rate in [0, 1], 0 best for the anonymizer.

    For a guess vector, ``correct`` is a count and ``interval`` Wilson's 95 % interval. For an expectation,
    ``correct`` is the expected count and ``sd`` the standard deviation of the rate over the random choice.
    ``correct`` and ``trials`` are None where nothing is counted. ``baseline``: rate of blind guessing, 1/n.
    ``chance``: the value that E is adjusted for, 0 for no adjustment. ``note``: message of the attacker.
    ``details``: further numbers by name. ``risks``: contributions to E of several questions, of which this
    rate is the worst.
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
        """The contribution to E, in [0, 1]."""
        return adjust_for_chance(self.rate, self.chance)


def outcome_to_rate(outcome: Outcome) -> Rate:
    """Convert the outcome of a guess to a rate."""
    return Rate(
        outcome.value,
        outcome.correct,
        outcome.trials,
        outcome.baseline,
        outcome.interval,
        chance=outcome.baseline,
        details=outcome.details,
    )


def wilson_interval(correct: float, trials: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a proportion; [0, 1] without trials."""
    if trials == 0:
        return (0.0, 1.0)
    share, weight = correct / trials, NORMAL_95**2 / trials
    centre = (share + weight / 2) / (1 + weight)
    half = math.sqrt(share * (1 - share) * weight + weight**2 / 4) / (1 + weight)
    low = 0.0 if correct == 0 else max(centre - half, 0.0)
    high = 1.0 if correct == trials else min(centre + half, 1.0)
    return (low, high)
