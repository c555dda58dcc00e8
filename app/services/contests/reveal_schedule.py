"""Time of the reveal: the secrets of a contest are never revealed earlier than announced with enough notice.

The clock process records every end of the last phase that it observes. The rule uses these observations and
not the present competition file, so that nobody who can write the file can bring the reveal forward.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta


@dataclass(frozen=True, slots=True)
class DeadlineObservation:
    """An end of the last phase and the notice period of the file, as the clock observed them.

    ``before_submissions``: nothing had been submitted yet, so that there was nothing to reveal.
    """

    end: datetime
    notice: timedelta
    observed_at: datetime
    before_submissions: bool = False


def compute_reveal_time(end: datetime, observations: Iterable[DeadlineObservation]) -> datetime | None:
    """Return the reveal time of a contest whose last phase ends at ``end``; None before any observation.

    The reveal comes at the end, but never before an end that was observed early enough, that is before the
    first submission or at least the notice period ahead. A later end therefore takes effect at once, and an
    earlier end only after its notice period. The notice period is the longest one observed since the first
    submission, so that shortening it cannot make an earlier end take effect.
    """
    reveal_at: datetime | None = None
    notice = timedelta(0)
    for observation in sorted(observations, key=lambda item: (item.observed_at, item.end)):
        notice = observation.notice if observation.before_submissions else max(notice, observation.notice)
        effective_at = max(
            observation.end,
            observation.observed_at if observation.before_submissions else observation.observed_at + notice,
        )
        if reveal_at is None or observation.before_submissions:
            reveal_at = effective_at
        else:
            reveal_at = observation.end if observation.end >= reveal_at else min(reveal_at, effective_at)
    return None if reveal_at is None else max(end, reveal_at)
