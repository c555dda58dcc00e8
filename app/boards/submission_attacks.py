"""The attacks of other teams on one submission."""

from dataclasses import dataclass
from uuid import UUID

from sqlalchemy.orm import Session

from anoncup.formulas.ranks import sort_for_board
from anoncup.schemas import Cell
from app.boards import matrix
from app.competitions.visibility import BoardAccess


@dataclass(frozen=True, slots=True)
class SubmissionAttack:
    """The best guess of a team on a target."""

    team: str
    cell: Cell
    individual_count: int


def list_attacks(session: Session, access: BoardAccess, submission_id: UUID) -> list[SubmissionAttack]:
    """Return the attacks on a submission, highest rate first, ties by team name.

    The list is empty if the submission is not a target or while guesses are hidden.
    """
    targets = [
        target for target in matrix.load_targets(session, access) if target.submission_id == submission_id
    ]
    attacks = [
        SubmissionAttack(team=row.attacker, cell=cell, individual_count=target.individual_count)
        for row in matrix.list_team_rows(session, access, targets)
        for target, cell in zip(targets, row.cells, strict=True)
        if cell is not None
    ]
    return [attacks[index] for index in sort_for_board([-attack.cell.rate for attack in attacks])]
