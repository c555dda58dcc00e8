"""When the sample teams of a rehearsal make their moves: at a share of their phase, wherever that moves."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from anoncup.rules.settings import Phase
from app.db.models import Competition, RehearsalMove, State
from app.services.contests import phases


def follow(session: Session, row: Competition) -> None:
    """Move what waits along with the phases; of a competition that is no rehearsal nothing does."""
    if row.rehearses is None:
        return
    windows: dict[str, Phase] = {phase.name: phase for phase in phases.timetable_of(row).phases}
    waiting = select(RehearsalMove).where(
        RehearsalMove.competition_id == row.id, RehearsalMove.state == State.QUEUED
    )
    for move in session.scalars(waiting.with_for_update()):
        if (phase := windows.get(move.phase)) is not None:
            move.not_before = phase.start + move.share * (phase.end - phase.start)
