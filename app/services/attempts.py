"""Attempts: when an upload counts as sent, and which uploads are still being received.

An upload counts by its entrance: the moment its sender was known, before its body was read. The body may end
up to a grace later, and for so long whatever settles at a deadline waits for it. A retry under the same key
goes on with the attempt that has not ended: what it repeats may be under way, or have lost its process.
"""

from datetime import timedelta

from sqlalchemy import delete, func, select, update
from sqlalchemy.orm import Session

from app.config import get_settings
from app.db.models import Attempt, Team
from app.db.models import Competition as CompetitionRow
from app.errors import Conflict
from app.services.phases import ANONYMIZATION, Standing


def unfinished(session: Session, team: Team, phase: str, key: str | None) -> Attempt | None:
    """What a retry under ``key`` goes on with."""
    if key is None:
        return None
    same = (Attempt.team_id == team.id, Attempt.phase == phase, Attempt.key == key)
    return session.scalars(select(Attempt).where(*same, Attempt.ended_at.is_(None))).one_or_none()


def end(session: Session, attempt: Attempt) -> None:
    """Note that nothing more will come of it than has."""
    mine = update(Attempt).where(Attempt.id == attempt.id, Attempt.ended_at.is_(None))
    session.execute(mine.values(ended_at=func.clock_timestamp()))


def break_off(session: Session, attempt: Attempt) -> None:
    """End it, unless a retry has gone on with it."""
    if session.scalar(select(Attempt.tries).where(Attempt.id == attempt.id)) == attempt.tries:
        end(session, attempt)


def take_back(session: Session, attempt: Attempt) -> None:
    """Uncount it: it repeats one that is counted, or failed by the service's fault.

    What several requests have gone on with stays counted: it is theirs too.
    """
    mine = delete(Attempt).where(Attempt.id == attempt.id, Attempt.tries == 1, Attempt.ended_at.is_(None))
    session.execute(mine)


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
