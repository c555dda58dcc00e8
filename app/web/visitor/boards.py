"""The boards as pages."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse
from sqlalchemy.orm import Session

from anoncup import schemas
from anoncup.errors import NotAllowed
from app.db.transaction import transaction
from app.http.authentication import MaybeSignedIn
from app.locale.language import Words
from app.services.accounts.accounts import Principal
from app.services.boards import anonymization
from app.services.contests import visibility
from app.services.contests.visibility import Sight
from app.services.submissions import summaries
from app.web.site import language
from app.web.site.frame import Frame, frame_of
from app.web.site.pages import PageRoute, page
from app.web.site.timeline_chart import course_of
from app.web.visitor import board_pictures, leader_text, standings
from app.web.visitor.board_view import view_of

router = APIRouter(route_class=PageRoute)
Board = TypeVar("Board")


@router.get("/competitions/{slug}/boards/anonymization")
def anonymization_board(
    request: Request,
    slug: str,
    principal: MaybeSignedIn,
    *,
    columns: str = "result",
    measure: str = "",
    find: str = "",
) -> HTMLResponse:
    with transaction() as session:
        frame = frame_of(session, principal, slug)
        board = if_open(anonymization.board, session, principal, slug)
        outline = summaries.of_own_team(session, principal, slug) if principal and frame.team else ()
    wide = columns == "all" and (board is None or board.digits is None)
    shown = anonymization_content(board, frame, measure, wide, words_for(request)) if board else {}
    searched = search_of(request, board, find, words_for(request)) if board else {}
    return page(
        request,
        principal,
        "visitor/board_anonymization.html",
        frame=frame,
        view=view_of(frame),
        board=board,
        wide=wide,
        **headed(schemas.BoardRow.COLUMNS, words_for(request)),
        course=course_of(outline, words_for(request), frame.rules),
        **shown,
        **searched,
    )


def anonymization_content(
    board: schemas.Board, frame: Frame, measure: str, wide: bool, t: Words
) -> dict[str, Any]:
    """The table and the pictures of a board that is open."""
    choices = board_pictures.choices(frame.contest, t, every=board.digits is None)
    choice = board_pictures.chosen(choices, measure)
    return {
        "groups": standings.groups(frame.rules, frame.contest.track) if wide else (),
        "why": leader_text.told(board, frame.rules, t, over=frame.standing.state == "closed"),
        "own": standings.own_row(board.rows),
        "ranked": standings.ranked_teams(board),
        "tied": standings.tied(board),
        "changes": {row.team: found for row in board.rows if (found := standings.change(row, board))},
        "rivals": standings.has_rivals(board),
        "choices": choices,
        "choice": choice,
        "scatter": board_pictures.scatter_of(board, frame.rules, t),
        "distribution": board_pictures.distribution_of(board, choice, t),
    }


def search_of(request: Request, board: schemas.Board, find: str, t: Words) -> dict[str, Any]:
    """What was looked for, the names found, and what else the address said."""
    asked = request.query_params
    kept = {name: asked[name] for name in ("columns", "measure") if name in asked}
    return {"find": find, "matching": standings.matching(board, find, t), "kept": kept}


def named(questions: Iterable[str], t: Words) -> dict[str, str]:
    """What each question is called."""
    return {name: t.label(f"question_{name}", name) for name in questions}


def headed(columns: Mapping[str, schemas.Column], t: Words) -> dict[str, Any]:
    """The columns of a table, and what they are called."""
    said = {
        field: t.pgettext(*column.page) if isinstance(column.page, tuple) else t(column.page)
        for field, column in columns.items()
    }
    return {"columns": columns, "headings": said}


def words_for(request: Request) -> Words:
    return language.words_of(request)


def if_open(
    board: Callable[[Session, Sight], Board],
    session: Session,
    principal: Principal | None,
    slug: str,
) -> Board | None:
    """The board, or None if the competition does not show it to this person."""
    try:
        return board(session, visibility.boards(session, principal, slug))
    except NotAllowed as problem:
        if problem.code != "board_not_open":
            raise
        return None
