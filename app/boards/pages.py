"""The page of the anonymization board, and functions that several board pages use."""

from collections.abc import Iterable, Mapping
from typing import Any

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from anoncup import schemas
from app.boards import standing_pages as standings
from app.boards.board_view import build_board_view
from app.boards.distribution_chart import draw_distribution, list_choices
from app.boards.open_boards import OpenBoard
from app.boards.scatter_chart import draw_scatter
from app.competitions.frame import Frame, load_frame
from app.core.db.transaction import transaction
from app.core.locale.language import Translator
from app.core.pages.language import adapt_to_track
from app.core.pages.pages import Page, PageRoute, RequestedPage

router = APIRouter(route_class=PageRoute)


@router.get("/competitions/{slug}/boards/anonymization")
def show_anonymization_board(
    page: RequestedPage,
    slug: str,
    board: OpenBoard,
    *,
    columns: str = "result",
    measure: str = "",
    find: str = "",
) -> HTMLResponse:
    with transaction() as session:
        frame = load_frame(session, page.principal, slug)
    t = adapt_to_track(page.t, frame.contest.track.name)
    all_columns = columns == "all" and (board is None or board.is_exact)
    content = _build_board_content(board, frame, measure, all_columns, t) if board else {}
    search = _build_search_content(page, board, find) if board else {}
    return page.render(
        "boards/board_anonymization.html",
        frame=frame,
        view=build_board_view(frame),
        board=board,
        shows_all_columns=all_columns,
        **build_headings(schemas.BoardRow.COLUMNS, t),
        **content,
        **search,
    )


def _build_board_content(
    board: schemas.Board, frame: Frame, measure: str, all_columns: bool, t: Translator
) -> dict[str, Any]:
    """Return the template variables of an open board: its table and its charts."""
    choices = list_choices(frame.contest, t, all_columns=board.is_exact)
    choice = next((choice for choice in choices if choice.name == measure), choices[0])
    own_row = standings.find_own_row(board.rows)
    return {
        "groups": standings.group_columns(frame.rules, frame.contest.track) if all_columns else (),
        "own_row": own_row,
        "distance_to_next": standings.compute_distance_to_next(
            board, own_row, by_formula=not frame.rules.ranking.is_by_overall
        )
        if own_row
        else None,
        "ranked_team_count": standings.count_ranked_teams(board),
        "tied_ranks": standings.find_tied_ranks(board),
        "changes": {
            row.team: rank_change
            for row in board.rows
            if (rank_change := standings.compute_rank_change(row, board))
        },
        "has_rival_risk": standings.has_rival_risk(board),
        "choices": choices,
        "choice": choice,
        "scatter": draw_scatter(board, t, with_levels=frame.rules.ranking.is_by_overall),
        "distribution": draw_distribution(board, choice, t),
    }


def _build_search_content(page: Page, board: schemas.Board, search_text: str) -> dict[str, Any]:
    """Return the template variables of the search: its text, the matching teams and other parameters."""
    query = page.request.query_params
    other_parameters = {name: query[name] for name in ("columns", "measure") if name in query}
    return {
        "find": search_text,
        "matching_teams": standings.find_matching_teams(board, search_text, page.t),
        "other_parameters": other_parameters,
    }


def label_questions(questions: Iterable[str], t: Translator) -> dict[str, str]:
    """Return the title of each question by name."""
    return {name: t.label(f"question_{name}", name) for name in questions}


def build_headings(columns: Mapping[str, schemas.ColumnLabel], t: Translator) -> dict[str, Any]:
    """Return the columns of a table and their translated headings, for the template."""
    headings = {
        field: t.pgettext(*column.page) if isinstance(column.page, tuple) else t(column.page)
        for field, column in columns.items()
    }
    return {"columns": columns, "headings": headings}
