"""Background jobs of a competition: how many wait and run, and whether workers are alive."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import CompoundSelect, Select, exists, func, literal, select, union_all
from sqlalchemy.orm import Session

from app.db.models import Evaluation, Guess, State, Submission, ThresholdReport
from app.services.accounts.accounts import Principal
from app.services.contests import competitions
from app.services.jobs import health


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


def measure(session: Session, principal: Principal, slug: str) -> Workload:
    """Measure the workload of a competition for one of its organizers."""
    contest = competitions.find_for_organizer(session, principal, slug)
    jobs = _select_unfinished(contest.id).subquery()
    age = func.max(func.clock_timestamp() - jobs.c.created_at)
    counts = session.execute(
        select(jobs.c.kind, jobs.c.state, func.count(), age).group_by(jobs.c.kind, jobs.c.state)
    ).all()
    waiting = [(kind, count, oldest) for kind, state, count, oldest in counts if state == State.QUEUED]
    return Workload(
        waiting=dict.fromkeys(_JOB_KINDS, 0) | {kind: count for kind, count, _ in waiting},
        scoring=dict.fromkeys(_JOB_KINDS, 0)
        | {kind: count for kind, state, count, _ in counts if state == State.SCORING},
        oldest_waiting=max((oldest for *_, oldest in waiting), default=None),
        last_sweep_s=health.load_heartbeat_ages(session).get(health.SWEEP_TASK),
        is_busy=any(
            session.scalar(select(exists().where(model.state == State.SCORING))) for model in _JOB_MODELS
        ),
    )


_JOB_KINDS = ("evaluations", "guesses", "threshold_reports")
_JOB_MODELS = (Evaluation, Guess, ThresholdReport)


def _select_unfinished(competition_id: UUID) -> CompoundSelect[Any]:
    """Select kind, state and creation time of the competition's unfinished jobs."""
    evaluations = _select_jobs(Evaluation, "evaluations").join(Evaluation.submission)
    return union_all(
        evaluations.where(Submission.competition_id == competition_id),
        _select_jobs(Guess, "guesses").where(Guess.competition_id == competition_id),
        _select_jobs(ThresholdReport, "threshold_reports").where(
            ThresholdReport.competition_id == competition_id
        ),
    )


def _select_jobs(kind: type[Evaluation | Guess | ThresholdReport], name: str) -> Select[str, State, datetime]:
    columns = select(literal(name).label("kind"), kind.state, kind.created_at)
    return columns.where(kind.state.in_([State.QUEUED, State.SCORING]))
