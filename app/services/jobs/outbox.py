"""The outbox: events that webhooks wait for, written in the transaction in which they happen.

A row names its subject by id. The text is made when it is sent (``app.services.notifications``), from what
its reader may see at that time.
"""

from collections.abc import Sequence
from typing import Literal
from uuid import UUID

from sqlalchemy import (
    ColumnElement,
    SQLColumnExpression,
    Text,
    Uuid,
    any_,
    cast,
    delete,
    func,
    literal,
    select,
)
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from app.db.models import Delivery, Evaluation, Guess, LeasedJob, Submission, Webhook

SCORE, PHASE, ANNOUNCEMENT, TEST = "score", "phase", "announcement", "test"
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
        _add(session, SCORE, literal(job.id, Uuid()), Webhook.team_id == job.team_id)


def add_evaluations(session: Session, evaluation_ids: Sequence[UUID]) -> None:
    """Record that the teams of these evaluations have their scores."""
    is_team_of = (
        Evaluation.id.in_(evaluation_ids),
        Submission.id == Evaluation.submission_id,
        Webhook.team_id == Submission.team_id,
    )
    _add(session, SCORE, Evaluation.id, *is_team_of)


def add_announcement(session: Session, competition_id: UUID, announcement_id: UUID) -> None:
    subject_id = literal(announcement_id, Uuid())
    _add(session, ANNOUNCEMENT, subject_id, Webhook.competition_id == competition_id)


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
    """Return whether any webhook waits for phase changes."""
    listening = select(Webhook.id).where(literal(PHASE) == any_(Webhook.events))
    return session.scalar(listening.limit(1)) is not None


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
        "event": literal(event),
        "subject_id": subject_id,
        "change": cast(change, Text),
        "phase": cast(phase, Text),
        "key": cast(key, Text),
    }
    deliveries = select(func.gen_random_uuid(), Webhook.id, *values.values()).where(
        *is_reader, Webhook.disabled_at.is_(None), literal(event) == any_(Webhook.events)
    )
    statement = insert(Delivery).from_select(["id", "webhook_id", *values], deliveries)
    with session.no_autoflush:  # a verdict and its state are written together
        session.execute(statement.on_conflict_do_nothing())
