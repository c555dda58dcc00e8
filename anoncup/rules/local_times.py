"""Local times of a time zone as moments with a fixed UTC offset.

Python adds, subtracts and compares times of one zone by their wall clock, which is wrong across a change of
the clocks.
"""

from datetime import UTC, datetime, timezone
from zoneinfo import ZoneInfo


def fix_offset(moment: datetime, zone: ZoneInfo) -> datetime | None:
    """Return the moment with a fixed UTC offset; without an offset, it is a local time of ``zone``.

    A local time that exists twice is the first. Returns None if it does not exist, because the clocks are put
    forward past it.
    """
    if moment.tzinfo is not None:
        return moment
    utc_time = moment.replace(tzinfo=zone, fold=0).astimezone(UTC)
    if utc_time.astimezone(zone).replace(tzinfo=None, fold=0) != moment:
        return None
    return moment.replace(tzinfo=timezone(moment - utc_time.replace(tzinfo=None)))
