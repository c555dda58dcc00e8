"""The outbox: events for organizers and e-mail addresses, written in the transaction in which they happen.

A row names its subject by id. The text is made when it is sent (``app.notifications``), from what
its reader may see at that time.
"""

from collections.abc import Sequence
from typing import Literal
from uuid import UUID

from sqlalchemy import ColumnElement, Select, Text, Uuid, cast, exists, func, literal, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from app.core.db.models import Competition, Delivery, EmailAddress, Member, NotificationUrl, Round, Team

PHASE, ANNOUNCEMENT = "phase", "announcement"
"""Events of notification URLs."""
CONFIRMATION, PASSWORD_LINK, DEADLINE = "confirmation", "password_link", "deadline"
"""Events of e-mail addresses, which also get announcements."""

PhaseChange = Literal[
    "started", "paused", "resumed", "moved", "finals_frozen", "targets_published", "closed", "revealed"
]


def add_announcement(session: Session, competition_id: UUID, announcement_id: UUID) -> None:
    _add(session, NotificationUrl, ANNOUNCEMENT, announcement_id, *_is_notified(competition_id))
    participants = select(Member.user_id).where(Member.competition_id == competition_id)
    _add(session, EmailAddress, ANNOUNCEMENT, announcement_id, *_is_subscribed(participants))


def add_deadline(session: Session, round_: Round, phase: str) -> None:
    """Remind the participants of the end of a phase, each once, however often this is called."""
    participants = (
        select(Member.user_id)
        .join(Team, Team.id == Member.team_id)
        .where(Member.competition_id == round_.competition_id, Team.disqualified_at.is_(None))
    )
    key = f"deadline {round_.id} {phase}"
    _add(session, EmailAddress, DEADLINE, round_.id, *_is_subscribed(participants), phase=phase, key=key)


def add_confirmation(session: Session, address_id: UUID) -> None:
    """Ask for the mail that confirms an address."""
    _add(session, EmailAddress, CONFIRMATION, None, EmailAddress.id == address_id)


def add_password_links(session: Session, address: str) -> None:
    """Ask for a password link for each account with this confirmed address, unless one is waiting.

    One statement does it, which takes as long without such an account.
    """
    waiting = select(Delivery.id).where(
        Delivery.email_address_id == EmailAddress.id,
        Delivery.event == PASSWORD_LINK,
        Delivery.finished_at.is_(None),
    )
    is_owner = func.lower(EmailAddress.address) == address.lower(), EmailAddress.confirmed_at.is_not(None)
    _add(session, EmailAddress, PASSWORD_LINK, None, *is_owner, ~waiting.exists())


def add_phase_change(
    session: Session,
    competition_id: UUID,
    round_id: UUID,
    change: PhaseChange,
    *,
    phase: str | None = None,
    key: str | None = None,
) -> None:
    """Record a change of a round. An event with a ``key`` is recorded once, however often this is called."""
    is_receiver = _is_notified(competition_id)
    _add(session, NotificationUrl, PHASE, round_id, *is_receiver, change=change, phase=phase, key=key)


def _is_notified(competition_id: UUID) -> Sequence[ColumnElement[bool]]:
    """Return the conditions of the URLs of a competition; nothing is sent about a draft."""
    published = exists().where(Competition.id == competition_id, Competition.published_at.is_not(None))
    return NotificationUrl.competition_id == competition_id, published


def _is_subscribed(user_ids: Select[UUID]) -> Sequence[ColumnElement[bool]]:
    """Return the conditions of addresses at which these users get mail about competitions."""
    is_confirmed = EmailAddress.confirmed_at.is_not(None)
    return EmailAddress.user_id.in_(user_ids), is_confirmed, EmailAddress.subscribed.is_(True)


def _add(
    session: Session,
    receiver: type[NotificationUrl | EmailAddress],
    event: str,
    subject_id: UUID | None,
    *is_receiver: ColumnElement[bool],
    change: str | None = None,
    phase: str | None = None,
    key: str | None = None,
) -> None:
    """Add a delivery for each of these notification URLs or e-mail addresses."""
    values = {
        "notification_url_id" if receiver is NotificationUrl else "email_address_id": receiver.id,
        "event": literal(event),
        "subject_id": cast(subject_id, Uuid()),
        "change": cast(change, Text),
        "phase": cast(phase, Text),
        "key": cast(key, Text),
    }
    rows = select(func.gen_random_uuid(), *values.values()).where(*is_receiver)
    statement = insert(Delivery).from_select(["id", *values], rows)
    session.execute(statement.on_conflict_do_nothing())
