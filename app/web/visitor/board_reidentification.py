"""The re-identification board as a page."""

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from anoncup.schemas import AttackersBoard
from app.db.transaction import transaction
from app.http.authentication import MaybeSignedIn
from app.locale.language import Words
from app.services.boards import reidentification
from app.web.site.frame import frame_of
from app.web.site.pages import PageRoute, page
from app.web.visitor import leader_text, standings
from app.web.visitor.board_view import view_of
from app.web.visitor.boards import headed, if_open, named, words_for

router = APIRouter(route_class=PageRoute)
ASIDE = ("tried", "targets")
"""Columns for which a phone has no room."""


@router.get("/competitions/{slug}/boards/reidentification")
def reidentification_board(
    request: Request, slug: str, principal: MaybeSignedIn, find: str = ""
) -> HTMLResponse:
    with transaction() as session:
        frame = frame_of(session, principal, slug)
        board = if_open(reidentification.board, session, principal, slug)
    return page(
        request,
        principal,
        "visitor/board_reidentification.html",
        frame=frame,
        view=view_of(frame),
        board=board,
        find=find,
        aside=ASIDE,
        **(content(board, find, words_for(request), over=frame.standing.state == "closed") if board else {}),
    )


def content(board: AttackersBoard, find: str, t: Words, *, over: bool) -> dict[str, Any]:
    """``ranked``: the rows that have a rank; ``matching``: the teams in whose names is what is looked for."""
    ranked = [row for row in board.rows if row.rank is not None]
    wanted = standings.found_by(find)
    return {
        "ranked": ranked,
        "own": next((row for row in board.rows if row.own), None),
        "tied": standings.tied(board),
        "matching": {row.team for row in board.rows if wanted in standings.found_by(row.team)},
        "why": leader_text.attacks(first, t, over=over)
        if (first := [row for row in ranked if row.rank == 1])
        else "",
        "questions": named(board.several, t),
        **headed(board.columns, t),
    }
