"""Results of other teams' guesses on one submission, as the viewer may see them in the matrix."""

from dataclasses import dataclass
from uuid import UUID

from sqlalchemy.orm import Session

from anoncup.schemas import Cell
from app.services.boards import best_guesses, effective_evaluations, matrix
from app.services.contests.visibility import BoardAccess


@dataclass(frozen=True, slots=True)
class TeamAttack:
    """Best guess of a team on a target of ``rows`` individuals."""

    team: str
    cell: Cell
    rows: int


def list_attacks(session: Session, sight: BoardAccess, submission_id: UUID) -> list[TeamAttack]:
    """Return the attacks on a submission, highest rate first, ties by team name.

    The list is empty if the submission is not a target or while guesses are hidden.
    """
    contest, view = sight.contest, sight.scope
    if not view.finals_only:
        return []
    targets = best_guesses.list_targets(session, contest.row, view)
    target = next(
        (candidate for candidate in targets if candidate.evaluation.submission_id == submission_id), None
    )
    if target is None:
        return []
    rules = effective_evaluations.load_rules(session, contest, view.as_of)
    rows = matrix.list_team_rows(session, contest.row, view, rules, [target])
    attacks = [
        TeamAttack(row.attacker, cell, target.rows) for row in rows for cell in row.cells if cell is not None
    ]
    return sorted(attacks, key=lambda candidate: -candidate.cell.rate)
