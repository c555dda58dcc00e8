"""Where the one who looks stands: a member's rank and what is left to send, an organizer's desk."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from anoncup.schemas import AttackersBoard, AttackersRow, Board, BoardRow
from app.services.accounts.accounts import Principal
from app.services.organizing import dashboard
from app.services.organizing.dashboard import Dashboard, Duty
from app.services.submissions import quota
from app.web.site.frame import Frame
from app.web.visitor.standings import own_row, ranked_teams

IN_VIEW = 3


@dataclass(frozen=True, slots=True)
class Place:
    """A team's. ``row``: its own on the board, None where that is closed; ``ranked``: of so many teams;
    ``attacks``, ``attacking``: the same of the re-identification board, None before it has a row to show;
    ``left``: what it can still send today, None while nothing can be sent."""

    row: BoardRow | None
    ranked: int
    attacks: AttackersRow | None
    attacking: int
    left: int | None


@dataclass(frozen=True, slots=True)
class Desk:
    """An organizer's: the first of what waits, and how much more does."""

    found: Dashboard
    duties: Sequence[Duty]
    more: int


def place_of(
    session: Session,
    principal: Principal | None,
    frame: Frame,
    board: Board | None,
    attacks: AttackersBoard | None,
) -> Place | None:
    """None for whoever is in no team."""
    if principal is None or frame.team is None:
        return None
    return Place(
        row=own_row(board.rows) if board else None,
        ranked=ranked_teams(board) if board else 0,
        attacks=own_row(attacks.rows) if attacks and not attacks.hidden else None,
        attacking=ranked_teams(attacks) if attacks else 0,
        left=left_today(session, principal, frame),
    )


def left_today(session: Session, principal: Principal, frame: Frame) -> int | None:
    """The least that any cap leaves."""
    if frame.standing.open is None or frame.standing.open.name != "anonymization":
        return None
    return min(cap.left for cap in quota.report(session, principal, frame.contest.slug).caps)


def desk_of(session: Session, principal: Principal | None, frame: Frame) -> Desk | None:
    """None for whoever does not organize the competition."""
    if principal is None or not frame.organizer:
        return None
    found = dashboard.of_competition(session, principal, frame.contest.slug)
    duties = dashboard.duties(frame.rules, frame.contest.row, frame.standing, found)
    return Desk(found, duties[:IN_VIEW], len(duties[IN_VIEW:]))
