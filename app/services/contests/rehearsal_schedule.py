"""Due times of rehearsal moves: each move is due after a fixed share of its phase."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from anoncup.rules.settings import Phase
from app.db.models import Competition, RehearsalMove, State
from app.services.contests import phases


def reschedule_moves(session: Session, competition: Competition) -> None:
    """Recompute the due times of queued moves after a change of phases; no effect outside rehearsals."""
    if competition.rehearsal_of is None:
        return
    phase_by_name: dict[str, Phase] = {
        phase.name: phase for phase in phases.get_timetable(competition).phases
    }
    queued_moves = select(RehearsalMove).where(
        RehearsalMove.competition_id == competition.id, RehearsalMove.state == State.QUEUED
    )
    for move in session.scalars(queued_moves.with_for_update()):
        if (phase := phase_by_name.get(move.phase)) is not None:
            move.not_before = phase.start + move.share * (phase.end - phase.start)
