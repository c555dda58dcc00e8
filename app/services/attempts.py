"""Attempts: when an upload counts as sent, and which uploads are still being received.

An upload counts by its entrance: the moment its sender was known, before its body was read. The body may end
up to a grace later, and for so long whatever settles at a deadline waits for it.
"""

from datetime import timedelta

from sqlalchemy import delete, func, select, update
from sqlalchemy.orm import Session

from app.config import get_settings
from app.db.models import Attempt, Team
from app.db.models import Competition as CompetitionRow
from app.errors import Conflict
from app.services.phases import ANONYMIZATION, Standing


def end(session: Session, attempt: Attempt) -> None:
    """Note that nothing more will come of it than has."""
    mine = update(Attempt).where(Attempt.id == attempt.id, Attempt.ended_at.is_(None))
    session.execute(mine.values(ended_at=func.clock_timestamp()))


def take_back(session: Session, attempt: Attempt | None) -> None:
    """Uncount it: it repeats one that is counted, or failed by the service's fault."""
    if attempt is not None:
        session.execute(delete(Attempt).where(Attempt.id == attempt.id))


def grace() -> timedelta:
    return timedelta(seconds=get_settings().grace_s)


def require_in_time(row: CompetitionRow, attempt: Attempt, now: Standing) -> None:
    """Whether what entered as ``attempt`` may be accepted ``now``; ask with the competition's lock held.

    What entered in time is, though the phase has ended or been paused meanwhile: whatever settles waits for
    it. Beyond the grace an upload is as good as one that enters now.
    """
    turned_at = row.frozen_at if attempt.phase == ANONYMIZATION else row.closed_at
    if turned_at is None and now.now <= attempt.at + grace():
        return
    if now.open is None or now.open.name != attempt.phase:
        message = f"it came in time, but took longer than the {grace().seconds} s after which the phase turns"
        raise Conflict(message, code="too_late")


def are_under_way(session: Session, row: CompetitionRow, phase: str) -> bool:
    """Whether something that entered ``phase`` is still being received and may yet be accepted.

    A web process that was killed leaves its attempts without an end; the grace bounds the wait for them.
    """
    waiting = (
        select(Attempt.id)
        .join(Team, Team.id == Attempt.team_id)
        .where(Team.competition_id == row.id, Attempt.phase == phase, Attempt.ended_at.is_(None))
        .where(Attempt.at >= func.clock_timestamp() - grace())
    )
    return bool(session.scalar(select(waiting.exists())))
