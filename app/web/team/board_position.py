"""Load the anonymization board for a reader, and find the position of their team."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from anoncup import schemas
from app.db.models import State
from app.services.accounts.accounts import Principal
from app.services.boards import anonymization
from app.services.contests import visibility
from app.services.contests.visibility import BoardAccess
from app.web.team.submission_lines import SubmissionLine


@dataclass(frozen=True, slots=True)
class TeamBoardPosition:
    """The rank of a team among all ranked teams, and the time of receipt that identifies its submission."""

    received_at: datetime
    rank: int
    ranked_teams: int


def load_board_if_open(
    session: Session, principal: Principal, slug: str
) -> tuple[BoardAccess, schemas.Board] | tuple[None, None]:
    """Return the reader's access to the board and the board; None for both if they may not see it."""
    access = visibility.find_board_access(session, principal, slug)
    return (None, None) if access is None else (access, anonymization.build_board(session, access))


def find_position(
    session: Session, principal: Principal, slug: str, lines: Sequence[SubmissionLine]
) -> TeamBoardPosition | None:
    """Return the team's position on the board, or None if it has no rank or no line has a score.

    The board is expensive to compute, so it is not loaded if no line has a score.
    """
    if not any(line.state == State.SCORED for line in lines):
        return None
    _, board = load_board_if_open(session, principal, slug)
    ranked_rows = [row for row in board.rows if row.rank is not None] if board else []
    own_row = next((row for row in ranked_rows if row.own), None)
    if own_row is None or own_row.rank is None or own_row.received_at is None:
        return None
    return TeamBoardPosition(own_row.received_at, own_row.rank, len(ranked_rows))
