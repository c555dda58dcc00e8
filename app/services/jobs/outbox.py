"""The outbox: events for webhooks and e-mail addresses, written in the transaction in which they happen.

A row names its subject by id. The text is made when it is sent (``app.services.notifications``), from what
its reader may see at that time.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal
from uuid import UUID

from sqlalchemy import (
    ColumnElement,
    Select,
    SQLColumnExpression,
    Text,
    Uuid,
    any_,
    cast,
    delete,
    func,
    literal,
    null,
    select,
)
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from app.db.models import (
    Delivery,
    EmailAddress,
    Evaluation,
    Guess,
    LeasedJob,
    Member,
    Round,
    Submission,
    Team,
    Webhook,
)

SCORE, PHASE, ANNOUNCEMENT, TEST = "score", "phase", "announcement", "test"
CONFIRMATION, PASSWORD_LINK, DEADLINE = "confirmation", "password_link", "deadline"
"""Events of e-mail addresses, which also get announcements."""
EVENTS = (SCORE, PHASE, ANNOUNCEMENT)
ORGANIZER_EVENTS = (PHASE, ANNOUNCEMENT)
"""Events that webhooks of teams and of organizers may ask for."""

PhaseChange = Literal[
    "started", "paused", "resumed", "moved", "finals_frozen", "targets_published", "closed", "revealed"
]


def add_job_result(session: Session, job: LeasedJob) -> None:
    """Record that a submission or guess has its result. Results of a rescore wait until it is applied."""
    if isinstance(job, Evaluation) and job.current:
        add_evaluations(session, [job.id])
    elif isinstance(job, Guess):
        add_guesses(session, [job.id])


def add_evaluations(session: Session, evaluation_ids: Sequence[UUID]) -> None:
    """Record that the teams of these evaluations have their scores."""
    is_team_of = (
        Evaluation.id.in_(evaluation_ids),
        Submission.id == Evaluation.submission_id,
        Webhook.team_id == Submission.team_id,
    )
    _add(session, SCORE, Evaluation.id, *is_team_of)


def add_guesses(session: Session, guess_ids: Sequence[UUID]) -> None:
    """Record that the teams of these guesses have their results."""
    _add(session, SCORE, Guess.id, Guess.id.in_(guess_ids), Webhook.team_id == Guess.team_id)


def add_announcement(session: Session, competition_id: UUID, announcement_id: UUID) -> None:
    subject_id = literal(announcement_id, Uuid())
    _add(session, ANNOUNCEMENT, subject_id, Webhook.competition_id == competition_id)
    participants = select(Member.user_id).where(Member.competition_id == competition_id)
    _add_mail(session, ANNOUNCEMENT, subject_id, *_is_subscribed(participants))


def add_deadline(session: Session, round_: Round, phase: str) -> None:
    """Remind the participants of the end of a phase, each once, however often this is called."""
    participants = (
        select(Member.user_id)
        .join(Team, Team.id == Member.team_id)
        .where(Member.competition_id == round_.competition_id, Team.disqualified_at.is_(None))
    )
    subject_id, key = literal(round_.id, Uuid()), f"deadline {round_.id} {phase}"
    _add_mail(session, DEADLINE, subject_id, *_is_subscribed(participants), phase=phase, key=key)


def add_confirmation(session: Session, address_id: UUID) -> None:
    """Ask for the mail that confirms an address."""
    _add_mail(session, CONFIRMATION, null(), EmailAddress.id == address_id)


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
    _add_mail(session, PASSWORD_LINK, null(), *is_owner, ~waiting.exists())


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
    is_of_competition = Webhook.competition_id == competition_id
    subject_id = literal(round_id, Uuid())
    _add(session, PHASE, subject_id, is_of_competition, change=change, phase=phase, key=key)


def add_test(session: Session, webhook_id: UUID) -> None:
    """Ask for a test, also of a disabled webhook, unless one is waiting."""
    waiting = select(Delivery.id).where(
        Delivery.webhook_id == webhook_id, Delivery.event == TEST, Delivery.finished_at.is_(None)
    )
    if session.scalar(waiting.limit(1)) is None:
        session.execute(insert(Delivery).values(webhook_id=webhook_id, event=TEST))


def has_listeners(session: Session) -> bool:
    """Return whether any webhook or e-mail address waits for phase changes."""
    webhooks = select(Webhook.id).where(literal(PHASE) == any_(Webhook.events))
    addresses = select(EmailAddress.id).where(EmailAddress.subscribed)
    return bool(session.scalar(select(webhooks.exists() | addresses.exists())))


def remove_webhooks(session: Session, competition_id: UUID, user_id: UUID) -> None:
    """Delete the webhooks that a person has added, who leaves the team or the organizers."""
    session.execute(
        delete(Webhook).where(Webhook.competition_id == competition_id, Webhook.user_id == user_id)
    )


def _add(
    session: Session,
    event: str,
    subject_id: SQLColumnExpression[UUID],
    *is_reader: ColumnElement[bool],
    change: str | None = None,
    phase: str | None = None,
    key: str | None = None,
) -> None:
    """Add a delivery for each enabled webhook of these readers that asks for the event."""
    values = {
        "webhook_id": Webhook.id,
        "event": literal(event),
        "subject_id": subject_id,
        "change": cast(change, Text),
        "phase": cast(phase, Text),
        "key": cast(key, Text),
    }
    is_listening = Webhook.disabled_at.is_(None), literal(event) == any_(Webhook.events)
    _insert(session, values, *is_reader, *is_listening)


def _is_subscribed(user_ids: Select[UUID]) -> Sequence[ColumnElement[bool]]:
    """Return the conditions of addresses at which these users get mail about competitions."""
    is_confirmed = EmailAddress.confirmed_at.is_not(None)
    return EmailAddress.user_id.in_(user_ids), is_confirmed, EmailAddress.subscribed.is_(True)


def _add_mail(
    session: Session,
    event: str,
    subject_id: SQLColumnExpression[UUID | None],
    *is_reader: ColumnElement[bool],
    phase: str | None = None,
    key: str | None = None,
) -> None:
    """Add a delivery for each of these addresses."""
    values = {
        "email_address_id": EmailAddress.id,
        "event": literal(event),
        "subject_id": cast(subject_id, Uuid()),
        "phase": cast(phase, Text),
        "key": cast(key, Text),
    }
    _insert(session, values, *is_reader)


def _insert(
    session: Session, values: Mapping[str, SQLColumnExpression[Any]], *conditions: ColumnElement[bool]
) -> None:
    rows = select(func.gen_random_uuid(), *values.values()).where(*conditions)
    statement = insert(Delivery).from_select(["id", *values], rows)
    with session.no_autoflush:  # a verdict and its state are written together
        session.execute(statement.on_conflict_do_nothing())
