"""Outcomes of guesses on any question: a value, its baseline and its uncertainty."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from anoncup.messages import Message


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of a guess, and the rate of a built-in attacker.

    - ``value``: in [0, 1]; 1 if the attacker knows everything, 0 is best for the anonymizer.
    - ``baseline``: the expected value of blind guessing, which E is adjusted for; 0 for no adjustment.
    - ``correct`` and ``trials``: counts of individuals or rows, if there are any. For a guess at random,
      ``correct`` is an expected number.
    - ``interval``: a 95 % confidence interval of the value, if known.
    - ``details``: further numbers by name.
    - ``sd``: for a guess at random, the standard deviation of the value over the random choice.
    - ``shown_baseline``: what results and pages show as the baseline, if E is not adjusted for it.
    - ``note``: a message of a built-in attacker.
    """

    value: float
    baseline: float = 0.0
    correct: int | float | None = None
    trials: int | None = None
    interval: tuple[float, float] | None = None
    details: Mapping[str, float] = field(default_factory=dict)
    sd: float | None = None
    shown_baseline: float | None = None
    note: Message | None = None

    @property
    def risk(self) -> float:
        """The contribution to E: max(0, (value - baseline) / (1 - baseline)); 0 if the baseline is 1."""
        return max(0.0, (self.value - self.baseline) / (1 - self.baseline)) if self.baseline < 1 else 0.0


NORMAL_QUANTILE_975 = 1.959963984540054
"""97.5 % point of the normal distribution, for two-sided 95 % intervals."""


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
