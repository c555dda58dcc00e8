"""What a link to a competition shows before it is opened: a picture of what every visitor may see."""

import hashlib
import re
from functools import cache

from fastapi import APIRouter, Request, Response
from sqlalchemy.orm import Session

from anoncup.errors import NotAllowed, NotFound
from anoncup.schemas import Board
from app.charts.card import Card, Place, card
from app.db.transaction import transaction
from app.http.board_cache import known_tags
from app.locale.language import Words
from app.services.boards import anonymization
from app.services.contests import visibility
from app.web.site import language, notation, raster
from app.web.site.frame import frame_of
from app.web.site.pages import HERE, PageRoute
from app.web.site.raster import legible
from app.web.visitor import board_pictures

router = APIRouter(route_class=PageRoute)
PODIUM = 3


@router.get("/competitions/{slug}/picture.png")
def picture(request: Request, slug: str) -> Response:
    """The same for everybody, whoever asks: that of a visitor."""
    if not raster.present():
        raise NotFound("this service has no fonts to draw with")
    with transaction() as session:
        drawn = str(preview(session, slug, language.words_of(request)))
    headers = {"ETag": f'"{hashlib.sha256(drawn.encode()).hexdigest()[:32]}"', "Cache-Control": "no-cache"}
    if headers["ETag"] in known_tags(request):
        return Response(status_code=304, headers=headers)
    return Response(raster.rasterized(drawn), media_type="image/png", headers=headers)


def preview(session: Session, slug: str, t: Words) -> str:
    """The picture as SVG."""
    frame = frame_of(session, None, slug)
    board = public_board(session, slug)
    title, phase = language.title_in(frame.rules.title, t.language), t.label(frame.standing.state)
    if board is None or not any(row.rank for row in board.rows):
        return card(Card(legible(title), legible(phase)), palette())
    plane = board_pictures.scatter_of(board, frame.rules, t)
    return card(Card(legible(title), legible(phase), podium(board, t), plane.svg), palette())


def public_board(session: Session, slug: str) -> Board | None:
    """What a visitor sees of the board, without the names that cannot be drawn."""
    try:
        board = anonymization.board(session, visibility.boards(session, None, slug))
    except NotAllowed:
        return None
    rows = tuple(row.model_copy(update={"team": legible(row.team)}) for row in board.rows)
    return board.model_copy(update={"rows": rows})


def podium(board: Board, t: Words) -> list[Place]:
    first = [row for row in board.rows if row.rank is not None][:PODIUM]
    return [Place(str(row.rank), row.team, t.written(notation.score(row.overall))) for row in first]


@cache
def palette() -> dict[str, str]:
    """The site's colours in light, by name."""
    sheet = (HERE / "site" / "static" / "tokens.css").read_text("utf-8")
    return dict(re.findall(r"--([\w-]+): light-dark\((#\w{6}), #\w{6}\);", sheet))
