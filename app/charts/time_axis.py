"""Axes of times with ticks at round hours, days and months."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from app.charts.axes import Axis

_HOUR = timedelta(hours=1)
_DAY = 24 * _HOUR
_TIME_STEPS = (
    *(timedelta(minutes=minutes) for minutes in (1, 5, 15, 30)),
    *(hours * _HOUR for hours in (1, 3, 6, 12)),
    *(days * _DAY for days in (1, 2, 3, 7, 14)),
)
_MONTH_STEPS = (1, 3, 6, 12, 24, 60, 120)


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
    for step in _TIME_STEPS:
        if (high - low) / step.total_seconds() <= max_ticks:
            return [tick for tick in _iter_ticks_by_step(low, high, zone, step) if low <= tick <= high]
    # Labels of months are wider than those of days, so fewer of them fit.
    max_spans = max_ticks - 2
    months = next(
        (
            months
            for months in _MONTH_STEPS
            if (high - low) / (months * 30 * _DAY).total_seconds() <= max_spans
        ),
        _MONTH_STEPS[-1],
    )
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
    formats = (
        "%m-%d" if _is_midnight(moment) else "%H:%M" if index else "%H:%M\n%m-%d"
        for index, moment in enumerate(moments)
    )
    return tuple(moment.strftime(format_) for moment, format_ in zip(moments, formats, strict=True))


def _is_midnight(moment: datetime) -> bool:
    return (moment.hour, moment.minute) == (0, 0)
