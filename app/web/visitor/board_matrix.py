"""The page of the attack matrix: a heatmap, or on narrow screens a list of the highest rates."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, NamedTuple

from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse
from sqlalchemy.orm import Session

from anoncup.schemas import Matrix, MatrixRow
from app.charts.figure import Figure
from app.charts.heatmap import (
    HeatmapHeader,
    HeatmapRow,
    HeatmapWords,
    build_heatmap,
    compute_mean_rate,
    format_hundredths,
)
from app.charts.text import translate_words
from app.db.transaction import transaction
from app.http import board_cache
from app.http.authentication import RequestCredential
from app.locale.language import Translator, load_translator
from app.services.boards import matrix
from app.services.contests.visibility import BoardAccess
from app.web.site import language
from app.web.site.frame import load_frame
from app.web.site.pages import PageRoute, RequestedPage
from app.web.visitor.board_pictures import translate_title
from app.web.visitor.board_view import build_board_view
from app.web.visitor.boards import label_questions

router = APIRouter(route_class=PageRoute)
_MAX_BEST = 3
"""Maximum number of bars in a line of the list. The bar of the reader's own team is always added."""

_MatrixOrder = Literal["strength", "name"]
_MatrixAxis = Literal["targets", "attackers"]


@dataclass(frozen=True, slots=True)
class MatrixBar:
    """A bar in a line of the list: an opponent's rate."""

    heading: HeatmapHeader
    rate: float


@dataclass(frozen=True, slots=True)
class MatrixLine:
    """A target with its best attackers, or an attacker with the targets on which it found most.

    ``mean`` is the mean of the line's ``cell_count`` cells with a value.
    """

    heading: HeatmapHeader
    mean: float | None
    cell_count: int
    best: tuple[MatrixBar, ...]


class MatrixChoice(NamedTuple):
    """The options that the reader chose for the matrix."""

    language: str
    question: str
    order: _MatrixOrder
    axis: _MatrixAxis


@dataclass(frozen=True, slots=True)
class MatrixView:
    """The matrix prepared for its page, as the cache stores it.

    ``board`` contains no rows. ``selected_question`` is one of the ``questions``, or None for all questions.
    """

    choice: MatrixChoice
    board: Matrix
    questions: dict[str, str]
    selected_question: str | None
    heatmap: Figure | None
    lines: tuple[MatrixLine, ...]
    shows_built_in: bool

    @property
    def size(self) -> int:
        return 1_000 + (len(self.heatmap.svg) if self.heatmap else 0) + 1_000 * len(self.lines)


async def _load_matrix_view(
    request: Request,
    slug: str,
    credential: RequestCredential,
    *,
    question: str = "",
    order: str = "strength",
    by: str = "targets",
) -> MatrixView | None:
    choice = MatrixChoice(
        language.negotiate_language(request),
        question,
        "name" if order == "name" else "strength",
        "attackers" if by == "attackers" else "targets",
    )
    return await board_cache.get_board_cache(request).get_view(credential, slug, _build_matrix_view, choice)


def _build_matrix_view(session: Session, access: BoardAccess, choice: MatrixChoice) -> MatrixView:
    t = language.adapt_to_track(load_translator(choice.language), access.contest.track.name)
    board = matrix.build_matrix(session, access)
    questions = label_questions(board.distinct_questions, t)
    selected_question = choice.question if choice.question in questions else None
    if choice.order == "strength":
        board = matrix.sort_by_strength(board, selected_question)
    return MatrixView(
        choice,
        board.model_copy(update={"rows": ()}),
        questions,
        selected_question,
        heatmap=_draw_heatmap(board, t, selected_question) if board.rows else None,
        lines=tuple(_iter_lines(board, t, selected_question, choice.axis)) if board.rows else (),
        shows_built_in=access.scope.digits is None,
    )


