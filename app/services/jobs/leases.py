"""Work under a lease: queued, claimed by one worker at a time, finished once, tried a few times at most."""

from datetime import timedelta
from functools import lru_cache
from typing import Any, TypeVar
from uuid import UUID

import structlog
from sqlalchemy import Select, func, or_, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from anoncup.messages import Counted, Message, Statement
from app.db.models import Evaluation, Guess, RehearsalMove, State, ThresholdReport
from app.db.models.declarations import Work
from app.db.now import clock
from app.services.jobs import fairness

log = structlog.get_logger(__name__)

W = TypeVar("W", bound=Work)
K = TypeVar("K", Evaluation, Guess, ThresholdReport, RehearsalMove)

UNFINISHED = fairness.UNFINISHED
USED_UP = "attempts_used_up"
MESSAGE_TRAVELS = timedelta(seconds=5)
"""How long the message of a piece of work may be under way before it counts as lost."""

FIRST_REST, LONGEST_REST = timedelta(seconds=5), timedelta(minutes=1)
"""How long work that was given back uncounted is left alone."""
MOST_DOUBLED = 10
"""What is given back all day must not be left alone for longer than can be said."""


def claim_next(session: Session, kind: type[K], *, lease: timedelta, attempts: int) -> K | None:
    """Take the piece of work that is fairly next for this worker, or None if there is none.

    What has been tried ``attempts`` times ends in ERROR instead, because it kills its workers.
    """
    while (work := next_free(session, kind)) is not None:
        if not gave_up(session, work, attempts) and take(session, work, lease=lease):
            return work
    return None


def next_free(session: Session, kind: type[K]) -> K | None:
    """The first in the fair order that no other worker is just taking, locked."""
    found: K | None = session.scalar(in_order(kind))
    return found


@lru_cache(maxsize=len(fairness.PARTIES))
def in_order(kind: fairness.Kind) -> Select[Any]:
    """Built once, for that takes longer than to ask."""
    order = fairness.order(kind)
    return (
        select(kind)
        .join(order, order.c.id == kind.id)
        .where(fairness.claimable(kind))
        .order_by(order.c.place)
        .limit(1)
        .with_for_update(of=kind, skip_locked=True)
        .execution_options(populate_existing=True)
    )


def take(session: Session, work: Work, *, lease: timedelta) -> bool:
    """Begin an attempt; False if another piece that excludes it has been begun at the same moment."""
    now = clock(session)
    try:
        with session.begin_nested():
            work.state = State.SCORING
            work.attempt += 1
            work.started_at, work.leased_until = now, now + lease
    except IntegrityError:
        return False
    return True


def gave_up(session: Session, work: Work, attempts: int) -> bool:
    tried = work.attempt - work.excused
    if tried < attempts:
        return False
    finish(session, work, State.ERROR)
    last = work.failure.message if work.failure else Message("its worker was lost")
    work.failure = Statement(
        USED_UP,
        Counted(
            "scoring was tried {times} time and never finished; last: {last}",
            "scoring was tried {times} times and never finished; last: {last}",
            "times",
            times=tried,
            last=last,
        ),
    )
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
        .execution_options(synchronize_session=False)  # nothing of it has been read
    )
    return renewed.first() is not None


def held(session: Session, kind: type[W], identifier: UUID, attempt: int) -> W | None:
    """The work, locked, if this attempt still has the right to finish it."""
    work = session.get_one(kind, identifier, with_for_update=True)
    return work if (work.state, work.attempt) == (State.SCORING, attempt) else None


def finish(session: Session, work: Work, state: State) -> None:
    work.finished_at = clock(session)
    work.state = state
    work.leased_until = None
    log.info("work_finished", work=type(work).__name__, id=str(work.id), state=state, attempt=work.attempt)


def fail(session: Session, kind: type[Work], identifier: UUID, attempt: int, reason: Statement) -> bool:
    """End in ERROR: our fault, with a reason that a team may read."""
    work = held(session, kind, identifier, attempt)
    if work is None:
        return False
    finish(session, work, State.ERROR)
    work.failure = reason
    return True


def give_back(session: Session, kind: type[Work], identifier: UUID, attempt: int, reason: Statement) -> None:
    """Give the claim back after a passing fault; the sweep asks for it again."""
    work = held(session, kind, identifier, attempt)
    if work is not None:
        work.failure = reason
        work.state = State.QUEUED
        work.leased_until = None


def excuse(session: Session, kind: type[Work], identifier: UUID, attempt: int, reason: Statement) -> None:
    """Give the claim back uncounted: what was wanting is this worker's, and another one may have it.

    It rests a while, longer each time, so that who can do it finds it when who cannot has turned away.
    """
    work = held(session, kind, identifier, attempt)
    if work is not None:
        put_back(session, work, reason)


def miss(
    session: Session,
    kind: type[Work],
    identifier: UUID,
    attempt: int,
    reason: Statement,
    *,
    patience: timedelta,
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


def put_back(session: Session, work: Work, reason: Statement) -> None:
    work.not_before = clock(session) + min(FIRST_REST * 2 ** min(work.excused, MOST_DOUBLED), LONGEST_REST)
    work.excused += 1
    work.failure = reason
    work.state = State.QUEUED
    work.leased_until = None


def unattended(session: Session, kind: fairness.Kind) -> int:
    """How much work waits that a message should have been rung for: what lost its worker, and what is not
    just queued."""
    waits = kind.created_at < func.clock_timestamp() - MESSAGE_TRAVELS
    lost = or_(kind.state == State.SCORING, waits)
    counted = select(func.count()).select_from(kind).where(fairness.claimable(kind), lost)
    return session.scalars(counted).one()
