"""Axes of numbers: value ranges, round ticks and their labels."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from app.charts.numbers import format_power, keep_finite, replace_minus

_RELATIVE_TOLERANCE = 1e-9
"""Numbers with a smaller relative difference are considered equal up to rounding."""
_TICK_DECIMAL_RANGE = (1e-4, 1e9)
"""Ticks from the first to below the second are written without a power of ten."""


@dataclass(frozen=True, slots=True)
class Axis:
    """The values from ``low`` to ``high``, with round ticks and their labels."""

    low: float
    high: float
    ticks: tuple[float, ...]
    labels: tuple[str, ...]

    def fraction(self, value: float) -> float:
        """Return the position of a value between 0 (low end) and 1 (high end), clamped to this range."""
        return min(max((value - self.low) / (self.high - self.low), 0.0), 1.0)


def build_axis(
    values: Iterable[float | None],
    *,
    max_steps: int = 6,
    from_zero: bool = False,
    is_integer: bool = False,
    non_negative: bool = False,
    localize: Callable[[str], str] = str,
) -> Axis:
    """Return an axis between two round numbers that covers all values in about ``max_steps`` steps or fewer.

    With ``from_zero`` the axis includes 0 even if all values are far from it. With ``is_integer`` the values
    are counts, so all ticks are integers. With ``non_negative`` negative values, which can only come from
    rounding, are drawn as 0. ``localize`` converts a number from English notation, for the labels.
    """
    numbers = keep_finite(values)
    low, high = _find_range(
        [max(number, 0.0) for number in numbers] if non_negative else numbers, from_zero=from_zero
    )
    step = choose_step(high - low, max_steps, is_integer=is_integer)
    first, last = math.floor(low / step + _RELATIVE_TOLERANCE), math.ceil(high / step - _RELATIVE_TOLERANCE)
    ticks = tuple(round_to_step(multiple * step, step) for multiple in range(first, max(last, first + 1) + 1))
    return Axis(ticks[0], ticks[-1], ticks, tuple(map(localize, format_ticks(ticks, step))))


def build_window_axis(
    low: float, high: float, *, max_steps: int = 6, localize: Callable[[str], str] = str
) -> Axis:
    """Return an axis from exactly ``low`` to ``high``, with the round numbers between them as ticks."""
    step = choose_step(high - low, max_steps)
    first, last = math.ceil(low / step - _RELATIVE_TOLERANCE), math.floor(high / step + _RELATIVE_TOLERANCE)
    ticks = tuple(round_to_step(multiple * step, step) for multiple in range(first, last + 1))
    return Axis(low, high, ticks, tuple(map(localize, format_ticks(ticks, step))))


def _find_range(values: Sequence[float], *, from_zero: bool) -> tuple[float, float]:
    """Return a non-empty range of the values. It includes 0 unless that would more than double the range."""
    low, high = min(values, default=0.0), max(values, default=0.0)
    if from_zero or 0 < low <= high / 2:
        low = min(low, 0.0)
    if from_zero or low / 2 <= high < 0:
        high = max(high, 0.0)
    if high - low > _RELATIVE_TOLERANCE * max(abs(low), abs(high)):
        return low, high
    return (0.0, 2 * high or 1.0) if high >= 0 else (2 * low, 0.0)


def choose_step(span: float, max_steps: int, *, is_integer: bool = False) -> float:
    """Return the smallest round step of which at most ``max_steps`` fit into the span.

    Round steps are 1, 2, 2.5 and 5 times a power of ten.
    """
    min_step = span / max_steps
    unit = 10.0 ** math.floor(math.log10(min_step))
    step = next(
        unit * factor
        for factor in (1, 2, 2.5, 5, 10)
        if unit * factor >= min_step * (1 - _RELATIVE_TOLERANCE)
    )
    if not is_integer:
        return step
    return max(1.0, 5 * unit if step == 2.5 * unit and unit < 10 else step)


def _count_decimals(step: float) -> int:
    """Return the number of decimals needed to distinguish multiples of the step."""
    decimal_places = -math.floor(math.log10(step) + _RELATIVE_TOLERANCE)
    return max(
        0,
        decimal_places
        if abs(step * 10.0**decimal_places - 2.5) > _RELATIVE_TOLERANCE
        else decimal_places + 1,
    )


def round_to_step(value: float, step: float) -> float:
    """Round to the decimals of the step, which removes floating-point errors."""
    return round(value, _count_decimals(step)) + 0.0  # adding 0.0 turns -0.0 into 0.0


def format_ticks(ticks: Sequence[float], step: float) -> tuple[str, ...]:
    """Format ticks with the same number of decimals, and a common power of ten if they are huge or tiny."""
    largest = max(abs(tick) for tick in ticks)
    if _TICK_DECIMAL_RANGE[0] <= largest < _TICK_DECIMAL_RANGE[1]:
        return tuple(
            "0" if tick == 0 else replace_minus(f"{tick:,.{_count_decimals(step)}f}") for tick in ticks
        )
    power = math.floor(math.log10(largest) + _RELATIVE_TOLERANCE)
    unit = 10.0**power
    decimal_places = _count_decimals(step / unit)
    return tuple(
        "0" if tick == 0 else format_power(f"{tick / unit:.{decimal_places}f}", power) for tick in ticks
    )
