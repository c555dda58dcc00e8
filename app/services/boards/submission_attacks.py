"""What other teams' guesses found in one submission, as its reader may see it in the matrix."""

from dataclasses import dataclass
from uuid import UUID

from sqlalchemy.orm import Session

from anoncup.schemas import Cell
from app.services.boards import best_guesses, effective_evaluations, matrix
from app.services.contests.visibility import Sight


@dataclass(frozen=True, slots=True)
class AttackOn:
    """The best guess of a team on a target of ``rows`` individuals."""

    team: str
    cell: Cell
    rows: int


def attacks_on(session: Session, sight: Sight, submission_id: UUID) -> list[AttackOn]:
    """Who found most first, equal ones by name; nothing of what is no target, or while guesses are hidden."""
    contest, view = sight.contest, sight.view
    if not view.finals_only:
        return []
    targets = best_guesses.attacked(session, contest.row, view)
    target = next((one for one in targets if one.finished.submission_id == submission_id), None)
    if target is None:
        return []
    rules = effective_evaluations.rules(session, contest, view.as_of)
    rows = matrix.teams_rows(session, contest.row, view, rules, [target])
    found = [
        AttackOn(row.attacker, cell, target.rows) for row in rows for cell in row.cells if cell is not None
    ]
    return sorted(found, key=lambda one: -one.cell.rate)
