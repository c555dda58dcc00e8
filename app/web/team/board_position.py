"""The anonymization board as its reader may see it, and what stands there for their team."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from anoncup import schemas
from anoncup.errors import NotAllowed
from app.db.models import State
from app.services.accounts.accounts import Principal
from app.services.boards import anonymization
from app.services.contests import visibility
from app.services.contests.visibility import Sight
from app.web.team.submission_lines import Line


@dataclass(frozen=True, slots=True)
class Best:
    """What stands for a team on the board: that received at this moment, with its rank among ``teams``."""

    received_at: datetime
    rank: int
    teams: int


def board_if_open(
    session: Session, principal: Principal, slug: str
) -> tuple[Sight, schemas.Board] | tuple[None, None]:
    """What this person may compare a release with; None while the board is closed to them."""
    try:
        sight = visibility.boards(session, principal, slug)
    except NotAllowed:
        return None, None
    return sight, anonymization.board(session, sight)


def best_of(session: Session, principal: Principal, slug: str, lines: Sequence[Line]) -> Best | None:
    """What is marked among these lines; a board is much work, and is not asked of what cannot stand on it."""
    if not any(line.state == State.SCORED for line in lines):
        return None
    _, board = board_if_open(session, principal, slug)
    ranked = [row for row in board.rows if row.rank is not None] if board else []
    own = next((row for row in ranked if row.own), None)
    if own is None or own.rank is None or own.received_at is None:
        return None
    return Best(own.received_at, own.rank, len(ranked))
