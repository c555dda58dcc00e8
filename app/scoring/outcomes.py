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
        """What E takes: max(0, (value - baseline) / (1 - baseline)), in [0, 1]."""
        if self.baseline >= 1:
            return 0.0
        return max(0.0, (self.value - self.baseline) / (1 - self.baseline))
