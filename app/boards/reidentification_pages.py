"""The page of the re-identification board."""

from typing import Any

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from anoncup.schemas import AttackersBoard
from app.boards import standing_pages as standings
from app.boards.board_view import build_board_view
from app.boards.open_boards import OpenAttackersBoard
from app.boards.pages import build_headings, label_questions
from app.competitions.frame import load_frame
from app.core.db.transaction import transaction
from app.core.identity import names
from app.core.locale.language import Translator
from app.core.pages.language import adapt_to_track
from app.core.pages.pages import PageRoute, RequestedPage

router = APIRouter(route_class=PageRoute)
_HIDDEN_ON_PHONES = ("tried", "targets")
"""Columns that phones do not show."""


@router.get("/competitions/{slug}/boards/reidentification")
def show_reidentification_board(
    page: RequestedPage, slug: str, board: OpenAttackersBoard, find: str = ""
) -> HTMLResponse:
    with transaction() as session:
        frame = load_frame(session, page.principal, slug)
    t = adapt_to_track(page.t, frame.contest.track.name)
    return page.render(
        "boards/board_reidentification.html",
        frame=frame,
        view=build_board_view(frame),
        board=board,
        find=find,
        aside=_HIDDEN_ON_PHONES,
        **(_build_board_content(board, find, t) if board else {}),
    )


def _build_board_content(board: AttackersBoard, search_text: str, t: Translator) -> dict[str, Any]:
    """Return the template variables of an open board.

    ``matching_teams`` are the teams whose names contain the search text.
    """
    ranked_rows = [row for row in board.rows if row.rank is not None]
    normalized_search = names.build_key(search_text)
    return {
        "ranked_rows": ranked_rows,
        "own_row": next((row for row in board.rows if row.own), None),
        "tied_ranks": standings.find_tied_ranks(board),
        "matching_teams": {row.team for row in board.rows if normalized_search in names.build_key(row.team)},
        "questions": label_questions(board.distinct_questions, t),
        **build_headings(board.columns, t),
    }
