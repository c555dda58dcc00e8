"""The first rows of the board and its picture, within other sites: what visitors see, nothing besides."""

from typing import Literal

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from app.db.transaction import transaction
from app.http.middleware import HEADERS
from app.web.site import language
from app.web.site.frame import frame_of
from app.web.site.pages import PageRoute, page
from app.web.visitor import board_pictures, leader_text, standings
from app.web.visitor.leader import podium
from app.web.visitor.overview import open_board

router = APIRouter(route_class=PageRoute)
ROWS = 10
POLICY = HEADERS["Content-Security-Policy"].replace("frame-ancestors 'none'", "frame-ancestors *")
"""As everywhere, but that this one page may stand within others: it has no form, and nothing of one's own."""
KEPT_S = 30


@router.get("/competitions/{slug}/embed")
def embedded_board(request: Request, slug: str, theme: Literal["", "light", "dark"] = "") -> HTMLResponse:
    """Whoever asks is a visitor here; no cookie is read for it but that of the language, and none is set."""
    with transaction() as session:
        frame = frame_of(session, None, slug)
        board = open_board(session, None, slug)
    t = language.words_of(request)
    answer = page(
        request,
        None,
        "visitor/embed.html",
        frame=frame,
        theme=theme,
        board=board,
        rows=podium(board, ROWS) if board else [],
        why=leader_text.told(board, frame.rules, t, over=frame.standing.state == "closed") if board else "",
        picture=board_pictures.scatter_of(board, frame.rules, t)
        if board and standings.ranked_teams(board)
        else None,
    )
    del answer.headers["Set-Cookie"]
    answer.headers["Content-Security-Policy"] = POLICY
    answer.headers["Cache-Control"] = f"public, max-age={KEPT_S}"
    answer.headers["Vary"] = "Accept-Language, Cookie"
    return answer
