"""Axes of numbers and of times: value ranges, round ticks and their labels."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

_MAX_MAGNITUDE = 1e300
"""Larger numbers are clamped to this value, so that the difference of any two is finite."""
_RELATIVE_TOLERANCE = 1e-9
"""Numbers with a smaller relative difference are considered equal up to rounding."""
_DECIMAL_RANGE = (1e-9, 1e9)
"""Numbers from the first to below the second are written without a power of ten."""
_TICK_DECIMAL_RANGE = (1e-4, 1e9)
"""The same range for ticks, which have less space."""
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_HOUR = timedelta(hours=1)
_DAY = 24 * _HOUR
_STEPS = (
    *(timedelta(minutes=minutes) for minutes in (1, 5, 15, 30)),
    *(hours * _HOUR for hours in (1, 3, 6, 12)),
    *(days * _DAY for days in (1, 2, 3, 7, 14)),
)
_MONTH_STEPS = (1, 3, 6, 12, 24, 60, 120)


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


def clamp_finite(value: float | None) -> float | None:
    """Return the number, clamped to a range that can be drawn; None if it is missing or not finite."""
    if value is None or not math.isfinite(value):
        return None
    return 0.0 if abs(value) < 1 / _MAX_MAGNITUDE else min(max(float(value), -_MAX_MAGNITUDE), _MAX_MAGNITUDE)


def keep_finite(values: Iterable[float | None]) -> list[float]:
    """Return the finite numbers among the values, each clamped to a range that can be drawn."""
    return [finite_value for value in values if (finite_value := clamp_finite(value)) is not None]


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
    rounding, are drawn as 0. ``localize`` is described in ``ChartWords``.
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
    return round(value, _count_decimals(step)) + 0.0


def format_ticks(ticks: Sequence[float], step: float) -> tuple[str, ...]:
    """Format ticks with the same number of decimals, and a common power of ten if they are huge or tiny."""
    largest = max(abs(tick) for tick in ticks)
    if _TICK_DECIMAL_RANGE[0] <= largest < _TICK_DECIMAL_RANGE[1]:
        return tuple(
            "0" if tick == 0 else _replace_minus(f"{tick:,.{_count_decimals(step)}f}") for tick in ticks
        )
    power = math.floor(math.log10(largest) + _RELATIVE_TOLERANCE)
    unit = 10.0**power
    decimal_places = _count_decimals(step / unit)
    return tuple(
        "0" if tick == 0 else _write_power(f"{tick / unit:.{decimal_places}f}", power) for tick in ticks
    )


def write_number(value: float | None) -> str:
    """Format a number for people, the same on pages and in pictures.

    Numbers from 1,000 on have one decimal, smaller ones four, and those below 0.001 two significant digits;
    trailing zeros are removed. From 10⁹ on and below 10⁻⁹ a power of ten is used. Missing or infinite values
    give "–".
    """
    finite_value = clamp_finite(value)
    if finite_value is None:
        return "–"
    size = abs(finite_value)
    if size and not _DECIMAL_RANGE[0] <= size < _DECIMAL_RANGE[1]:
        mantissa, power = f"{finite_value:.3e}".split("e")
        return _write_power(_trim_zeros(mantissa), int(power))
    decimal_places = 1 if size >= 1e3 else 4 if size >= 1e-3 or not size else 1 - math.floor(math.log10(size))
    return _replace_minus(_trim_zeros(f"{finite_value:,.{decimal_places}f}"))


def _trim_zeros(digits: str) -> str:
    """Remove trailing zeros after the decimal point, and the point if no digit follows."""
    return digits.rstrip("0").rstrip(".")


def _write_power(mantissa: str, power: int) -> str:
    return f"{_replace_minus(mantissa)}×10{str(power).translate(_SUPERSCRIPTS)}"


def _replace_minus(digits: str) -> str:
    """Replace hyphens by minus signs, which are as wide as a digit."""
    return digits.replace("-", "−")


def build_time_axis(moments: Sequence[datetime], zone: str, *, max_ticks: int = 7) -> Axis:
    """Return an axis from the first moment to the last, in seconds since 1970.

    Its ticks are at round hours, days and months of the time zone, with or without daylight saving.
    A range of less than a minute is extended by about a minute on both sides.
    """
    low, high = (pick(moments).timestamp() for pick in (min, max))
    if high - low < 60:
        low, high = low // 60 * 60 - 60, high // 60 * 60 + 120
    ticks = _choose_ticks(low, high, ZoneInfo(zone), max_ticks)
    texts = _format_moments([datetime.fromtimestamp(tick, ZoneInfo(zone)) for tick in ticks])
    return Axis(low, high, tuple(ticks), texts)


def _choose_ticks(low: float, high: float, zone: ZoneInfo, max_ticks: int) -> list[float]:
    """Return the ticks of the smallest step that gives about ``max_ticks`` or fewer."""
    for step in _STEPS:
        if (high - low) / step.total_seconds() <= max_ticks:
            return [tick for tick in _iter_ticks_by_step(low, high, zone, step) if low <= tick <= high]
    for months in _MONTH_STEPS:
        if (high - low) / (months * 30 * _DAY).total_seconds() <= max_ticks - 2:
            break
    return [tick for tick in _iter_ticks_by_month(low, high, zone, months) if low <= tick <= high]


def _iter_ticks_by_step(low: float, high: float, zone: ZoneInfo, step: timedelta) -> Iterator[float]:
    """Yield multiples of the step since midnight in local time, without times that daylight saving skips.

    Steps of several days are counted from a Monday, so that weekly ticks are Mondays.
    """
    start = datetime.fromtimestamp(low, zone).replace(tzinfo=None, hour=0, minute=0, second=0, microsecond=0)
    local_time = start - (start.toordinal() - 1) % max(step // _DAY, 1) * _DAY
    while (tick := local_time.replace(tzinfo=zone)).timestamp() <= high:
        if tick.astimezone(UTC).astimezone(zone).replace(tzinfo=None) == local_time:
            yield tick.timestamp()
        local_time += step


def _iter_ticks_by_month(low: float, high: float, zone: ZoneInfo, months: int) -> Iterator[float]:
    """Yield the first day of every month, or of every few ``months``."""
    month_index = datetime.fromtimestamp(low, zone).year * 12 // months * months
    while (tick := datetime(month_index // 12, month_index % 12 + 1, 1, tzinfo=zone)).timestamp() <= high:
        yield tick.timestamp()
        month_index += months


def _format_moments(moments: Sequence[datetime]) -> tuple[str, ...]:
    """Format midnights as days and other times as hours and minutes; below the first one is its day.

    If all moments are the first day of a month, format them as year and month.
    """
    if all(moment.day == 1 and _is_midnight(moment) for moment in moments) and len(moments) > 1:
        return tuple(moment.strftime("%Y-%m") for moment in moments)
    kinds = (
        "%m-%d" if _is_midnight(moment) else "%H:%M" if index else "%H:%M\n%m-%d"
        for index, moment in enumerate(moments)
    )
    return tuple(moment.strftime(kind) for moment, kind in zip(moments, kinds, strict=True))


def _is_midnight(moment: datetime) -> bool:
    return (moment.hour, moment.minute) == (0, 0)
