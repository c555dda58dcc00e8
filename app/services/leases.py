"""Work under a lease: queued, claimed by one worker at a time, finished once, tried a few times at most."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, TypeVar
from uuid import UUID

import structlog
from sqlalchemy import and_, func, or_, select, update
from sqlalchemy.orm import Session

from app.db.models import State
from app.db.models.declarations import Work

log = structlog.get_logger(__name__)

W = TypeVar("W", bound=Work)

UNFINISHED = (State.QUEUED, State.SCORING)
MESSAGE_TRAVELS = timedelta(seconds=5)
"""How long the message of a piece of work may be under way before it counts as lost."""

FIRST_REST, LONGEST_REST = timedelta(seconds=5), timedelta(minutes=1)
"""How long work that was given back uncounted is left alone."""


def clock(session: Session) -> datetime:
    """The database's clock now, which inside a transaction ``now()`` is not."""
    now: datetime = session.scalars(select(func.clock_timestamp())).one()
    return now


def claim(session: Session, kind: type[W], identifier: UUID, *, lease: timedelta, attempts: int) -> W | None:
    """Take a piece of work for this worker, or None if it is not ours to do.

    It is not if it is finished, cancelled, given back a moment ago, held by a worker whose lease runs, or if
    it has been tried ``attempts`` times: then it ends in ERROR, because it kills its workers.
    """
    work = session.scalar(
        select(kind)
        .where(kind.id == identifier)
        .where(or_(is_waiting(kind), lease_has_run_out(kind)))
        .with_for_update(skip_locked=True)
    )
    if work is None or gave_up(session, work, attempts):
        return None
    work.state = State.SCORING
    work.attempt += 1
    work.started_at = clock(session)
    work.leased_until = work.started_at + lease
    return work


def is_waiting(kind: type[Work]) -> Any:  # as below
    """Queued, and free to be taken."""
    free = or_(kind.not_before.is_(None), kind.not_before <= func.clock_timestamp())
    return and_(kind.state == State.QUEUED, free)


def lease_has_run_out(kind: type[Work]) -> Any:  # a SQL expression; SQLAlchemy's own type says no more
    return and_(kind.state == State.SCORING, kind.leased_until < func.clock_timestamp())


def gave_up(session: Session, work: Work, attempts: int) -> bool:
    tried = work.attempt - work.excused
    if tried < attempts:
        return False
    finish(session, work, State.ERROR)
    last = work.failure or "its worker was lost"
    work.failure = f"scoring was tried {tried} times and never finished; last: {last}"
    return True


def renew(
    session: Session, kind: type[Work], identifier: UUID, attempt: int, *, lease: timedelta, **progress: Any
) -> bool:
    """Keep the claim, and say how far the work is; False if another worker has taken over."""
    renewed = session.execute(
        update(kind)
        .where(kind.id == identifier, kind.state == State.SCORING, kind.attempt == attempt)
        .values(leased_until=func.clock_timestamp() + lease, **progress)
        .returning(kind.id)
    )
    return renewed.first() is not None


def held(session: Session, kind: type[W], identifier: UUID, attempt: int) -> W | None:
    """The work, locked, if this attempt still has the right to finish it."""
    work = session.get_one(kind, identifier, with_for_update=True)
    return work if (work.state, work.attempt) == (State.SCORING, attempt) else None


def finish(session: Session, work: Work, state: State) -> None:
    work.state = state
    work.leased_until = None
    work.finished_at = clock(session)
    log.info("work_finished", work=type(work).__name__, id=str(work.id), state=state, attempt=work.attempt)


def fail(session: Session, kind: type[Work], identifier: UUID, attempt: int, reason: str) -> bool:
    """End in ERROR: our fault, with a reason that a team may read."""
    work = held(session, kind, identifier, attempt)
    if work is None:
        return False
    finish(session, work, State.ERROR)
    work.failure = reason
    return True


def give_back(session: Session, kind: type[Work], identifier: UUID, attempt: int, reason: str) -> None:
    """Give the claim back after a passing fault; the sweep asks for it again."""
    work = held(session, kind, identifier, attempt)
    if work is not None:
        work.failure = reason
        work.state = State.QUEUED
        work.leased_until = None


def excuse(session: Session, kind: type[Work], identifier: UUID, attempt: int, reason: str) -> None:
    """Give the claim back uncounted: what was wanting is this worker's, and another one may have it.

    It rests a while, longer each time, so that who can do it finds it when who cannot has turned away.
    """
    work = held(session, kind, identifier, attempt)
    if work is not None:
        put_back(session, work, reason)


def miss(
    session: Session, kind: type[Work], identifier: UUID, attempt: int, reason: str, *, patience: timedelta
) -> None:
    """As ``excuse``, for a file that is not whole in a store that answers; once it has been missed for
    ``patience``, nobody seems to have it, and the work ends in ERROR."""
    work = held(session, kind, identifier, attempt)
    if work is None:
        return
    now = clock(session)
    work.missing_since = work.missing_since or now
    if work.missing_since + patience > now:
        put_back(session, work, reason)
    else:
        finish(session, work, State.ERROR)
        work.failure = reason


def put_back(session: Session, work: Work, reason: str) -> None:
    work.not_before = clock(session) + min(FIRST_REST * 2**work.excused, LONGEST_REST)
    work.excused += 1
    work.failure = reason
    work.state = State.QUEUED
    work.leased_until = None


def unattended(session: Session, kind: type[Work], *, queue_is_empty: bool) -> Sequence[UUID]:
    """What should be worked on and is not: nobody holds it and no message waits.

    Queued work counts only when the queue is empty: while messages wait, its own may be one.
    """
    lost = lease_has_run_out(kind)
    if queue_is_empty:
        waiting = kind.created_at < func.clock_timestamp() - MESSAGE_TRAVELS
        lost = or_(lost, and_(is_waiting(kind), waiting))
    return session.scalars(select(kind.id).where(lost).order_by(kind.created_at)).all()
