"""Scoring progress of submissions, and who may follow it. One query serves many submissions."""

from collections.abc import Collection
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import (
    ColumnElement,
    Row,
    Select,
    Uuid,
    and_,
    any_,
    column,
    exists,
    or_,
    select,
    values,
)
from sqlalchemy.orm import Session

from anoncup.schemas.roles import Role
from app.db.models import Evaluation, Member, Organizer, Round, State, Submission, Token, User
from app.services.accounts import tokens
from app.services.accounts.principal import Principal
from app.services.jobs import fairness
from app.services.submissions import submissions

_TERMINAL_STATES = frozenset({State.SCORED, State.REJECTED, State.ERROR, State.CANCELLED})


@dataclass(frozen=True, slots=True)
class EvaluationProgress:
    """Scoring progress of one submission.

    ``queue_position``: number of evaluations that start earlier if nothing more is submitted
    (``fairness.build_claim_order``); None once scoring has begun.
    """

    submission_id: UUID
    evaluation_id: UUID
    state: State
    step: int
    steps: int
    step_name: str
    attempt: int
    queue_position: int | None

    @property
    def has_ended(self) -> bool:
        return self.state in _TERMINAL_STATES


@dataclass(frozen=True, slots=True)
class Follower:
    """A token whose owner follows the progress of a submission."""

    token_id: UUID
    submission_id: UUID


def load_progress(session: Session, principal: Principal, submission_id: UUID) -> EvaluationProgress:
    """Return the progress of a submission; raises NotFound if the person may not see it."""
    submission = submissions.find_visible(session, principal, submission_id)
    return load_many(session, {submission.id})[submission.id]


def load_many(session: Session, submission_ids: Collection[UUID]) -> dict[UUID, EvaluationProgress]:
    """Return the progress by submission, in one query."""
    rows = session.execute(_select_progress().where(Evaluation.submission_id.in_(submission_ids)))
    return {row.submission_id: _parse_row(row) for row in rows}


def _select_progress() -> Select[UUID, UUID, str, int, int, str, int, int | None]:
    queue_order = fairness.build_claim_order(Evaluation)
    return (
        select(
            Evaluation.submission_id,
            Evaluation.id.label("evaluation_id"),
            Evaluation.state,
            Evaluation.step,
            Evaluation.steps,
            Evaluation.step_name,
            Evaluation.attempt,
            queue_order.c.place.label("queue_position"),
        )
        .outerjoin(queue_order, and_(queue_order.c.id == Evaluation.id, Evaluation.state == State.QUEUED))
        .where(Evaluation.current)
    )


def _parse_row(row: Row[UUID, UUID, str, int, int, str, int, int | None]) -> EvaluationProgress:
    fields = row._asdict()
    return EvaluationProgress(**fields | {"state": State(fields["state"])})


def filter_allowed(session: Session, followers: Collection[Follower]) -> set[Follower]:
    """Return the followers with a valid token whose owners may still see the submission.

    This is the rule of ``submissions.find_visible`` in one query.
    """
    requested = values(column("token_id", Uuid), column("submission_id", Uuid), name="requested").data(
        [(follower.token_id, follower.submission_id) for follower in followers]
    )
    is_team_member = exists().where(Member.user_id == Token.user_id, Member.team_id == Submission.team_id)
    query = (
        select(Token.id, Submission.id)
        .join(requested, requested.c.token_id == Token.id)
        .join(Submission, requested.c.submission_id == Submission.id)
        .join(Round, Round.id == Submission.round_id)
        .join(User, User.id == Token.user_id)
        .where(tokens.is_valid(), any_(Token.scopes) == "read", Round.removed_at.is_(None))
        .where(or_(is_team_member, _is_in_charge()))
    )
    return {Follower(*row) for row in session.execute(query)}


def _is_in_charge() -> ColumnElement[bool]:
    """Build the condition that the token's owner organizes the competition."""
    is_organizer = exists().where(
        and_(Organizer.user_id == Token.user_id, Organizer.competition_id == Round.competition_id)
    )
    return or_(User.role == Role.ADMINISTRATOR, is_organizer)
