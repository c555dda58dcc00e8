"""What an attack came to, whatever was asked: one number, and what it is held against."""

from collections.abc import Mapping
from dataclasses import dataclass, field


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
