"""Submissions: list and show them, cancel them, and mark them as finals."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, NamedTuple
from uuid import UUID

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session, joinedload, undefer

from anoncup.errors import Conflict, NotFound
from anoncup.messages import Message
from app.accounts import memberships
from app.competitions import competitions, phases
from app.competitions.frame import Frame
from app.core.db.models import Evaluation, Round, State, Submission, Team
from app.core.db.paging import Position, fetch_newest_first
from app.core.identity.principal import Principal
from app.jobs import fairness, leases
from app.submissions.uploads import require_qualified

MARKABLE_STATES = (State.QUEUED, State.SCORING, State.SCORED)
"""States of the evaluations of submissions that count as finals."""
_MAX_POLLING_INTERVAL_S = 30


class SubmissionSummary(NamedTuple):
    """A submission without the measures; ``overall`` is None without a verdict.

    ``final``: marked by the team. ``is_disqualified``: this submission, not its team, is disqualified.
    """

    id: UUID
    received_at: datetime
    state: State
    overall: float | None
    final: bool
    is_disqualified: bool

    @property
    def is_chosen_final(self) -> bool:
        """Whether the submission is marked as a final and in a state in which finals count."""
        return self.final and self.state in MARKABLE_STATES


IntakeState = Literal["open", "disqualified", "undated", "upcoming", "paused", "settling", "over"]
"""Whether a team can submit and choose finals (``open``), or the reason why it cannot.

``undated``: the first phase has no start yet. ``upcoming``: it has not started. ``settling``: its deadline
has passed, and uploads that came in time are still being scored. ``over``: its finals are fixed.
"""


@dataclass(frozen=True, slots=True)
class SubmissionLine:
    """A submission in the list.

    ``queue_position`` is the number of submissions before it in the queue, or None once scoring has begun.
    """

    submission: Submission
    queue_position: int | None

    @property
    def evaluation(self) -> Evaluation:
        return self.submission.evaluation

    @property
    def is_unfinished(self) -> bool:
        return self.evaluation.state in leases.UNFINISHED

    @property
    def polling_interval_s(self) -> int:
        return compute_polling_interval(self.queue_position)

    @property
    def can_be_final(self) -> bool:
        """Whether the state of its evaluation allows it to be a final."""
        return self.evaluation.state in MARKABLE_STATES

    @property
    def displayed_state(self) -> str:
        """The state of its evaluation, or ``DISQUALIFIED`` if the submission is disqualified."""
        return "DISQUALIFIED" if self.submission.disqualified_at else str(self.evaluation.state)

    @property
    def can_toggle_final(self) -> bool:
        """Whether its form can change the choice. A disqualified submission can only stop being a final."""
        return self.can_be_final and (self.submission.final or self.submission.disqualified_at is None)


@dataclass(frozen=True, slots=True)
class FinalsChoice:
    """The number of chosen finals and its maximum, and whether the choice is open."""

    intake: IntakeState
    chosen_count: int
    max_count: int

    @property
    def is_open(self) -> bool:
        return self.intake == "open"

    @property
    def is_full(self) -> bool:
        return self.chosen_count >= self.max_count


def list_own(
    session: Session,
    principal: Principal,
    slug: str,
    *,
    cursor: Position | None = None,
    limit: int | None = None,
) -> Sequence[Submission]:
    """Return the submissions of the person's own team, newest first."""
    round_, team = competitions.find_for_member(session, principal, slug)
    query = select_with_details().where(Submission.team_id == team.id, Submission.round_id == round_.id)
    return fetch_newest_first(
        session, query, Submission.received_at, Submission.id, cursor=cursor, limit=limit
    )


def list_summaries(session: Session, principal: Principal, slug: str) -> Sequence[SubmissionSummary]:
    """Return summaries of the submissions of the person's own team, oldest first."""
    _, team = competitions.find_for_member(session, principal, slug)
    query = (
        select(
            Submission.id,
            Submission.received_at,
            Evaluation.state,
            Evaluation.verdict["overall"].as_float(),
            Submission.final,
            Submission.disqualified_at.is_not(None),
        )
        .join(Evaluation, (Evaluation.submission_id == Submission.id) & Evaluation.current)
        .where(Submission.team_id == team.id)
        .order_by(Submission.received_at, Submission.id)
    )
    return [SubmissionSummary(*row) for row in session.execute(query)]


def list_for_organizer(
    session: Session,
    principal: Principal,
    slug: str,
    *,
    team_id: UUID | None = None,
    state: State | None = None,
    only_baselines: bool = False,
    cursor: Position | None = None,
    limit: int | None = None,
) -> Sequence[Submission]:
    """Return the submissions of all teams for an organizer, newest first, optionally filtered."""
    round_ = competitions.find_for_organizer(session, principal, slug)
    query = select_with_details().where(Submission.round_id == round_.id)
    if team_id is not None:
        query = query.where(Submission.team_id == team_id)
    if state is not None:
        query = query.where(Submission.evaluation.has(Evaluation.state == state))
    if only_baselines:
        query = query.where(Submission.team.has(Team.baseline))
    return fetch_newest_first(
        session, query, Submission.received_at, Submission.id, cursor=cursor, limit=limit
    )


def find_visible(session: Session, principal: Principal, submission_id: UUID) -> Submission:
    """Return a submission to its own team or an organizer; raises NotFound for others."""
    principal.require("read")
    submission = session.scalar(select_with_details().where(Submission.id == submission_id))
    if submission is None or not can_see(session, principal, submission):
        raise NotFound("there is no such submission", code="no_such_submission")
    return submission


