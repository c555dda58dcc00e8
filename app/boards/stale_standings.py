"""Stale standings: a leased job for each round whose standings a worker has to compute.

A change marks the round: it creates the job, or moves ``since`` back. A claim moves ``since`` to
``claimed_since``, so that changes from then on are seen apart. If the worker fails or is lost, the next claim
begins at the earlier of both; if it succeeds, the job is removed, and what is still stale becomes a new one.
"""

from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import exists, func, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from app.core.db.models import StaleStanding
from app.core.db.now import BEGINNING, END
from app.jobs import leases, queue
from app.jobs.leases import Lease


class StaleClaim(NamedTuple):
    """A worker's claim to compute the standings of a round from ``since`` on."""

    lease: Lease[StaleStanding]
    round_id: UUID
    since: datetime


def mark(session: Session, round_id: UUID, *, since: datetime) -> None:
    """Leave the standings from a moment on to a worker.

    After a failure it is tried again after a pause, but at once if all standings have to be computed, since
    organizers may have changed the rules.
    """
    job = insert(StaleStanding).values(round_id=round_id, since=since)
    changes: dict[str, Any] = {"since": func.least(StaleStanding.since, job.excluded.since)}
    if since == BEGINNING:
        changes["not_before"] = None
    session.execute(job.on_conflict_do_update(index_elements=[StaleStanding.round_id], set_=changes))
    queue.enqueue_after_commit(session, queue.SCORE)


def is_marked(session: Session, round_id: UUID) -> bool:
    return bool(session.scalar(select(exists().where(StaleStanding.round_id == round_id))))


def claim_next(session: Session) -> StaleClaim | None:
    """Claim the next round in fair order; None if none is claimable."""
    job = leases.claim_next(session, StaleStanding)
    if job is None:
        return None
    job.excused = job.attempt  # no attempt counts, because boards are never given up
    since = min(filter(None, (job.since, job.claimed_since)))
    job.since, job.claimed_since = None, since
    return StaleClaim(Lease.create(job), job.round_id, since)


def finish(session: Session, job: StaleStanding, *, until: datetime) -> None:
    """Remove a job whose standings before a moment are stored. What is still stale becomes a new one."""
    stale_since = min(job.since or END, until)
    session.delete(job)
    session.flush()
    if stale_since < END:
        mark(session, job.round_id, since=stale_since)


def find_failed(session: Session, round_id: UUID) -> StaleStanding | None:
    """Return the job of a round whose standings could not be computed the last time."""
    query = select(StaleStanding).where(StaleStanding.round_id == round_id)
    return session.scalar(query.where(StaleStanding.failure.is_not(None)))
