"""How far the scoring of submissions is, and who may still follow it: for many at once."""

from collections.abc import Collection
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import Exists, Row, Select, Uuid, and_, any_, column, exists, func, or_, select, values
from sqlalchemy.orm import Session

from anoncup.schemas.roles import Role
from app.db.models import Evaluation, Member, Organizer, State, Submission, Token, User
from app.services.accounts.accounts import Principal
from app.services.jobs import fairness
from app.services.submissions import submissions

LAST_STATES = frozenset({State.SCORED, State.REJECTED, State.ERROR, State.CANCELLED})


@dataclass(frozen=True, slots=True)
class Progress:
    """Where the scoring of one submission stands; ``queue_position``: how many are
    begun before it if nothing more is handed in (``fairness.shown_order``)."""

    submission_id: UUID
    evaluation_id: UUID
    state: State
    step: int
    steps: int
    step_name: str
    attempt: int
    queue_position: int | None

    @property
    def ended(self) -> bool:
        return self.state in LAST_STATES


@dataclass(frozen=True, slots=True)
class Follower:
    """A token that follows a submission."""

    token_id: UUID
    submission_id: UUID


def visible(session: Session, principal: Principal, submission_id: UUID) -> Progress:
    """Of one submission, to whom it is visible; to others it does not exist."""
    found = submissions.visible(session, principal, submission_id)
    return of_submissions(session, {found.id})[found.id]


def of_submissions(session: Session, identifiers: Collection[UUID]) -> dict[UUID, Progress]:
    """All of them by one query, however many."""
    rows = session.execute(positions().where(Evaluation.submission_id.in_(identifiers)))
    return {row.submission_id: read(row) for row in rows}


def positions() -> Select[UUID, UUID, str, int, int, str, int, int | None]:
    ahead = fairness.shown_order(Evaluation)
    return (
        select(
            Evaluation.submission_id,
            Evaluation.id.label("evaluation_id"),
            Evaluation.state,
            Evaluation.step,
            Evaluation.steps,
            Evaluation.step_name,
            Evaluation.attempt,
            ahead.c.place.label("queue_position"),
        )
        .outerjoin(ahead, and_(ahead.c.id == Evaluation.id, Evaluation.state == State.QUEUED))
        .where(Evaluation.current)
    )


def read(row: Row[UUID, UUID, str, int, int, str, int, int | None]) -> Progress:
    fields = row._asdict()
    return Progress(**fields | {"state": State(fields["state"])})


def still_allowed(session: Session, followers: Collection[Follower]) -> set[Follower]:
    """Those whose token still reads and whose owner may still see the submission: the rule of
    ``submissions.visible``, for many by one query."""
    asked = values(column("token_id", Uuid), column("submission_id", Uuid), name="asked").data(
        [(one.token_id, one.submission_id) for one in followers]
    )
    query = (
        select(Token.id, Submission.id)
        .join(asked, asked.c.token_id == Token.id)
        .join(Submission, asked.c.submission_id == Submission.id)
        .join(User, User.id == Token.user_id)
        .where(Token.revoked_at.is_(None), Token.expires_at > func.clock_timestamp())
        .where(any_(Token.scopes) == "read")
        .where(or_(User.role == Role.ADMINISTRATOR, in_the_team(), organizes()))
    )
    return {Follower(*row) for row in session.execute(query)}


def in_the_team() -> Exists:
    return exists().where(and_(Member.user_id == Token.user_id, Member.team_id == Submission.team_id))


def organizes() -> Exists:
    return exists().where(
        and_(Organizer.user_id == Token.user_id, Organizer.competition_id == Submission.competition_id)
    )
