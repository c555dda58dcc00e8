"""Results of other teams' attacks on one submission, as far as the viewer sees them in the attack matrix."""

from dataclasses import dataclass
from uuid import UUID

from sqlalchemy.orm import Session

from anoncup.schemas import Cell
from app.services.boards import best_guesses, effective_evaluations, matrix
from app.services.contests.visibility import BoardAccess


@dataclass(frozen=True, slots=True)
class AttackResult:
    """Best guess of a team on a target of ``rows`` individuals."""

    team: str
    cell: Cell
    rows: int


def list_attacks(session: Session, access: BoardAccess, submission_id: UUID) -> list[AttackResult]:
    """Return the attacks on a submission, highest rate first, ties by team name.

    The list is empty if the submission is not a target or while guesses are hidden.
    """
    contest, scope = access.contest, access.scope
    if not scope.finals_only:
        return []
    targets = best_guesses.list_targets(session, contest.competition, scope)
    target = next(
        (candidate for candidate in targets if candidate.evaluation.submission_id == submission_id), None
    )
    if target is None:
        return []
    rules = effective_evaluations.load_rules(session, contest, scope.as_of)
    team_rows = matrix.list_team_rows(session, contest.competition, scope, rules, [target])
    attacks = [
        AttackResult(row.attacker, cell, target.individual_count)
        for row in team_rows
        for cell in row.cells
        if cell is not None
    ]
    return sorted(attacks, key=lambda candidate: -candidate.cell.rate)
