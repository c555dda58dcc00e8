"""Deliveries to webhooks: claim those that are due, build their requests, and record their outcomes.

A claim moves the next attempt into the future. If its process is killed, the event is sent again then, with
the same id: receivers get each event at least once.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import ColumnElement, delete, func, select, update
from sqlalchemy.dialects.postgresql import distinct_on
from sqlalchemy.orm import Session, joinedload, undefer

from anoncup.errors import CompetitionUnavailable
from app.db.models import Competition, Delivery, Round, Webhook
from app.db.now import read_clock
from app.locale.language import load_translator
from app.services.contests import phases
from app.services.contests.contest import get_timetable
from app.services.jobs import outbox
from app.services.notifications.event_content import build_content
from app.services.notifications.payloads import WebhookRequest, build_request

DELIVERED, GONE = "delivered", "gone"
OUTCOMES = (DELIVERED, GONE, "answer", "redirect", "certificate", "address", "timeout", "connection")
"""Outcomes of an attempt; all but the first are failures."""
MAX_ATTEMPTS = 10
"""Attempts within about 15 hours."""
_BATCH = 20
_LEASE = timedelta(minutes=1)
"""Time after which an event is sent again whose process was killed; longer than a request may take."""
_FIRST_DELAY, _MAX_DELAY = timedelta(seconds=10), timedelta(hours=6)
_KEPT = timedelta(days=7)
_START_WINDOW = timedelta(hours=1)
"""A phase that began earlier is not reported any more, such as that of a competition created afterwards."""
_REMINDER_TIME = timedelta(hours=24)
"""Time before the end of a phase at which its participants are reminded."""


@dataclass(frozen=True, slots=True)
class ClaimedDelivery:
    """A delivery; ``attempt`` entitles its process to record the outcome."""

    delivery_id: UUID
    attempt: int


def claim_due(session: Session) -> list[ClaimedDelivery]:
    """Claim due deliveries, at most one of each webhook, so that a slow receiver delays no other."""
    now = read_clock(session)
    is_due = is_waiting(now) & Delivery.webhook_id.is_not(None)
    first_ids = (
        select(Delivery.id)
        .where(is_due)
        .ext(distinct_on(Delivery.webhook_id))
        .order_by(Delivery.webhook_id, Delivery.next_attempt_at)
    )
    rows = session.scalars(
        select(Delivery)
        .where(Delivery.id.in_(first_ids), is_due)
        .order_by(Delivery.next_attempt_at)
        .limit(_BATCH)
        .with_for_update(of=Delivery, skip_locked=True)
    ).all()
    for row in rows:
        row.attempt += 1
        row.next_attempt_at = now + _LEASE
    return [ClaimedDelivery(row.id, row.attempt) for row in rows]


def is_waiting(now: datetime) -> ColumnElement[bool]:
    return Delivery.finished_at.is_(None) & (Delivery.next_attempt_at <= now)


def load_request(session: Session, claimed: ClaimedDelivery) -> WebhookRequest | None:
    """Return the request of a claimed delivery; None if there is nothing to send any more."""
    with_secret = joinedload(Delivery.webhook).options(undefer(Webhook.url), undefer(Webhook.secret))
    delivery = session.get(Delivery, claimed.delivery_id, options=[with_secret])
    if delivery is None:
        return None
    translator = load_translator(delivery.webhook.language)
    competition = session.get_one(Competition, delivery.webhook.competition_id)
    try:
        content = build_content(session, delivery, translator)
    except CompetitionUnavailable:  # nothing can be said about a file that this version cannot read
        return None
    if content is None or competition.removed_at is not None:
        return None
    return build_request(delivery, competition, content, translator, sent_at=read_clock(session))


def record(session: Session, claimed: ClaimedDelivery, outcome: str | None) -> None:
    """Record the outcome of an attempt, None if there was nothing to send.

    After the last failure of a delivery its webhook is disabled.
    """
    delivery = lock_claimed(session, claimed)
    if delivery is None:
        return
    webhook, now = session.get_one(Webhook, delivery.webhook_id), read_clock(session)
    if outcome is not None:
        webhook.attempted_at, webhook.outcome = now, outcome
    if outcome == DELIVERED:
        webhook.disabled_at = None
    if outcome in (DELIVERED, None) or delivery.event == outbox.TEST:
        delivery.finished_at = now
    elif outcome == GONE or delivery.attempt >= MAX_ATTEMPTS:
        _disable(session, webhook)
    else:
        postpone(delivery, now)


def lock_claimed(session: Session, claimed: ClaimedDelivery) -> Delivery | None:
    """Return the locked delivery; None if its receiver is deleted, or another process has sent it again."""
    delivery = session.get(Delivery, claimed.delivery_id, with_for_update=True)
    if delivery is None or delivery.attempt != claimed.attempt or delivery.finished_at is not None:
        return None
    return delivery


def postpone(delivery: Delivery, now: datetime) -> None:
    """Set the time of the next attempt, later after each one."""
    delivery.next_attempt_at = now + min(_FIRST_DELAY * 3 ** (delivery.attempt - 1), _MAX_DELAY)


def _disable(session: Session, webhook: Webhook) -> None:
    """Disable a webhook and give up all that waits for it."""
    webhook.disabled_at = now = read_clock(session)
    waiting = Delivery.webhook_id == webhook.id, Delivery.finished_at.is_(None)
    session.execute(update(Delivery).where(*waiting).values(finished_at=now))


def remove_old(session: Session) -> None:
    """Delete deliveries that ended long ago, and older ones whose request could never be built."""
    last_change = func.coalesce(Delivery.finished_at, Delivery.created_at)
    session.execute(delete(Delivery).where(last_change < func.clock_timestamp() - _KEPT))


def add_phase_events(session: Session) -> None:
    """Record the phases that have begun lately, and those that end soon. Nothing else happens at that time.

    One reminder is sent for each phase, also if its end moves by less than the time that deliveries are kept.
    """
    if not outbox.has_listeners(session):
        return
    now = read_clock(session)
    rounds = select(Round).join(Competition).where(Round.removed_at.is_(None), Round.closed_at.is_(None))
    for round_ in session.scalars(rounds.where(Competition.removed_at.is_(None))):
        try:
            begun_phases = [
                phase
                for phase in get_timetable(round_).phases
                if phases.has_phase_begun(round_, phase.name, now)
            ]
        except CompetitionUnavailable:
            continue
        for phase in begun_phases:
            if now - _START_WINDOW < phase.start:
                outbox.add_phase_change(
                    session,
                    round_.competition_id,
                    round_.id,
                    "started",
                    phase=phase.name,
                    key=f"{round_.id} {phase.name} {phase.start.isoformat()}",
                )
            if round_.paused_at is None and now < phase.end <= now + _REMINDER_TIME:
                outbox.add_deadline(session, round_, phase.name)
