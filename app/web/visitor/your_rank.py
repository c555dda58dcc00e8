"""The reader's own status on the overview page: a member's rank and quota, or an organizer's tasks."""

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

_MAX_TASKS = 3


@dataclass(frozen=True, slots=True)
class TeamStatus:
    """Ranks and quota of the reader's team.

    ``row`` is its row on the anonymization board, and ``ranked_teams`` the number of teams with a rank there.
    ``attackers_row`` and ``ranked_attackers`` are the same for the re-identification board. ``uploads_left``
    is the number of uploads left, or None while uploads are closed.
    """

    row: BoardRow | None
    ranked_teams: int
    attackers_row: AttackersRow | None
    ranked_attackers: int
    uploads_left: int | None


@dataclass(frozen=True, slots=True)
class OrganizerStatus:
    """The dashboard of an organizer with the first tasks, and the number of further tasks."""

    dashboard: Dashboard
    tasks: Sequence[OrganizerTask]
    more_tasks: int


def load_team_status(
    session: Session,
    principal: Principal | None,
    frame: Frame,
    board: Board | None,
    attackers_board: AttackersBoard | None,
) -> TeamStatus | None:
    """Return the status of the reader's team, or None for readers without a team."""
    if principal is None or frame.team is None:
        return None
    return TeamStatus(
        row=find_own_row(board.rows) if board else None,
        ranked_teams=count_ranked_teams(board) if board else 0,
        attackers_row=find_own_row(attackers_board.rows)
        if attackers_board and not attackers_board.hidden
        else None,
        ranked_attackers=count_ranked_teams(attackers_board) if attackers_board else 0,
        uploads_left=_count_uploads_left(session, principal, frame),
    )


def _count_uploads_left(session: Session, principal: Principal, frame: Frame) -> int | None:
    """Return how many uploads the tightest cap still allows, or None while uploads are closed."""
    if frame.status.open_phase is None or frame.status.open_phase.name != "anonymization":
        return None
    return min(cap.left for cap in quota.load_report(session, principal, frame.contest.slug).caps)


def load_organizer_status(
    session: Session, principal: Principal | None, frame: Frame
) -> OrganizerStatus | None:
    """Return the status of an organizer, or None for other readers."""
    if principal is None or not frame.is_organizer:
        return None
    overview = dashboard.load_dashboard(session, principal, frame.contest.slug)
    tasks = dashboard.list_tasks(frame.rules, frame.contest.competition, frame.status, overview)
    return OrganizerStatus(overview, tasks[:_MAX_TASKS], len(tasks[_MAX_TASKS:]))
