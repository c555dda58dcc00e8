"""The boards as pages."""

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse
from sqlalchemy.orm import Session

from app.errors import NotAllowed
from app.http.dependencies import MaybeSignedIn
from app.services.accounts import Principal
from app.services.boards import anonymization
from app.services.boards.anonymization import Board
from app.transaction import transaction
from app.web.frame import frame_of
from app.web.site import PageRoute, page

router = APIRouter(route_class=PageRoute)


@router.get("/competitions/{slug}/boards/anonymization")
def board(request: Request, slug: str, principal: MaybeSignedIn) -> HTMLResponse:
    with transaction() as session:
        frame = frame_of(session, principal, slug)
        shown = board_if_open(session, principal, slug)
    return page(request, principal, "board.html", frame=frame, board=shown)


def board_if_open(session: Session, principal: Principal | None, slug: str) -> Board | None:
    try:
        return anonymization.board(session, principal, slug)
    except NotAllowed:
        return None
