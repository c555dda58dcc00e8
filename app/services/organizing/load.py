"""How the background work of a competition stands: what waits, what runs, whether anybody looks after it."""

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
class Load:
    """How much of each kind of work there is, and ages by the database's clock; None: of nothing. ``busy``:
    somebody is at work, be it for another competition."""

    waiting: dict[str, int]
    scoring: dict[str, int]
    oldest_waiting: timedelta | None
    last_sweep_s: float | None
    busy: bool


def of_competition(session: Session, principal: Principal, slug: str) -> Load:
    """For the competition's organizers."""
    contest = competitions.for_organizer(session, principal, slug)
    work = unfinished(contest.id).subquery()
    age = func.max(func.clock_timestamp() - work.c.created_at)
    counted = session.execute(
        select(work.c.kind, work.c.state, func.count(), age).group_by(work.c.kind, work.c.state)
    ).all()
    waiting = [(kind, count, oldest) for kind, state, count, oldest in counted if state == State.QUEUED]
    return Load(
        waiting=dict.fromkeys(KINDS, 0) | {kind: count for kind, count, _ in waiting},
        scoring=dict.fromkeys(KINDS, 0)
        | {kind: count for kind, state, count, _ in counted if state == State.SCORING},
        oldest_waiting=max((oldest for *_, oldest in waiting), default=None),
        last_sweep_s=health.heartbeats(session).get(health.SWEEP),
        busy=any(session.scalar(select(exists().where(one.state == State.SCORING))) for one in WORK),
    )


KINDS = ("evaluations", "guesses", "threshold_reports")
WORK = (Evaluation, Guess, ThresholdReport)


def unfinished(competition_id: UUID) -> CompoundSelect[Any]:
    """Kind, state and time of all work of the competition that has not ended."""
    evaluations = work_of(Evaluation, "evaluations").join(Evaluation.submission)
    return union_all(
        evaluations.where(Submission.competition_id == competition_id),
        work_of(Guess, "guesses").where(Guess.competition_id == competition_id),
        work_of(ThresholdReport, "threshold_reports").where(ThresholdReport.competition_id == competition_id),
    )


def work_of(kind: type[Evaluation | Guess | ThresholdReport], name: str) -> Select[str, State, datetime]:
    columns = select(literal(name).label("kind"), kind.state, kind.created_at)
    return columns.where(kind.state.in_([State.QUEUED, State.SCORING]))
