"""Progress of a rehearsal: how much of each step is done, and when it was done."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.orm import Session, joinedload

from app.db.models import Clarification, Evaluation, Guess, Round, Target
from app.services.contests import phases
from app.services.contests.contest import Contest, get_timetable
from app.services.contests.phases import ANONYMIZATION, REIDENTIFICATION, PhaseStatus
from app.services.jobs.leases import UNFINISHED
from app.services.organizing import rehearsal_moves, rehearsals
from app.services.organizing.rehearsal_moves import Move

_STALLED_AFTER = timedelta(minutes=2)
"""If moves are overdue for longer and none was made meanwhile, the rehearsal is stalled."""


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

    ``failed``: questions of sample teams, each about a move that could not be made. ``late``: number of moves
    that missed their phase. ``is_stalled``: moves are overdue, and no worker makes them. ``is_expired``: the
    tokens of its teams expired before its last phase ended.
    """

    steps: Sequence[RehearsalStepProgress]
    failed: Sequence[Clarification]
    late: int
    is_stalled: bool
    is_expired: bool


def load_progress(session: Session, round_: Round) -> RehearsalProgress:
    """Load the progress of a rehearsal without checking permissions."""
    moves: dict[str, list[Move]] = {
        phase: rehearsal_moves.load_moves(session, Contest(round_), phase)
        for phase in (ANONYMIZATION, REIDENTIFICATION)
    }
    questions = _load_questions(session, round_.competition_id)
    status = phases.get_status(session, round_)
    late = sum(
        len(_select_unmade(planned, questions))
        for phase, planned in moves.items()
        if phases.has_phase_ended(round_, phase, status.now)
    )
    return RehearsalProgress(
        _load_steps(session, round_, moves),
        questions,
        late,
        _is_stalled(session, round_, status, moves, questions),
        _is_expired(round_, status),
    )


def _load_questions(session: Session, competition_id: UUID) -> Sequence[Clarification]:
    """Load the questions of the sample teams, who ask about failed moves only."""
    query = select(Clarification).where(Clarification.competition_id == competition_id)
    ordered_query = query.order_by(Clarification.asked_at, Clarification.id)
    return session.scalars(ordered_query.options(joinedload(Clarification.team, innerjoin=True))).all()


def _select_unmade(moves: Iterable[Move], questions: Sequence[Clarification]) -> list[Move]:
    """Return the moves that were neither made nor given up."""
    texts_by_team = defaultdict(list)
    for item in questions:
        texts_by_team[item.team_id].append(item.question)
    return [
        move for move in moves if move.sent_at is None and not move.is_given_up(texts_by_team[move.team.id])
    ]


def _load_steps(session: Session, round_: Round, moves: dict[str, list[Move]]) -> list[RehearsalStepProgress]:
    target_count = session.scalars(select(func.count()).where(Target.round_id == round_.id)).one()
    return [
        _count_moves("releases", moves[ANONYMIZATION]),
        _count_jobs(session, "scores", Evaluation, Evaluation.round_id == round_.id, Evaluation.current),
        _build_instant_step("finals", target_count, round_.frozen_at),
        _build_instant_step("targets", target_count, round_.published_at),
        _count_moves("guesses", moves[REIDENTIFICATION]),
        _count_jobs(session, "judged", Guess, Guess.round_id == round_.id),
        _build_instant_step("reveal", target_count, round_.revealed_at),
    ]


def _build_instant_step(name: str, target_count: int, happened_at: datetime | None) -> RehearsalStepProgress:
    """Return a step that concerns all targets at one moment."""
    return RehearsalStepProgress(
        name,
        target_count if happened_at else 0,
        target_count if happened_at else None,
        happened_at,
        happened_at,
    )


def _count_moves(name: str, moves: Sequence[Move]) -> RehearsalStepProgress:
    times = [move.sent_at for move in moves if move.sent_at is not None]
    first_at, last_at = min(times, default=None), max(times, default=None)
    return RehearsalStepProgress(name, len(times), len(moves) or None, first_at, last_at)


def _count_jobs(session: Session, name: str, kind: Any, *conditions: Any) -> RehearsalStepProgress:
    """Count the finished jobs, out of all jobs."""
    is_done = kind.state.not_in(UNFINISHED)
    times = (func.min(kind.finished_at).filter(is_done), func.max(kind.finished_at).filter(is_done))
    query = select(func.count().filter(is_done), func.count(), *times).select_from(kind).where(*conditions)
    completed, total, first_at, last_at = session.execute(query).one()
    return RehearsalStepProgress(name, completed, total or None, first_at, last_at)


def _is_expired(round_: Round, status: PhaseStatus) -> bool:
    names = [phase.name for phase in get_timetable(round_).phases]
    is_over = all(phases.has_phase_ended(round_, name, status.now) for name in names)
    return not is_over and status.now >= round_.competition.created_at + rehearsals.TOKEN_LIFETIME


def _is_stalled(
    session: Session,
    round_: Round,
    status: PhaseStatus,
    moves: dict[str, list[Move]],
    questions: Sequence[Clarification],
) -> bool:
    """Whether moves of the open phase are overdue, none was made lately, and no worker makes one."""
    lately = status.now - _STALLED_AFTER
    open_phases = [phase for phase in get_timetable(round_).phases if status.is_open(phase.name)]
    planned = [move for phase in open_phases for move in moves[phase.name]]
    overdue = [
        move for phase in open_phases for move in rehearsal_moves.select_due(phase, moves[phase.name], lately)
    ]
    times = [*(move.sent_at for move in planned), *(question.asked_at for question in questions)]
    is_active = any(moment is not None and moment > lately for moment in times)
    return (
        bool(_select_unmade(overdue, questions))
        and not is_active
        and rehearsal_moves.try_lock(session, round_.id)
    )
