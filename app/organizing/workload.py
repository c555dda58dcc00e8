"""Background jobs of a competition: how many wait and run, and whether workers are alive."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeAlias
from uuid import UUID

from sqlalchemy import Select, cast, exists, func, literal, select, union_all
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Session, joinedload, undefer
from sqlalchemy.sql.base import ExecutableOption

from anoncup.messages import CodedMessage, Message
from app.core.db.models import Evaluation, Guess, Rejudgement, State, Submission, Team, ThresholdReport
from app.jobs import health
from app.jobs.fairness import is_in_present_round
from app.jobs.leases import UNFINISHED
from app.submissions.models import Attempt

_JOB_MODELS = (Evaluation, Guess, Rejudgement, ThresholdReport)
_Job: TypeAlias = Evaluation | Guess | Rejudgement | ThresholdReport
_LOAD_SENDERS: dict[type[_Job], tuple[ExecutableOption, ...]] = {
    Evaluation: (
        joinedload(Evaluation.submission).options(joinedload(Submission.team), undefer(Submission.number)),
    ),
    Guess: (joinedload(Guess.team), joinedload(Guess.target)),
    Rejudgement: (joinedload(Rejudgement.guess).options(joinedload(Guess.team), joinedload(Guess.target)),),
    ThresholdReport: (),
}
"""Options that load what a job was sent for, and by which team."""
MAX_FAILURES = 20
DUTIES = {
    "evaluations": "scores",
    "guesses": "guesses",
    "rejudgements": "guesses",
    "threshold_reports": "reports",
}
"""The duty of a worker, as it reports it, that each kind of job needs."""


@dataclass(frozen=True, slots=True)
class Workload:
    """Numbers of jobs by kind, and ages by the database's clock, None if there is nothing to measure.

    ``is_busy``: a worker is running a job, possibly of another competition.
    """

    waiting: dict[str, int]
    scoring: dict[str, int]
    oldest_waiting: timedelta | None
    last_sweep_s: float | None
    is_busy: bool


@dataclass(frozen=True, slots=True)
class WaitingReason:
    """The reason why ``count`` jobs of a kind wait."""

    kind: str
    message: Message
    count: int


def measure(session: Session, round_id: UUID) -> Workload:
    """Measure the workload of a round."""
    jobs = union_all(*(_select_unfinished(model, round_id) for model in _JOB_MODELS)).subquery()
    age = func.max(func.clock_timestamp() - jobs.c.created_at)
    counts = session.execute(
        select(jobs.c.kind, jobs.c.state, func.count(), age).group_by(jobs.c.kind, jobs.c.state)
    ).all()
    waiting = [(kind, count, oldest) for kind, state, count, oldest in counts if state == State.QUEUED]
    return Workload(
        waiting=dict.fromkeys(DUTIES, 0) | {kind: count for kind, count, _ in waiting},
        scoring=dict.fromkeys(DUTIES, 0)
        | {kind: count for kind, state, count, _ in counts if state == State.SCORING},
        oldest_waiting=max((oldest for *_, oldest in waiting), default=None),
        last_sweep_s=health.load_heartbeat_ages(session).get(health.SWEEP_TASK),
        is_busy=any(
            session.scalar(select(exists().where(model.state == State.SCORING, is_in_present_round(model))))
            for model in _JOB_MODELS
        ),
    )


def list_waiting_reasons(session: Session, round_id: UUID) -> list[WaitingReason]:
    """Return why jobs wait that a worker has tried, the most frequent reasons of each kind first."""
    reasons: list[WaitingReason] = []
    for model in _JOB_MODELS:
        failure = cast(model.failure, JSONB).label("failure")
        query = select(failure, func.count().label("count")).group_by(failure).order_by(func.count().desc())
        query = query.where(
            model.round_id == round_id, model.state == State.QUEUED, model.failure.is_not(None)
        )
        for content, count in session.execute(query.limit(MAX_FAILURES)):
            message = CodedMessage.from_json(content).message
            reasons.append(WaitingReason(model.__tablename__, message, count))
    return reasons


def list_failures(session: Session, round_id: UUID) -> list[_Job]:
    """Return the latest jobs that ended in ERROR with a traceback, newest first, with their teams."""
    failures: list[_Job] = []
    for model in _JOB_MODELS:
        query = select(model).where(model.round_id == round_id, model.traceback.is_not(None))
        newest = query.options(*_LOAD_SENDERS[model]).order_by(model.finished_at.desc()).limit(MAX_FAILURES)
        failures += session.scalars(newest)
    return sorted(failures, key=lambda job: job.finished_at or job.created_at, reverse=True)[:MAX_FAILURES]


def list_upload_failures(session: Session, round_id: UUID) -> list[tuple[Attempt, str]]:
    """Return the latest uploads that the code of a package could not read, with the names of their teams."""
    query = select(Attempt, Team.name).join(Team, Team.id == Attempt.team_id)
    query = query.where(Attempt.round_id == round_id, Attempt.failure.is_not(None))
    newest = query.order_by(Attempt.started_at.desc()).limit(MAX_FAILURES)
    return [(attempt, name) for attempt, name in session.execute(newest)]


def _select_unfinished(model: type[_Job], round_id: UUID) -> Select[str, State, datetime]:
    """Select kind, state and creation time of the competition's unfinished jobs."""
    columns = select(literal(model.__tablename__).label("kind"), model.state, model.created_at)
    return columns.where(model.round_id == round_id, model.state.in_(UNFINISHED))
