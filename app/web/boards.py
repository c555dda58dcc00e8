"""The boards as pages."""

from collections.abc import Callable
from typing import TypeVar

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse
from sqlalchemy.orm import Session

from app.errors import NotAllowed
from app.http.dependencies import MaybeSignedIn
from app.services.accounts import Principal
from app.services.boards import anonymization, matrix, reidentification
from app.transaction import transaction
from app.web import standings
from app.web.frame import frame_of
from app.web.seen import seen
from app.web.site import PageRoute, page

router = APIRouter(route_class=PageRoute)
Board = TypeVar("Board")


@router.get("/competitions/{slug}/boards/anonymization")
def anonymization_board(
    request: Request, slug: str, principal: MaybeSignedIn, columns: str = "result"
) -> HTMLResponse:
    with transaction() as session:
        frame = frame_of(session, principal, slug)
        board = if_open(anonymization.board, session, principal, slug)
    return page(
        request,
        principal,
        "boards/anonymization.html",
        frame=frame,
        seen=seen(frame),
        board=board,
        wide=columns == "all",
        groups=standings.groups(frame.competition) if columns == "all" else (),
        own=standings.own_row(board) if board else None,
        ranked=standings.ranked_teams(board) if board else 0,
        rivals=standings.has_rivals(board) if board else False,
    )


@router.get("/competitions/{slug}/boards/reidentification")
def reidentification_board(request: Request, slug: str, principal: MaybeSignedIn) -> HTMLResponse:
    with transaction() as session:
        frame = frame_of(session, principal, slug)
        board = if_open(reidentification.board, session, principal, slug)
    return page(
        request, principal, "boards/reidentification.html", frame=frame, seen=seen(frame), board=board
    )


@router.get("/competitions/{slug}/boards/matrix")
def matrix_board(request: Request, slug: str, principal: MaybeSignedIn) -> HTMLResponse:
    with transaction() as session:
        frame = frame_of(session, principal, slug)
        board = if_open(matrix.board, session, principal, slug)
    return page(request, principal, "boards/matrix.html", frame=frame, seen=seen(frame), board=board)


def if_open(
    board: Callable[[Session, Principal | None, str], Board],
    session: Session,
    principal: Principal | None,
    slug: str,
) -> Board | None:
    """The board, or None if the competition does not show it to this person."""
    try:
        return board(session, principal, slug)
    except NotAllowed as problem:
        if problem.code != "board_not_open":
            raise
        return None
