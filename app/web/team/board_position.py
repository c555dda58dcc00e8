"""Load the anonymization board for a reader and find their team's position on it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from anoncup import schemas
from anoncup.errors import Forbidden
from app.db.models import State
from app.services.accounts.accounts import Principal
from app.services.boards import anonymization
from app.services.contests import visibility
from app.services.contests.visibility import BoardAccess
from app.web.team.submission_lines import SubmissionLine


@dataclass(frozen=True, slots=True)
class TeamBoardPosition:
    """A team's submission on the board, by its time of receipt, with its rank among ``teams``."""

    received_at: datetime
    rank: int
    teams: int


def load_board_if_open(
    session: Session, principal: Principal, slug: str
) -> tuple[BoardAccess, schemas.Board] | tuple[None, None]:
    """Return the board and the reader's access to it; None for both while the board is closed to them."""
    try:
        access = visibility.authorize_boards(session, principal, slug)
    except Forbidden:
        return None, None
    return access, anonymization.build_board(session, access)


def find_position(
    session: Session, principal: Principal, slug: str, lines: Sequence[SubmissionLine]
) -> TeamBoardPosition | None:
    """Return the board position of the team's best submission if it may be one of these lines.

    The board is expensive, so it is only loaded if one of the lines has a score.
    """
    if not any(line.state == State.SCORED for line in lines):
        return None
    _, board = load_board_if_open(session, principal, slug)
    ranked = [row for row in board.rows if row.rank is not None] if board else []
    own = next((row for row in ranked if row.own), None)
    if own is None or own.rank is None or own.received_at is None:
        return None
    return TeamBoardPosition(own.received_at, own.rank, len(ranked))
