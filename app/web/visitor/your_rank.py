"""The reader's own status on the overview page: a member's rank and quota, or an organizer's duties."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from anoncup.schemas import AttackersBoard, AttackersRow, Board, BoardRow
from app.services.accounts.accounts import Principal
from app.services.organizing import dashboard
from app.services.organizing.dashboard import Dashboard, OrganizerTask
from app.services.submissions import quota
from app.web.site.frame import Frame
from app.web.visitor.standings import count_ranked_teams, find_own_row

_MAX_DUTIES = 3


@dataclass(frozen=True, slots=True)
class TeamStatus:
    """Ranks and quota of the reader's team.

    ``row`` is its row on the anonymization board, None if that is closed, and ``ranked_teams`` the number of
    ranked teams. ``attackers_row`` and ``ranked_attackers`` are the same for the re-identification board.
    ``uploads_left`` is the number of uploads left today, None while uploads are closed.
    """

    row: BoardRow | None
    ranked_teams: int
    attackers_row: AttackersRow | None
    ranked_attackers: int
    uploads_left: int | None


@dataclass(frozen=True, slots=True)
class OrganizerStatus:
    """The first duties of an organizer, and the number of further ones."""

    dashboard: Dashboard
    duties: Sequence[OrganizerTask]
    more_duties: int


def load_team_status(
    session: Session,
    principal: Principal | None,
    frame: Frame,
    board: Board | None,
    attacks: AttackersBoard | None,
) -> TeamStatus | None:
    """Return the status of the reader's team, or None for readers without one."""
    if principal is None or frame.team is None:
        return None
    return TeamStatus(
        row=find_own_row(board.rows) if board else None,
        ranked_teams=count_ranked_teams(board) if board else 0,
        attackers_row=find_own_row(attacks.rows) if attacks and not attacks.hidden else None,
        ranked_attackers=count_ranked_teams(attacks) if attacks else 0,
        uploads_left=_count_uploads_left(session, principal, frame),
    )


def _count_uploads_left(session: Session, principal: Principal, frame: Frame) -> int | None:
    """Return the smallest remainder of all caps, or None while uploads are closed."""
    if frame.standing.open_phase is None or frame.standing.open_phase.name != "anonymization":
        return None
    return min(cap.left for cap in quota.load_report(session, principal, frame.contest.slug).caps)


def load_organizer_status(
    session: Session, principal: Principal | None, frame: Frame
) -> OrganizerStatus | None:
    """Return the status of an organizer, or None for other readers."""
    if principal is None or not frame.is_organizer:
        return None
    overview = dashboard.load_dashboard(session, principal, frame.contest.slug)
    duties = dashboard.list_tasks(frame.rules, frame.contest.row, frame.standing, overview)
    return OrganizerStatus(overview, duties[:_MAX_DUTIES], len(duties[_MAX_DUTIES:]))
