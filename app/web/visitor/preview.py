"""The preview image of links to a competition (``og:image``), which only shows what every visitor may see."""

import hashlib
import re
from functools import cache

from fastapi import APIRouter, Request, Response

from anoncup.errors import NotFound
from anoncup.schemas import Board, BoardRow
from app.charts.card import PodiumRow, PreviewCard, draw_card
from app.db.transaction import transaction
from app.http.board_cache import parse_known_etags
from app.locale.language import Translator
from app.web.site import language, notation, raster
from app.web.site.frame import Frame, load_frame
from app.web.site.open_boards import VisitorsBoard
from app.web.site.pages import WEB_ROOT, PageRoute
from app.web.site.raster import blank_if_undrawable
from app.web.visitor import board_pictures

router = APIRouter(route_class=PageRoute)
_PODIUM_SIZE = 3


@router.get("/competitions/{slug}/picture.png")
def show_picture(request: Request, slug: str, board: VisitorsBoard) -> Response:
    """Return the preview image, which is the same for all readers of a language."""
    if not raster.has_fonts():
        raise NotFound("this service has no fonts to draw with")
    with transaction() as session:
        frame = load_frame(session, None, slug)
    t = language.adapt_to_track(language.negotiate_translator(request), frame.contest.track.name)
    svg = str(draw_preview(frame, board, t))
    headers = {"ETag": f'"{hashlib.sha256(svg.encode()).hexdigest()[:32]}"', "Cache-Control": "no-cache"}
    if headers["ETag"] in parse_known_etags(request):
        return Response(status_code=304, headers=headers)
    return Response(raster.rasterize(svg), media_type="image/png", headers=headers)


def draw_preview(frame: Frame, visitors_board: Board | None, t: Translator) -> str:
    """Return the preview image as SVG."""
    board = _blank_undrawable_names(visitors_board) if visitors_board else None
    title = language.localize_title(frame.rules.title, t.language)
    state_label = t.label(f"phase_{frame.status.state}")
    if board is None or not any(row.rank for row in board.rows):
        return draw_card(
            PreviewCard(blank_if_undrawable(title), blank_if_undrawable(state_label)), load_palette()
        )
    scatter = board_pictures.draw_scatter(board, frame.rules, t)
    return draw_card(
        PreviewCard(
            blank_if_undrawable(title), blank_if_undrawable(state_label), _build_podium(board, t), scatter.svg
        ),
        load_palette(),
    )


def _blank_undrawable_names(board: Board) -> Board:
    """Return the board without team names that no font can draw."""
    rows = tuple(row.model_copy(update={"team": blank_if_undrawable(row.team)}) for row in board.rows)
    return board.model_copy(update={"rows": rows})


def _build_podium(board: Board, t: Translator) -> list[PodiumRow]:
    ranked_rows = [row for row in board.rows if row.rank is not None][:_PODIUM_SIZE]
    return [
        PodiumRow(str(row.rank), row.team, t.localize_numbers(_format_result(row))) for row in ranked_rows
    ]


def _format_result(row: BoardRow) -> str:
    return notation.format_score(row.overall) if row.score is None else notation.format_number(row.score)


@cache
def load_palette() -> dict[str, str]:
    """Return the colours of the site's light theme by name."""
    stylesheet = (WEB_ROOT / "site" / "static" / "tokens.css").read_text("utf-8")
    return dict(re.findall(r"--([\w-]+): light-dark\((#\w{6}), #\w{6}\);", stylesheet))
