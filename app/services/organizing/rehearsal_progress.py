"""Progress of a rehearsal: how much of each step is done, and when it was done."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, and_, func, or_, select
from sqlalchemy.orm import Session, joinedload

from app.db.models import Competition, Evaluation, Guess, RehearsalMove, State, Target
from app.services.contests.phases import ANONYMIZATION, REIDENTIFICATION
from app.services.jobs.leases import UNFINISHED

_STALLED_AFTER = timedelta(minutes=2)
"""If moves are overdue for longer and none was made meanwhile, the rehearsal is stalled."""
_NOTHING_TO_DO = and_(RehearsalMove.state == State.CANCELLED, RehearsalMove.failure.is_(None))
"""Moves that were dropped because there was nothing to do, not because they came too late."""


@dataclass(frozen=True, slots=True)
class RehearsalStepProgress:
    """Progress of one step; ``total`` is None while it is unknown.

    ``first_at``, ``last_at``: completion times of the first and the latest item.
    """

    name: str
    completed: int
    total: int | None
    first_at: datetime | None = None
    last_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class RehearsalProgress:
    """Progress of a whole rehearsal.

    ``failed``: moves that could not be made. ``late``: number of moves that missed their phase.
    ``is_stalled``: moves are overdue, and no worker makes them.
    """

    steps: Sequence[RehearsalStepProgress]
    failed: Sequence[RehearsalMove]
    late: int
    is_stalled: bool


def load_progress(session: Session, competition: Competition) -> RehearsalProgress:
    """Load the progress of a rehearsal without checking permissions."""
    targets = _fetch_count(session, select(func.count()).where(Target.competition_id == competition.id))
    steps = [
        _count_moves(session, competition.id, "releases", ANONYMIZATION),
        _count_jobs(
            session, "scores", Evaluation, Evaluation.competition_id == competition.id, Evaluation.current
        ),
        _build_instant_step("finals", targets, competition.frozen_at),
        _build_instant_step("targets", targets, competition.published_at),
        _count_moves(session, competition.id, "guesses", REIDENTIFICATION),
        _count_jobs(session, "judged", Guess, Guess.competition_id == competition.id),
        _build_instant_step("reveal", targets, competition.revealed_at),
    ]
    failed_query = select(RehearsalMove).where(
        RehearsalMove.competition_id == competition.id, RehearsalMove.state == State.ERROR
    )
    ordered_query = failed_query.order_by(RehearsalMove.finished_at, RehearsalMove.id)
    late_query = select(func.count()).where(
        RehearsalMove.competition_id == competition.id,
        RehearsalMove.state == State.CANCELLED,
        ~_NOTHING_TO_DO,
    )
    failed_moves = session.scalars(ordered_query.options(joinedload(RehearsalMove.team))).all()
    return RehearsalProgress(
        steps, failed_moves, _fetch_count(session, late_query), is_stalled(session, competition)
    )


def is_stalled(session: Session, competition: Competition) -> bool:
    """Whether moves are overdue because no report worker with the private key runs; never in a pause."""
    in_competition = RehearsalMove.competition_id == competition.id
    is_overdue = func.clock_timestamp() - _STALLED_AFTER > RehearsalMove.not_before
    overdue_query = select(func.count()).where(
        in_competition, RehearsalMove.state == State.QUEUED, is_overdue
    )
    active_query = select(func.count()).where(
        in_competition, or_(RehearsalMove.state == State.SCORING, _is_recently_active())
    )
    return (
        competition.paused_at is None
        and bool(_fetch_count(session, overdue_query))
        and not _fetch_count(session, active_query)
    )


def _is_recently_active() -> ColumnElement[bool]:
    """Build the condition that a move began or ended recently: due moves may just be waiting their turn."""
    last_activity = func.coalesce(RehearsalMove.finished_at, RehearsalMove.started_at)
    return last_activity > func.clock_timestamp() - _STALLED_AFTER


def _fetch_count(session: Session, query: Any) -> int:
    return int(session.scalars(query).one())


def _build_instant_step(name: str, target_count: int, happened_at: datetime | None) -> RehearsalStepProgress:
    """Return a step that concerns all targets at one moment."""
    return RehearsalStepProgress(
        name,
        target_count if happened_at else 0,
        target_count if happened_at else None,
        happened_at,
        happened_at,
    )


def _count_moves(session: Session, competition_id: UUID, name: str, phase: str) -> RehearsalStepProgress:
    """Count the moves made, out of all moves except those without a target left."""
    conditions = RehearsalMove.competition_id == competition_id, RehearsalMove.phase == phase, ~_NOTHING_TO_DO
    return _count_step(session, name, RehearsalMove, RehearsalMove.state == State.SCORED, *conditions)


def _count_jobs(session: Session, name: str, kind: Any, *conditions: Any) -> RehearsalStepProgress:
    """Count the finished jobs, out of all jobs."""
    return _count_step(session, name, kind, kind.state.not_in(UNFINISHED), *conditions)


def _count_step(
    session: Session, name: str, kind: Any, is_done: ColumnElement[bool], *conditions: Any
) -> RehearsalStepProgress:
    times = (func.min(kind.finished_at).filter(is_done), func.max(kind.finished_at).filter(is_done))
    query = select(func.count().filter(is_done), func.count(), *times).select_from(kind).where(*conditions)
    completed, total, first_at, last_at = session.execute(query).one()
    return RehearsalStepProgress(name, completed, total or None, first_at, last_at)
