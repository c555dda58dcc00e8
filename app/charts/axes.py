"""Axes: the range that numbers span, round numbers along it, and how numbers are written."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

HUGE = 1e300
"""Numbers beyond it stand at it: the difference of two must stay finite."""
SAME = 1e-9
"""Numbers closer than this, in relation to their size, differ by rounding only."""
PLAIN = (1e-9, 1e9)
"""Numbers from the one to below the other are written without a power of ten."""
PLAIN_TICKS = (1e-4, 1e9)
"""The same for the numbers along an axis, for which there is less room."""
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True, slots=True)
class Axis:
    """The values from ``low`` to ``high``, with round ones between them and how these are written."""

    low: float
    high: float
    ticks: tuple[float, ...]
    texts: tuple[str, ...]

    def share(self, value: float) -> float:
        """Where the value stands: 0 at the low end, 1 at the high one, never beyond."""
        return min(max((value - self.low) / (self.high - self.low), 0.0), 1.0)


def finite(value: float | None) -> float | None:
    """The number if it is one that can be drawn."""
    if value is None or not math.isfinite(value):
        return None
    return 0.0 if abs(value) < 1 / HUGE else min(max(float(value), -HUGE), HUGE)


def known(values: Iterable[float | None]) -> list[float]:
    """The numbers among the values."""
    return [found for value in values if (found := finite(value)) is not None]


def axis(
    values: Iterable[float | None],
    *,
    most: int = 6,
    zero: bool = False,
    whole: bool = False,
    distance: bool = False,
    signs: Callable[[str], str] = str,
) -> Axis:
    """An axis between two round numbers that covers the values, in about ``most`` steps at most.

    ``zero``: it begins at 0 even where the values are far from it; ``whole``: they are counts; ``distance``:
    none is below 0, whatever rounding makes of it; ``signs``: as of ``ChartWords``.
    """
    found = known(values)
    low, high = covered([max(each, 0.0) for each in found] if distance else found, zero=zero)
    step = nice_step(high - low, most, whole=whole)
    first, last = math.floor(low / step + SAME), math.ceil(high / step - SAME)
    ticks = tuple(rounded(place * step, step) for place in range(first, max(last, first + 1) + 1))
    return Axis(ticks[0], ticks[-1], ticks, tuple(map(signs, tick_texts(ticks, step))))


def window(low: float, high: float, *, most: int = 6, signs: Callable[[str], str] = str) -> Axis:
    """An axis from ``low`` to ``high`` themselves, with the round numbers that lie inside."""
    step = nice_step(high - low, most)
    first, last = math.ceil(low / step - SAME), math.floor(high / step + SAME)
    ticks = tuple(rounded(place * step, step) for place in range(first, last + 1))
    return Axis(low, high, ticks, tuple(map(signs, tick_texts(ticks, step))))


def covered(values: Sequence[float], *, zero: bool) -> tuple[float, float]:
    """The range of the values: never empty, and with 0 where that costs at most half of the room."""
    low, high = min(values, default=0.0), max(values, default=0.0)
    if zero or 0 < low <= high / 2:
        low = min(low, 0.0)
    if zero or low / 2 <= high < 0:
        high = max(high, 0.0)
    if high - low > SAME * max(abs(low), abs(high)):
        return low, high
    return (0.0, 2 * high or 1.0) if high >= 0 else (2 * low, 0.0)


def nice_step(span: float, most: int, *, whole: bool = False) -> float:
    """The least of 1, 2, 2.5 and 5 times a power of ten that makes at most so many steps of the span."""
    least = span / most
    unit = 10.0 ** math.floor(math.log10(least))
    step = next(unit * factor for factor in (1, 2, 2.5, 5, 10) if unit * factor >= least * (1 - SAME))
    if not whole:
        return step
    return max(1.0, 5 * unit if step == 2.5 * unit and unit < 10 else step)


def decimals(step: float) -> int:
    """How many decimals tell multiples of the step apart."""
    places = -math.floor(math.log10(step) + SAME)
    return max(0, places if abs(step * 10.0**places - 2.5) > SAME else places + 1)


def rounded(value: float, step: float) -> float:
    """The multiple of a step without the dust of its multiplication."""
    return round(value, decimals(step)) + 0.0


def tick_texts(ticks: Sequence[float], step: float) -> tuple[str, ...]:
    """The ticks with the same decimals, and the same power of ten where they are huge or tiny."""
    largest = max(abs(tick) for tick in ticks)
    if PLAIN_TICKS[0] <= largest < PLAIN_TICKS[1]:
        return tuple("0" if tick == 0 else signed(f"{tick:,.{decimals(step)}f}") for tick in ticks)
    power = math.floor(math.log10(largest) + SAME)
    unit = 10.0**power
    places = decimals(step / unit)
    return tuple("0" if tick == 0 else powered(f"{tick / unit:.{places}f}", power) for tick in ticks)


def number(value: float | None) -> str:
    """Return a number for people, the same on pages and in pictures.

    Four decimals below 1,000 and one from there on, without zeros at the end; below 0.001 two significant
    digits. Only from 10⁹ on, and below 10⁻⁹, there is a power of ten.
    """
    found = finite(value)
    if found is None:
        return "–"
    size = abs(found)
    if size and not PLAIN[0] <= size < PLAIN[1]:
        mantissa, power = f"{found:.3e}".split("e")
        return powered(trimmed(mantissa), int(power))
    places = 1 if size >= 1e3 else 4 if size >= 1e-3 or not size else 1 - math.floor(math.log10(size))
    return signed(trimmed(f"{found:,.{places}f}"))


def trimmed(digits: str) -> str:
    """Return digits with decimals without the zeros at their end."""
    return digits.rstrip("0").rstrip(".")


def powered(mantissa: str, power: int) -> str:
    return f"{signed(mantissa)}×10{str(power).translate(SUPERSCRIPTS)}"


def signed(digits: str) -> str:
    """With a minus sign, which is as wide as a digit."""
    return digits.replace("-", "−")
