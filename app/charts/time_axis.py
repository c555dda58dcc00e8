"""A time axis: round hours, days and months on the clock of a zone, also where it is put forward or back."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from app.charts.axes import Axis

HOUR = timedelta(hours=1)
DAY = 24 * HOUR
STEPS = (
    *(timedelta(minutes=minutes) for minutes in (1, 5, 15, 30)),
    *(hours * HOUR for hours in (1, 3, 6, 12)),
    *(days * DAY for days in (1, 2, 3, 7, 14)),
)
MONTHS = (1, 3, 6, 12, 24, 60, 120)


def time_axis(moments: Sequence[datetime], zone: str, *, most: int = 7) -> Axis:
    """An axis in seconds since 1970 from the first moment to the last, with ticks inside it.

    What lies within a minute is shown with the minute before and after it.
    """
    low, high = (end(moments).timestamp() for end in (min, max))
    if high - low < 60:
        low, high = low // 60 * 60 - 60, high // 60 * 60 + 120
    ticks = within(low, high, ZoneInfo(zone), most)
    texts = written([datetime.fromtimestamp(tick, ZoneInfo(zone)) for tick in ticks])
    return Axis(low, high, tuple(ticks), texts)


def within(low: float, high: float, zone: ZoneInfo, most: int) -> list[float]:
    """The ticks of the finest step that makes no more of them than that."""
    for step in STEPS:
        if (high - low) / step.total_seconds() <= most:
            return [tick for tick in by_step(low, high, zone, step) if low <= tick <= high]
    for months in MONTHS:
        if (high - low) / (months * 30 * DAY).total_seconds() <= most - 2:
            break
    return [tick for tick in by_month(low, high, zone, months) if low <= tick <= high]


def by_step(low: float, high: float, zone: ZoneInfo, step: timedelta) -> Iterator[float]:
    """Multiples of the step from a midnight on, as the wall's clock shows them; hours it skips are left out.

    Days are counted from a Monday, so that weeks begin with one.
    """
    start = datetime.fromtimestamp(low, zone).replace(tzinfo=None, hour=0, minute=0, second=0, microsecond=0)
    wall = start - (start.toordinal() - 1) % max(step // DAY, 1) * DAY
    while (tick := wall.replace(tzinfo=zone)).timestamp() <= high:
        if tick.astimezone(UTC).astimezone(zone).replace(tzinfo=None) == wall:
            yield tick.timestamp()
        wall += step


def by_month(low: float, high: float, zone: ZoneInfo, months: int) -> Iterator[float]:
    """The first day of every so many months."""
    count = datetime.fromtimestamp(low, zone).year * 12 // months * months
    while (tick := datetime(count // 12, count % 12 + 1, 1, tzinfo=zone)).timestamp() <= high:
        yield tick.timestamp()
        count += months


def written(moments: Sequence[datetime]) -> tuple[str, ...]:
    """Midnights as days, other moments as hours, the first of all with its day below; months with the year."""
    if all(each.day == 1 and is_midnight(each) for each in moments) and len(moments) > 1:
        return tuple(each.strftime("%Y-%m") for each in moments)
    kinds = (
        "%m-%d" if is_midnight(each) else "%H:%M" if at else "%H:%M\n%m-%d" for at, each in enumerate(moments)
    )
    return tuple(each.strftime(kind) for each, kind in zip(moments, kinds, strict=True))


def is_midnight(moment: datetime) -> bool:
    return (moment.hour, moment.minute) == (0, 0)
