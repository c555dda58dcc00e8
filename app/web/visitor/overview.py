"""The overview page of a competition: its leaders, deadlines, announcements and the reader's next action."""

import re
from datetime import datetime

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from anoncup.rules.model import Rules
from anoncup.schemas import AttackersBoard
from anoncup.tracks.model import Track
from app.db.transaction import transaction
from app.http.authentication import OptionalPrincipal
from app.locale.language import Translator
from app.services.contests import announcements, clarifications, observed_deadlines
from app.web.site import language
from app.web.site.frame import Frame, load_frame
from app.web.site.open_boards import OpenAttackersBoard, OpenBoard
from app.web.site.pages import PageRoute, render_page
from app.web.visitor import board_pictures, leader_text, standings
from app.web.visitor.call_to_action import choose_action
from app.web.visitor.leader import select_podium
from app.web.visitor.winners import iter_winners, list_leading_attackers
from app.web.visitor.your_rank import load_organizer_status, load_team_status

router = APIRouter(route_class=PageRoute)
_MAX_OPEN_ANNOUNCEMENTS = 3
"""Number of announcements shown unfolded; older ones are folded."""
_MAX_ANSWERS = 2
"""Number of public answers shown beside the announcements; the questions page shows all."""


@router.get("/competitions/{slug}")
def show_overview(
    request: Request,
    slug: str,
    principal: OptionalPrincipal,
    board: OpenBoard,
    current_attackers_board: OpenAttackersBoard,
) -> HTMLResponse:
    with transaction() as session:
        frame = load_frame(session, principal, slug)
        is_published = frame.contest.competition.published_at is not None
        attackers_board = current_attackers_board if is_published else None
        announcement_rows = announcements.list_announcements(session, principal, slug)
        questions = clarifications.list_clarifications(session, principal, slug)
        answers = clarifications.list_public_answers(session, principal, slug, limit=_MAX_ANSWERS)
        reveal_time = observed_deadlines.load_reveal_times(session, [frame.contest.competition]).get(
            frame.contest.id
        )
        organizer_status = load_organizer_status(session, principal, frame)
        team_status = load_team_status(session, principal, frame, board, attackers_board)
    rules, track, t = frame.rules, frame.contest.track, language.negotiate_translator(request)
    is_over = frame.status.state == "closed"
    return render_page(
        request,
        principal,
        "visitor/overview.html",
        frame=frame,
        board=board,
        podium=select_podium(board) if board else [],
        why=leader_text.describe_leader(board, rules, t, is_over=is_over) if board else "",
        winners=list(iter_winners(board, attackers_board, t)) if is_over and board else [],
        attacks=_describe_attacks(attackers_board, t, is_over=is_over),
        attackers_hidden=attackers_board is not None and attackers_board.hidden,
        picture=board_pictures.draw_scatter(board, rules, t)
        if board and standings.count_ranked_teams(board)
        else None,
        paragraphs=_split_paragraphs,
        announcements=announcement_rows,
        answers=answers,
        in_view=_MAX_OPEN_ANNOUNCEMENTS,
        answered=sum(question.clarification.answer is not None for question in questions),
        waits_until=_find_late_reveal(frame, reveal_time),
        step=choose_action(frame, principal, is_board_open=board is not None),
        desk=organizer_status,
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
    if attack_phase is None or reveal_time is None or frame.contest.competition.revealed_at is not None:
        return None
    return reveal_time if reveal_time > attack_phase.end else None


def _describe_attacks(board: AttackersBoard | None, t: Translator, *, is_over: bool) -> str:
    """Describe the leaders of the re-identification board; return "" if there are none."""
    leaders = list_leading_attackers(board)
    return leader_text.describe_attack_leaders(leaders, t, is_over=is_over) if leaders else ""


def _split_paragraphs(text: str) -> list[str]:
    """Split a text at empty lines."""
    return [part.strip() for part in re.split(r"\n[ \t]*\n", text) if part.strip()]


def _count_columns(rules: Rules, track: Track) -> int:
    """Return the number of columns of the original according to the rules, so also before its upload."""
    if rules.columns is None:
        return sum(len(file.header(rules) or ()) for file in track.original_files)
    return len(rules.columns.quasi_identifiers) + len(rules.columns.sensitive)
