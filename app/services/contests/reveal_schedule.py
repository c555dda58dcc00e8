"""When the secrets of a contest may be revealed: never earlier than was said long enough before.

The clock of a service witnesses every end of the last phase that it sees. A rule over what was witnessed, and
not over what stands in the competition's file now, is one that nobody who can write the file gets around.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta


@dataclass(frozen=True, slots=True)
class Witness:
    """An end of the last phase, with the notice that the file asked for, as the clock saw both ``at`` a time.

    ``free``: nothing had been submitted by then, so that there was nothing to reveal.
    """

    end: datetime
    notice: timedelta
    at: datetime
    free: bool = False


def reveal_time(end: datetime, witnesses: Iterable[Witness]) -> datetime | None:
    """When a contest whose last phase ends at ``end`` is revealed; None: nothing is witnessed yet.

    It is the end, but never before an end that was witnessed early enough: while there was nothing to reveal,
    or the notice ahead. So an end that moves later counts at once, and one that moves nearer once its notice
    has run. The notice is the longest that was witnessed since there was something to reveal: a shorter one
    must not be what makes an end count.
    """
    reveal: datetime | None = None
    notice = timedelta(0)
    for seen in sorted(witnesses, key=lambda one: (one.at, one.end)):
        notice = seen.notice if seen.free else max(notice, seen.notice)
        counts = max(seen.end, seen.at if seen.free else seen.at + notice)
        if reveal is None or seen.free:
            reveal = counts
        else:
            reveal = seen.end if seen.end >= reveal else min(reveal, counts)
    return None if reveal is None else max(end, reveal)
