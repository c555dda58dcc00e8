"""Upload attempts: when an upload began, and which uploads are still arriving.

An upload begins when its sender has been authenticated, before its body is read. That time decides whether it
is in time. The body may arrive until the grace period is over, and everything that happens at a deadline
waits for that long. A retry with the same idempotency key continues the unanswered attempt: the earlier
request may still be running, may have lost its connection or its process, or may have been refused for lack
of capacity.
"""

from datetime import timedelta
from uuid import UUID

from sqlalchemy import and_, func, select, update
from sqlalchemy.orm import Session

from anoncup.errors import Conflict
from anoncup.messages import CodedMessage
from app.competitions import phases
from app.competitions.phases import PhaseStatus
from app.config import get_settings
from app.core.db.models import Round, Team
from app.submissions import quota
from app.submissions.models import Attempt


def begin(
    session: Session, round_: Round, team: Team, user_id: UUID, *, phase: str, key: str | None
) -> Attempt:
    """Count an upload before it is read, or continue the unanswered attempt with its key.

    Competition and team must be locked. Raises Conflict if the phase is not open, TooManyRequests if a cap is
    used up.
    """
    status = phases.get_status(session, round_)
    attempt = find_unfinished(session, round_, team, phase, key)
    if attempt is None or not _is_in_grace_period(attempt, status):
        status.require_open(phase)
        attempt = attempt or Attempt(
            round_id=round_.id, team_id=team.id, user_id=user_id, phase=phase, key=key, senders=0
        )
        attempt.started_at, attempt.counts = status.now, False
    if not attempt.counts:
        quota.require_remaining(quota.load_caps(session, round_, team.id, phase, status.now), status.now)
        attempt.counts = True
    attempt.senders += 1
    session.add(attempt)
    session.flush()
    return attempt


def find_unfinished(
    session: Session, round_: Round, team: Team, phase: str, key: str | None
) -> Attempt | None:
    """Return the locked, unanswered attempt that a retry with ``key`` continues, or None."""
    if key is None:
        return None
    conditions = (Attempt.team_id == team.id, Attempt.round_id == round_.id, Attempt.phase == phase)
    query = select(Attempt).where(*conditions, Attempt.key == key, Attempt.ended_at.is_(None))
    return session.scalars(query.with_for_update()).one_or_none()


def has_ended(session: Session, attempt: Attempt) -> bool:
    """Return whether the attempt has been answered meanwhile, by a request with the same key."""
    return session.scalar(select(Attempt.ended_at).where(Attempt.id == attempt.id)) is not None


def end(session: Session, attempt: Attempt, *, counts: bool = True) -> None:
    """Mark an attempt as answered, once; a later retry is a new attempt. It counts only with ``counts``."""
    query = update(Attempt).where(Attempt.id == attempt.id, Attempt.ended_at.is_(None))
    session.execute(query.values(ended_at=func.clock_timestamp(), counts=counts))


def abandon(session: Session, attempt: Attempt, *, counts: bool) -> None:
    """Record that a request ended without a result. Its sender may retry it with the same key.

    The time of the beginning stays valid for the grace period. Without a key, a retry cannot be recognized,
    so that the attempt ends. Unless ``counts``, the request does not count towards the quota; the attempt
    still does while another request shares it.
    """
    query = update(Attempt).where(Attempt.id == attempt.id, Attempt.ended_at.is_(None))
    ended_at = func.clock_timestamp() if attempt.key is None else None
    still_counts = Attempt.counts if counts else and_(Attempt.counts, Attempt.senders > 1)
    session.execute(query.values(senders=Attempt.senders - 1, counts=still_counts, ended_at=ended_at))


def record_failure(session: Session, attempt: Attempt, failure: CodedMessage, traceback: str) -> None:
    """Record for organizers that the code of a package could not read an upload."""
    query = update(Attempt).where(Attempt.id == attempt.id)
    session.execute(query.values(failure=failure, traceback=traceback))


def get_grace_period() -> timedelta:
    return timedelta(seconds=get_settings().grace_s)


def _is_in_grace_period(attempt: Attempt, status: PhaseStatus) -> bool:
    return status.now <= attempt.started_at + get_grace_period()


def require_in_time(round_: Round, attempt: Attempt, status: PhaseStatus) -> None:
    """Raise Conflict if an upload came too late to be accepted. The competition must be locked.

    Uploads that began in time are accepted even if the phase has ended or been paused meanwhile. After the
    grace period, an upload is treated as if it began now.
    """
    if phases.get_fixed_at(round_, attempt.phase) is None and _is_in_grace_period(attempt, status):
        return
    if not status.is_open(attempt.phase):
        raise Conflict(
            "the upload began in time, but took longer than {seconds} s; meanwhile the phase ended",
            code="too_late",
            seconds=get_grace_period().seconds,
        )


def has_pending_uploads(session: Session, round_: Round, phase: str) -> bool:
    """Return whether uploads that began in ``phase`` may still be accepted.

    The grace period limits the wait for uploads that are never finished.
    """
    query = (
        select(Attempt.id)
        .where(Attempt.round_id == round_.id, Attempt.phase == phase, Attempt.ended_at.is_(None))
        .where(Attempt.started_at >= func.clock_timestamp() - get_grace_period())
    )
    return bool(session.scalar(select(query.exists())))
