"""Attempts: when an upload counts as sent, and which uploads are still being received.

An upload counts by its entrance: the moment its sender was known, before its body was read. The body may end
up to a grace later, and for so long whatever settles at a deadline waits for it. A retry under the same key
goes on with the attempt that has not been answered: what it repeats may be under way, or have lost its
connection or its process, or have found no room.
"""

from datetime import timedelta

from sqlalchemy import and_, func, select, update
from sqlalchemy.orm import Session

from anoncup.errors import Conflict
from app.config import get_settings
from app.db.models import Attempt, Competition, Team
from app.services.contests.phases import ANONYMIZATION, Standing


def unfinished(session: Session, team: Team, phase: str, key: str | None) -> Attempt | None:
    """What a retry under ``key`` goes on with, locked."""
    if key is None:
        return None
    same = (Attempt.team_id == team.id, Attempt.phase == phase, Attempt.key == key)
    open_one = select(Attempt).where(*same, Attempt.ended_at.is_(None)).with_for_update()
    return session.scalars(open_one).one_or_none()


def has_ended(session: Session, attempt: Attempt) -> bool:
    """Whether another request under its key was answered meanwhile."""
    return session.scalar(select(Attempt.ended_at).where(Attempt.id == attempt.id)) is not None


def end(session: Session, attempt: Attempt, *, counts: bool = True) -> None:
    """Note that it has been answered, once: a retry is another attempt."""
    mine = update(Attempt).where(Attempt.id == attempt.id, Attempt.ended_at.is_(None))
    session.execute(mine.values(ended_at=func.clock_timestamp(), counts=counts))


def leave(session: Session, attempt: Attempt, *, costs: bool) -> None:
    """Note that a request came to nothing, and that its sender may try again under its key.

    Its entrance holds for the grace. Without a key nobody can tell a retry, and it has ended.
    """
    mine = update(Attempt).where(Attempt.id == attempt.id, Attempt.ended_at.is_(None))
    nobody_knows = func.clock_timestamp() if attempt.key is None else None
    counts = Attempt.counts if costs else and_(Attempt.counts, Attempt.senders > 1)
    session.execute(mine.values(senders=Attempt.senders - 1, counts=counts, ended_at=nobody_knows))


def grace() -> timedelta:
    return timedelta(seconds=get_settings().grace_s)


def require_in_time(row: Competition, attempt: Attempt, now: Standing) -> None:
    """Whether what entered as ``attempt`` may be accepted ``now``; ask with the competition's lock held.

    What entered in time is, though the phase has ended or been paused meanwhile: whatever settles waits for
    it. Beyond the grace an upload is as good as one that enters now.
    """
    turned_at = row.frozen_at if attempt.phase == ANONYMIZATION else row.closed_at
    if turned_at is None and now.now <= attempt.at + grace():
        return
    if now.open is None or now.open.name != attempt.phase:
        raise Conflict(
            "the upload began in time, but took longer than {seconds} s; meanwhile the phase ended",
            code="too_late",
            seconds=grace().seconds,
        )


def are_under_way(session: Session, row: Competition, phase: str) -> bool:
    """Whether something that entered ``phase`` is still being received, or retried, and may yet be accepted.

    The grace bounds the wait for those who never come again.
    """
    waiting = (
        select(Attempt.id)
        .join(Team, Team.id == Attempt.team_id)
        .where(Team.competition_id == row.id, Attempt.phase == phase, Attempt.ended_at.is_(None))
        .where(Attempt.at >= func.clock_timestamp() - grace())
    )
    return bool(session.scalar(select(waiting.exists())))
