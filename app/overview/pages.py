"""The overview page of a competition: its leaders, deadlines, announcements and the reader's next action."""

from dataclasses import dataclass
from datetime import datetime

from fastapi import APIRouter
from fastapi.responses import HTMLResponse
from sqlalchemy.orm import Session

from anoncup.rules.model import Rules
from anoncup.schemas import AttackersBoard, AttackersRow, Board, BoardRow
from anoncup.tracks.model import AnyTrack
from app.boards.pages import OpenAttackersBoard, OpenBoard
from app.boards.scatter_chart import draw_scatter
from app.boards.standing_pages import count_ranked_teams, find_own_row, select_podium
from app.competitions import reveal_notice
from app.competitions.frame import Frame, load_frame
from app.core.db.transaction import transaction
from app.core.identity.principal import Principal
from app.core.pages.language import adapt_to_track
from app.core.pages.pages import PageRoute, RequestedPage
from app.submissions import quota

router = APIRouter(route_class=PageRoute)
_WATCHABLE_STATES = ("settling", "between", "reidentification")
"""States in which newcomers cannot submit anything but can watch the board."""


@dataclass(frozen=True, slots=True)
class CallToAction:
    """A link with the labels ``step_<name>`` and ``step_<name>_link``."""

    name: str
    path: str


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


@router.get("/competitions/{slug}")
def show_overview(
    page: RequestedPage, slug: str, board: OpenBoard, current_attackers_board: OpenAttackersBoard
) -> HTMLResponse:
    with transaction() as session:
        frame = load_frame(session, page.principal, slug)
        is_published = frame.round.published_at is not None
        attackers_board = current_attackers_board if is_published else None
        parts = [
            (part.template, part.load(session, page.principal, slug))
            for feature in page.features
            if (part := feature.overview)
        ]
        reveal_time = reveal_notice.find_reveal_time(frame.round)
        team_status = _load_team_status(session, page.principal, frame, board, attackers_board)
    rules, track = frame.rules, frame.round.track
    t = adapt_to_track(page.t, track.name)
    return page.render(
        "overview/overview.html",
        frame=frame,
        board=board,
        podium=select_podium(board) if board else [],
        attackers_hidden=attackers_board is not None and attackers_board.hidden,
        picture=draw_scatter(board, t, with_levels=rules.ranking.is_by_overall)
        if board and count_ranked_teams(board)
        else None,
        parts=parts,
        waits_until=_find_late_reveal(frame, reveal_time),
        step=_choose_action(frame, page.principal, is_board_open=board is not None),
        place=team_status,
        columns=_count_columns(rules, track),
        built_in=len(track.attackers),
        two_phases=rules.phase("reidentification") is not None,
        counted=track.asks_identity(rules),
        drawn=track.allocation is not None and track.allocation.per_team,
    )


def _find_late_reveal(frame: Frame, reveal_time: datetime | None) -> datetime | None:
    """Return the time of the reveal if it lies ahead and is later than the end of the contest, else None."""
    attack_phase = frame.rules.phase("reidentification")
    if attack_phase is None or reveal_time is None or frame.round.revealed_at is not None:
        return None
    return reveal_time if reveal_time > attack_phase.end else None


def _count_columns(rules: Rules, track: AnyTrack) -> int:
    """Return the number of columns of the original according to the rules, so also before its upload."""
    if rules.columns is None:
        return sum(len(file.header(rules) or ()) for file in track.original_files)
    return len(rules.columns.quasi_identifiers) + len(rules.columns.sensitive)


def _choose_action(frame: Frame, principal: Principal | None, *, is_board_open: bool) -> CallToAction | None:
    """Return the reader's next action, or None for members of a disqualified team."""
    if frame.is_organizer:
        return _choose_organizer_action(frame)
    if frame.team is not None:
        return None if frame.is_disqualified else _choose_team_action(frame)
    if frame.status.state == "closed":
        return CallToAction("over", f"{frame.path}/boards/anonymization")
    if frame.status.state in _WATCHABLE_STATES and is_board_open:
        return CallToAction(f"watch_{frame.status.state}", f"{frame.path}/boards/anonymization")
    return (
        CallToAction("join", "/account")
        if principal
        else CallToAction("visitor", f"/sign-in?to={frame.path}")
    )


def _choose_organizer_action(frame: Frame) -> CallToAction:
    if frame.round.original_rows is None:
        return CallToAction("data", f"{frame.path}/organize/data")
    return CallToAction("organize", f"{frame.path}/organize")


def _choose_team_action(frame: Frame) -> CallToAction:
    """Return the next action of a team member, which depends on the state of the competition."""
    if frame.status.paused:
        return CallToAction("team_paused", f"{frame.path}/rules")
    page_by_state = {
        "upcoming": "rules",
        "anonymization": "submissions",
        "settling": "targets" if frame.round.published_at else "submissions",
        "between": "submissions",
        "reidentification": "targets",
        "closed": "boards/anonymization",
    }
    state = frame.status.state
    return CallToAction(f"team_{state}", f"{frame.path}/{page_by_state[state]}")


def _load_team_status(
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
    if not frame.status.is_open("anonymization"):
        return None
    return min(cap.left for cap in quota.load_report(session, principal, frame.round.address).caps)