@router.get("/competitions/{slug}/boards/matrix")
def show_matrix(
    page: RequestedPage, slug: str, matrix_view: Annotated[MatrixView | None, Depends(_load_matrix_view)]
) -> HTMLResponse:
    with transaction() as session:
        frame = load_frame(session, page.principal, slug)
    return page.render(
        "visitor/board_matrix.html",
        frame=frame,
        view=build_board_view(frame),
        board=matrix_view.board if matrix_view else None,
        matrix_view=matrix_view,
        hundredths=format_hundredths,
        words=translate_script_texts(page.t),
    )


def translate_script_texts(t: Translator) -> dict[str, str]:
    """Return the texts that the script of the matrix shows."""
    return {
        "mean": t("Mean"),
        "cell": t("{attacker} → {target}: {value}"),
        "vacant": t("no guess"),
        "whole": t("All of it"),
        "enlarge": t("Enlarge"),
        "reduce": t("Reduce"),
        "table": t("The numbers as a table"),
        "keys": t(
            "Matrix: the arrow keys go from cell to cell, + and − enlarge and reduce, 0 shows all of it."
        ),
        "help": t(
            "Point at a cell to read it, drag over a part to enlarge it; with the keyboard: arrows, +, −, 0."
        ),
    }


def _draw_heatmap(board: Matrix, t: Translator, question: str | None = None) -> Figure:
    """Draw the rate of each attacker on each target, for one question or for all questions."""
    word_overrides = {
        "scale": t("Found beyond chance"),
        "summary": t("Attackers: {attackers}; targets: {targets}; most that was found: {largest}."),
    }
    return build_heatmap(
        _build_target_headings(board),
        [
            HeatmapRow(_build_attacker_heading(row, t), rates, built_in=row.built_in)
            for row, rates in zip(board.rows, _collect_rates(board, question), strict=True)
        ],
        translate_words(HeatmapWords, t, **({} if board.counted else word_overrides)),
    )


def _collect_rates(board: Matrix, question: str | None) -> list[list[float | None]]:
    return [[matrix.find_rate(cell, question) for cell in row.cells] for row in board.rows]


def _build_target_headings(board: Matrix) -> list[HeatmapHeader]:
    """Return the headings of the targets.

    If individuals are counted, their weights make an attacker's mean its rate on the re-identification board.
    """
    return [
        HeatmapHeader(
            target.target,
            own=target.own,
            note=target.team or "",
            weight=target.rows if board.counted else 1,
        )
        for target in board.targets
    ]


def _build_attacker_heading(row: MatrixRow, t: Translator) -> HeatmapHeader:
    if row.built_in:
        return HeatmapHeader(translate_title("attacker", row.attacker, t), note=t("built-in"))
    return HeatmapHeader(row.attacker, own=row.own)


def _iter_lines(
    board: Matrix, t: Translator, question: str | None, axis: _MatrixAxis
) -> Iterator[MatrixLine]:
    """Yield the lines of the list in the order of the matrix."""
    attackers = [_build_attacker_heading(row, t) for row in board.rows]
    targets = _build_target_headings(board)
    rates = _collect_rates(board, question)
    if axis == "attackers":
        yield from (
            _build_line(heading, targets, line) for heading, line in zip(attackers, rates, strict=True)
        )
    else:
        columns = ([line[index] for line in rates] for index in range(len(targets)))
        yield from (
            _build_line(heading, attackers, column) for heading, column in zip(targets, columns, strict=True)
        )


def _build_line(
    heading: HeatmapHeader, counterparts: Sequence[HeatmapHeader], rates: Sequence[float | None]
) -> MatrixLine:
    """Return a line with its highest bars; ties keep the order of the matrix."""
    bars = [
        MatrixBar(counterpart, rate)
        for counterpart, rate in zip(counterparts, rates, strict=True)
        if rate is not None
    ]
    ranked_bars = sorted(bars, key=lambda bar: -bar.rate)
    best = [bar for index, bar in enumerate(ranked_bars) if index < _MAX_BEST or bar.heading.own]
    mean = compute_mean_rate(rates, [counterpart.weight for counterpart in counterparts])
    return MatrixLine(heading, mean, len(bars), tuple(best))
