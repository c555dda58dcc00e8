"""Rounds whose standings are left to a worker, which claims them for a while like any other job."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import ColumnElement, and_, delete, exists, func, or_, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from anoncup.errors import DomainError
from app.db.models import StaleStanding
from app.db.now import BEGINNING, END, read_clock
from app.services.jobs import fairness, queue

_CLAIM_DURATION = timedelta(minutes=3)
_MIN_PAUSE, _MAX_PAUSE = timedelta(minutes=1), timedelta(minutes=15)
"""Limits of the pause after a failure, which is as long as the standings have been out of date."""


class StaleClaim(NamedTuple):
    """A worker's claim to compute the standings of a round from ``since`` on."""

    round_id: UUID
    since: datetime
    expires_at: datetime


def mark(session: Session, round_id: UUID, *, since: datetime) -> None:
    """Leave the standings from a moment on to a worker.

    After a failure it is tried again after a pause, but at once if all standings have to be computed, since
    organizers may have changed the rules.
    """
    new_mark = insert(StaleStanding).values(round_id=round_id, since=since)
    changes: dict[str, Any] = {"since": func.least(StaleStanding.since, new_mark.excluded.since)}
    if since == BEGINNING:
        changes["not_before"] = None
    session.execute(new_mark.on_conflict_do_update(index_elements=[StaleStanding.round_id], set_=changes))
    queue.enqueue_after_commit(session, queue.SCORE)


def remove_mark(session: Session, round_id: UUID) -> None:
    session.execute(delete(StaleStanding).where(StaleStanding.round_id == round_id))


def _is_due() -> ColumnElement[bool]:
    """Build the condition that a worker may claim a marked round, unless the round has been removed.

    A longer pause than the longest was written while the database's clock was ahead.
    """
    now, not_before = func.clock_timestamp(), StaleStanding.not_before
    is_pause_over = or_(not_before.is_(None), not_before <= now, not_before > now + _MAX_PAUSE)
    return and_(is_pause_over, fairness.is_in_present_round(StaleStanding))


def requeue_due(session: Session, *, waiting_messages: Mapping[str, int]) -> bool:
    """Send a message if a round is due and none waits; return whether one is sent."""
    is_lost = not waiting_messages[queue.SCORE] and bool(session.scalar(select(exists().where(_is_due()))))
    if is_lost:
        queue.enqueue_after_commit(session, queue.SCORE)
    return is_lost


def claim_next(session: Session) -> StaleClaim | None:
    """Claim the round that has waited for the longest time; None if no round is due."""
    query = select(StaleStanding).where(_is_due()).order_by(StaleStanding.marked_at).limit(1)
    stale = session.scalar(query.with_for_update(skip_locked=True))
    if stale is None:
        return None
    since = min(filter(None, (stale.since, stale.claimed_since)), default=BEGINNING)
    expires_at = read_clock(session) + _CLAIM_DURATION
    stale.since, stale.claimed_since, stale.not_before = None, since, expires_at
    return StaleClaim(stale.round_id, since, expires_at)


def lock_claim(session: Session, claim: StaleClaim) -> StaleStanding | None:
    """Lock and return the mark; None if the claim has expired, or if all standings changed meanwhile."""
    query = select(StaleStanding).where(StaleStanding.round_id == claim.round_id)
    return session.scalar(query.where(StaleStanding.not_before == claim.expires_at).with_for_update())


def finish(session: Session, stale: StaleStanding, *, until: datetime) -> None:
    """Record that the claimed standings before a moment are stored. The rest is due."""
    if stale.since is None and until == END:
        session.delete(stale)
        return
    stale.claimed_since = None if until == END else until
    stale.marked_at = read_clock(session)
    stale.failure = stale.not_before = None
    queue.enqueue_after_commit(session, queue.SCORE)


def record_failure(session: Session, claim: StaleClaim, problem: DomainError) -> None:
    """Record for the organizers why the standings keep their last state, and try again after a pause."""
    stale = lock_claim(session, claim)
    if stale is None:
        return
    now = read_clock(session)
    stale.failure = problem.coded_message
    stale.not_before = now + min(max(now - stale.marked_at, _MIN_PAUSE), _MAX_PAUSE)


def find_failed(session: Session, round_id: UUID) -> StaleStanding | None:
    """Return the mark of a round whose standings could not be computed the last time."""
    query = select(StaleStanding).where(StaleStanding.round_id == round_id)
    return session.scalar(query.where(StaleStanding.failure.is_not(None)))
