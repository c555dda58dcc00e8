"""Outcomes of attacks on any question: a value, its baseline and its uncertainty."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from anoncup.messages import Message


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of a guess.

    ``value`` is in [0, 1]: 1 if the attacker knows everything; 0 is best for the anonymizer. ``baseline`` is
    the expected value of blind guessing, which E is adjusted for; 0 means no adjustment. ``correct`` of
    ``trials`` are counts, if there are any. ``interval`` is a confidence interval of the value, if known.
    ``details`` are further numbers by name.
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
    """Return max(0, (value - chance) / (1 - chance)), in [0, 1], or 0 if blind guessing is always right."""
    return max(0.0, (value - chance) / (1 - chance)) if chance < 1 else 0.0


NORMAL_QUANTILE_975 = 1.959963984540054
"""97.5 % point of the normal distribution, for two-sided 95 % intervals."""


@dataclass(frozen=True, slots=True)
class Rate:
    """A re-identification rate in [0, 1], 0 best for the anonymizer.

    For a guess vector, ``correct`` is a count and ``interval`` Wilson's 95 % interval. For an expectation,
    ``correct`` is the expected count and ``sd`` the standard deviation of the rate over the random choice.
    ``correct`` and ``trials`` are None if nothing is counted. ``baseline`` is the rate of blind guessing,
    1/n. ``chance`` is the value that E is adjusted for; 0 means no adjustment. ``note`` is a message of the
    attacker. ``details`` are further numbers by name. ``risks`` are the contributions to E by question, if
    the attacker answers several; this rate is then the worst of them.
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


def convert_to_rate(outcome: Outcome) -> Rate:
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
    share, weight = correct / trials, NORMAL_QUANTILE_975**2 / trials
    centre = (share + weight / 2) / (1 + weight)
    half_width = math.sqrt(share * (1 - share) * weight + weight**2 / 4) / (1 + weight)
    low = 0.0 if correct == 0 else max(centre - half_width, 0.0)
    high = 1.0 if correct == trials else min(centre + half_width, 1.0)
    return (low, high)
