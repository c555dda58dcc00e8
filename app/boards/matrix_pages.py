"""The page of the attack matrix: a table whose cells are coloured by rate."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from anoncup.schemas import Matrix
from app.boards import matrix_table
from app.boards.board_view import build_board_view
from app.boards.open_boards import OpenMatrix
from app.boards.pages import label_questions
from app.competitions.frame import load_frame
from app.core.db.transaction import transaction
from app.core.locale.language import Translator
from app.core.pages.language import adapt_to_track
from app.core.pages.pages import PageRoute, RequestedPage

router = APIRouter(route_class=PageRoute)


@dataclass(frozen=True, slots=True)
class MatrixRates:
    """The rates in the cells of a matrix, and their means; None where there is no guess."""

    rows: list[list[float | None]]
    row_means: list[float | None]
    column_means: list[float | None]
    mean: float | None


@router.get("/competitions/{slug}/boards/matrix")
def show_matrix(
    page: RequestedPage, slug: str, board: OpenMatrix, *, question: str = "", order: str = "strength"
) -> HTMLResponse:
    with transaction() as session:
        frame = load_frame(session, page.principal, slug)
    t = adapt_to_track(page.t, frame.contest.track.name)
    return page.render(
        "boards/board_matrix.html",
        frame=frame,
        view=build_board_view(frame),
        order=order,
        **(_build_content(board, question, order, t) if board else {"board": None}),
    )


def _build_content(board: Matrix, question: str, order: str, t: Translator) -> dict[str, Any]:
    """Return the template variables of an open board. Unknown questions are ignored."""
    questions = label_questions(board.distinct_questions, t)
    selected_question = question if question in questions else None
    if order != "name":
        board = matrix_table.sort_by_strength(board, selected_question)
    return {
        "board": board,
        "questions": questions,
        "selected_question": selected_question,
        "rates": _collect_rates(board, selected_question),
    }


def _collect_rates(board: Matrix, question: str | None) -> MatrixRates:
    """Return the rates for one question or for all.

    If individuals are counted, a target's weight is their number. Then an attacker's mean is its rate on the
    re-identification board.
    """
    rows = [[matrix_table.find_rate(cell, question) for cell in row.cells] for row in board.rows]
    weights = [target.rows if board.counted else 1 for target in board.targets]
    return MatrixRates(
        rows,
        row_means=[compute_mean_rate(row, weights) for row in rows],
        column_means=[compute_mean_rate(column, [1] * len(rows)) for column in zip(*rows, strict=True)],
        mean=compute_mean_rate([rate for row in rows for rate in row], weights * len(rows)),
    )


def compute_mean_rate(rates: Sequence[float | None], weights: Sequence[int]) -> float | None:
    """Return the weighted mean of the known rates, whatever their order; None if no rate is known."""
    known = [(rate, weight) for rate, weight in zip(rates, weights, strict=True) if rate is not None]
    return (
        fsum(rate * weight for rate, weight in known) / sum(weight for _, weight in known) if known else None
    )