def find_own(session: Session, principal: Principal, submission_id: UUID) -> Submission:
    """Return a submission that the person may change, as a member of its team; raises NotFound."""
    principal.require("submit")
    submission = find_visible(session, principal, submission_id)
    team = memberships.require_team(session, submission.team.competition_id, principal)
    if team.id != submission.team_id:
        raise NotFound("there is no such submission", code="no_such_submission")
    return submission


def cancel(session: Session, principal: Principal, submission_id: UUID) -> Submission:
    """Cancel a submission that is not scored yet; it no longer counts as valid, but its attempt does."""
    submission = find_own(session, principal, submission_id)
    # The shared lock keeps a rescore from replacing the current evaluation meanwhile.
    session.get_one(Round, submission.round_id, with_for_update={"read": True})
    current = select(Evaluation).where(Evaluation.submission_id == submission_id, Evaluation.current)
    evaluation = session.scalars(current.with_for_update().execution_options(populate_existing=True)).one()
    if evaluation.state not in leases.UNFINISHED:
        raise Conflict("the submission is {state} already", code="finished", state=Message(evaluation.state))
    leases.finish(session, evaluation, State.CANCELLED)
    session.expire(submission, ["evaluation"])
    return find_visible(session, principal, submission_id)


def mark_final(session: Session, principal: Principal, submission_id: UUID, *, final: bool) -> Submission:
    """Mark or unmark a final while the first phase is open, up to the competition's number of finals."""
    submission = find_own(session, principal, submission_id)
    round_ = session.get_one(Round, submission.round_id, with_for_update={"read": True})
    team = session.get_one(Team, submission.team_id, with_for_update=True, populate_existing=True)
    require_qualified(team)
    phases.get_status(session, round_).require_open(phases.ANONYMIZATION)
    if final and not submission.final:
        _require_markable(session, submission, round_.rules.ranking.finals)
    submission.final = final
    return submission


def _require_markable(session: Session, submission: Submission, max_finals: int) -> None:
    if submission.evaluation.state not in MARKABLE_STATES:
        raise Conflict(
            "a submission that ended as {state} cannot be a final",
            code="not_valid",
            state=Message(submission.evaluation.state),
        )
    marked_query = (
        select(func.count())
        .select_from(Submission)
        .where(Submission.team_id == submission.team_id, Submission.round_id == submission.round_id)
        .where(Submission.final, Submission.evaluation.has(Evaluation.state.in_(MARKABLE_STATES)))
    )
    if session.scalars(marked_query).one() >= max_finals:
        raise Conflict(
            "all finals ({most}) are marked already; unmark one first",
            code="too_many_finals",
            most=max_finals,
        )


def get_readable_files(session: Session, submission: Submission) -> dict[str, str]:
    """Return SHA-256 of the release files by name; raises NotFound if the files contain the answer."""
    if session.get_one(Round, submission.round_id).track.target_files.seals_release:
        raise NotFound(
            "the files of this release contain its answer: they are stored sealed, and nobody can "
            "download them",
            code="release_sealed",
        )
    return submission.files


def get_competition_slug(session: Session, submission: Submission) -> str:
    return session.get_one(Round, submission.round_id).address


def can_see(session: Session, principal: Principal, submission: Submission) -> bool:
    """Return whether the person is in its team or an organizer. Nobody sees one of a removed round."""
    if session.get_one(Round, submission.round_id).removed_at is not None:
        return False
    own_team = memberships.find_team(session, submission.team.competition_id, principal)
    if own_team is not None and own_team.id == submission.team_id:
        return True
    return competitions.is_organizer(session, submission.team.competition_id, principal)


def select_with_details() -> Select[Submission]:
    return select(Submission).options(
        undefer(Submission.number),
        joinedload(Submission.team, innerjoin=True),
        joinedload(Submission.evaluation, innerjoin=True),
    )


def load_queue_positions(session: Session, submissions: Sequence[Submission]) -> dict[UUID, int]:
    """Return how many evaluations start earlier if nothing more is submitted, by queued submission."""
    if all(submission.evaluation.state != State.QUEUED for submission in submissions):
        return {}
    order = fairness.build_claim_order(Evaluation)
    query = (
        select(Evaluation.submission_id, order.c.place)
        .join(order, order.c.id == Evaluation.id)
        .where(Evaluation.id.in_([submission.evaluation.id for submission in submissions]))
    )
    return {row.submission_id: row.place for row in session.execute(query)}


def compute_polling_interval(queue_position: int | None) -> int:
    """Return after how many seconds to look again at a submission that is not scored yet."""
    return min(1 + (queue_position or 0), _MAX_POLLING_INTERVAL_S)


def build_lines(session: Session, submissions: Sequence[Submission]) -> list[SubmissionLine]:
    """Return the lines of the given submissions, in the same order."""
    positions = load_queue_positions(session, submissions)
    return [SubmissionLine(submission, positions.get(submission.id)) for submission in submissions]


def summarize_finals(frame: Frame, own_summaries: Sequence[SubmissionSummary]) -> FinalsChoice:
    """Return the number of finals that the team has chosen, and whether it can choose."""
    return FinalsChoice(
        intake=find_intake_state(frame),
        chosen_count=sum(summary.is_chosen_final for summary in own_summaries),
        max_count=frame.rules.ranking.finals,
    )


def find_intake_state(frame: Frame) -> IntakeState:
    """Return whether this person's team can submit releases now, or why it cannot."""
    status = frame.status
    if frame.is_disqualified:
        return "disqualified"
    if status.state in ("draft", "upcoming"):
        return "upcoming" if frame.next_start else "undated"
    if status.state == phases.ANONYMIZATION:
        return "paused" if status.paused else "open"
    return "settling" if status.state == "settling" and frame.round.published_at is None else "over"
