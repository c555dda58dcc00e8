"""Deliveries of the outbox: claim those that are due, and record the outcomes of attempts.

A claim moves the next attempt into the future. If its process is killed, the event is sent again then:
receivers get each event at least once.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

from sqlalchemy import ColumnElement, delete, func, select, update
from sqlalchemy.orm import InstrumentedAttribute, Session

from app.core import outbox
from app.core.db.models import Delivery
from app.core.db.transaction import read_clock

DELIVERED = "delivered"
MAX_ATTEMPTS = 10
"""Attempts within about 15 hours."""
_LEASE = timedelta(minutes=10)
"""Time after which an event is sent again whose process was killed; longer than a slow server may take."""
_FIRST_DELAY, _MAX_DELAY = timedelta(seconds=10), timedelta(hours=6)
_KEPT = timedelta(days=7)
_HELD_UNTIL = datetime(9999, 1, 1, tzinfo=UTC)
"""Next attempt at deliveries that a restore has held back."""


@dataclass(frozen=True, slots=True)
class ClaimedDelivery:
    """A delivery; ``attempt`` entitles its process to record the outcome."""

    delivery_id: UUID
    attempt: int


def claim_next(session: Session, receiver_id: InstrumentedAttribute[UUID | None]) -> ClaimedDelivery | None:
    """Claim the next delivery to receivers of a kind: first what a person waits for, then the oldest."""
    now = read_clock(session)
    is_awaited = Delivery.event.in_((outbox.CONFIRMATION, outbox.PASSWORD_LINK))
    delivery = session.scalar(
        select(Delivery)
        .where(is_waiting(now), receiver_id.is_not(None))
        .order_by(is_awaited.desc(), Delivery.next_attempt_at)
        .limit(1)
        .with_for_update(skip_locked=True)
    )
    if delivery is None:
        return None
    delivery.attempt += 1
    delivery.next_attempt_at = now + _LEASE
    return ClaimedDelivery(delivery.id, delivery.attempt)


def is_waiting(now: datetime) -> ColumnElement[bool]:
    return Delivery.finished_at.is_(None) & (Delivery.next_attempt_at <= now)


def hold_waiting(session: Session) -> int:
    """Hold back what is waiting, after a restore, until ``release_held``; return the number."""
    is_unfinished = Delivery.finished_at.is_(None)
    held = session.scalars(
        update(Delivery).where(is_unfinished).values(next_attempt_at=_HELD_UNTIL).returning(Delivery.id)
    )
    return len(held.all())


def release_held(session: Session) -> int:
    """Let what a restore has held back be sent; return the number."""
    is_held = Delivery.finished_at.is_(None), Delivery.next_attempt_at == _HELD_UNTIL
    due_now = {"next_attempt_at": func.clock_timestamp()}
    return len(session.scalars(update(Delivery).where(*is_held).values(due_now).returning(Delivery.id)).all())


def record_attempt(session: Session, claimed: ClaimedDelivery, *, is_final: bool) -> Delivery | None:
    """End a delivery, or set the time of its next attempt, later after each one.

    Return None if its receiver is deleted, or another process has sent it again.
    """
    delivery = session.get(Delivery, claimed.delivery_id, with_for_update=True)
    if delivery is None or delivery.attempt != claimed.attempt or delivery.finished_at is not None:
        return None
    now = read_clock(session)
    if is_final or delivery.attempt >= MAX_ATTEMPTS:
        delivery.finished_at = now
    else:
        delivery.next_attempt_at = now + min(_FIRST_DELAY * 3 ** (delivery.attempt - 1), _MAX_DELAY)
    return delivery


def remove_old(session: Session) -> None:
    """Delete deliveries that ended long ago, and older ones whose text could never be written."""
    last_change = func.coalesce(Delivery.finished_at, Delivery.created_at)
    session.execute(delete(Delivery).where(last_change < func.clock_timestamp() - _KEPT))
