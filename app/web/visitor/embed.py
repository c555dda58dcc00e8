"""A page to embed in other sites: the first rows of the board and its chart, as visitors see them."""

from typing import Literal

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from app.db.transaction import transaction
from app.http.middleware import SECURITY_HEADERS
from app.web.site.frame import load_frame
from app.web.site.language import adapt_to_track
from app.web.site.open_boards import VisitorsBoard
from app.web.site.pages import Page, PageRoute
from app.web.visitor import board_pictures, leader_text, standings
from app.web.visitor.leader import select_podium

router = APIRouter(route_class=PageRoute)
_MAX_ROWS = 10
_CONTENT_SECURITY_POLICY = SECURITY_HEADERS["Content-Security-Policy"].replace(
    "frame-ancestors 'none'", "frame-ancestors *"
)
"""The usual policy, except that other sites may frame this page. It has no forms or personal content."""
_CACHE_MAX_AGE_S = 30


@router.get("/competitions/{slug}/embed")
def show_embedded_board(
    request: Request, slug: str, board: VisitorsBoard, theme: Literal["", "light", "dark"] = ""
) -> HTMLResponse:
    """Render the page as a visitor sees it. Only the language cookie is read, and no cookie is set."""
    with transaction() as session:
        frame = load_frame(session, None, slug)
    page = Page(request, None)
    t = adapt_to_track(page.t, frame.contest.track.name)
    response = page.render(
        "visitor/embed.html",
        frame=frame,
        theme=theme,
        board=board,
        rows=select_podium(board, _MAX_ROWS) if board else [],
        leader_description=leader_text.describe_leader(
            board, frame.rules, t, is_over=frame.status.state == "closed"
        )
        if board
        else "",
        picture=board_pictures.draw_scatter(board, frame.rules, t)
        if board and standings.count_ranked_teams(board)
        else None,
    )
    del response.headers["Set-Cookie"]
    response.headers["Content-Security-Policy"] = _CONTENT_SECURITY_POLICY
    response.headers["Cache-Control"] = f"public, max-age={_CACHE_MAX_AGE_S}"
    response.headers["Vary"] = "Accept-Language, Cookie"
    return response
