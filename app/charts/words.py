"""What the words of all charts have: how a language writes numbers."""

from collections.abc import Callable
from dataclasses import dataclass

from app.charts.axes import number


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartWords:
    """``signs``: puts those of a language into a number that is written as in English."""

    signs: Callable[[str], str] = str

    def number(self, value: float | None) -> str:
        return self.signs(number(value))
