"""The attack matrix as a page: a table, and for narrow screens a list of the best."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from app.charts.figure import Figure
from app.charts.heatmap import Heading, HeatRow, HeatWords, heatmap, hundredths, mean
from app.charts.worded import worded
from app.http.dependencies import MaybeSignedIn
from app.language import Words
from app.services.boards import matrix
from app.transaction import transaction
from app.web.site.frame import frame_of
from app.web.site.pages import PageRoute, page
from app.web.visitor.board_pictures import title_of
from app.web.visitor.board_view import view_of
from app.web.visitor.boards import if_open, named, words_for
from app.wire import Matrix, MatrixRow, MatrixTarget

router = APIRouter(route_class=PageRoute)
BEST = 3
"""So many of the best stand in the list, and the reader's own team."""

Order = Literal["strength", "name"]
Listed = Literal["targets", "attackers"]


@dataclass(frozen=True, slots=True)
class Found:
    """One bar of the list."""

    by: Heading
    rate: float


@dataclass(frozen=True, slots=True)
class Entry:
    """A target with those that found most in it, or an attacker with the targets where it found most.

    ``tried``: how many numbers its line of the matrix has; ``mean``: of these.
    """

    of: Heading
    mean: float | None
    tried: int
    best: tuple[Found, ...]


@router.get("/competitions/{slug}/boards/matrix")
def matrix_board(
    request: Request,
    slug: str,
    principal: MaybeSignedIn,
    *,
    question: str = "",
    order: str = "strength",
    by: str = "targets",
) -> HTMLResponse:
    t = words_for(request)
    with transaction() as session:
        frame = frame_of(session, principal, slug)
        board = if_open(matrix.board, session, principal, slug)
    questions = named(board.several, t) if board else {}
    asked = question if question in questions else None
    chosen: Order = "name" if order == "name" else "strength"
    listed: Listed = "attackers" if by == "attackers" else "targets"
    if board and chosen == "strength":
        board = matrix.by_strength(board, asked)
    shown = board if board and board.rows else None
    return page(
        request,
        principal,
        "visitor/board_matrix.html",
        frame=frame,
        view=view_of(frame),
        board=board,
        heatmap=heatmap_of(shown, t, asked) if shown else None,
        entries=tuple(entries(shown, t, asked, listed)) if shown else (),
        questions=questions,
        asked=asked,
        order=chosen,
        by=listed,
        hundredths=hundredths,
        words=script_words(t),
        replayed=bool(
            frame.contest.row.revealed_at and shown and any(not row.built_in for row in shown.rows)
        ),
    )


def script_words(t: Words) -> dict[str, str]:
    """What the script says that draws the matrix."""
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
        "replay": t("Replay the attacks"),
        "play": t("Play"),
        "pause": t("Pause"),
        "moment": t("Moment of the contest"),
        "pairs": t("Pairs attacked: {n} of {all}"),
        "failed": t("Not loaded. Try again"),
        "help": t(
            "Point at a cell to read it, drag over a part to enlarge it; with the keyboard: arrows, +, −, 0."
        ),
    }


def heatmap_of(board: Matrix, t: Words, question: str | None = None) -> Figure:
    """What each attacker found in each target; ``question``: by its answers to this one alone."""
    uncounted = {
        "scale": t("Found beyond chance"),
        "said": t("Attackers: {attackers}; targets: {targets}; most that was found: {largest}."),
    }
    return heatmap(
        [target_heading(one) for one in board.targets],
        [
            HeatRow(attacker_heading(row, t), rates, built_in=row.built_in)
            for row, rates in zip(board.rows, rates_of(board, question), strict=True)
        ],
        worded(HeatWords, t, **({} if board.counted else uncounted)),
    )


def rates_of(board: Matrix, question: str | None) -> list[list[float | None]]:
    return [[matrix.found_in(cell, question) for cell in row.cells] for row in board.rows]


def target_heading(target: MatrixTarget) -> Heading:
    return Heading(target.target, own=target.own, note=target.team or "")


def attacker_heading(row: MatrixRow, t: Words) -> Heading:
    if row.built_in:
        return Heading(title_of("attacker", row.attacker, t), note=t("built-in"))
    return Heading(row.attacker, own=row.own)


def entries(board: Matrix, t: Words, question: str | None, by: Listed) -> Iterator[Entry]:
    """The lines of the matrix in its order, each with its best."""
    attackers = [attacker_heading(row, t) for row in board.rows]
    targets = [target_heading(one) for one in board.targets]
    rates = rates_of(board, question)
    if by == "attackers":
        yield from (entry(one, targets, line) for one, line in zip(attackers, rates, strict=True))
    else:
        columns = ([line[place] for line in rates] for place in range(len(targets)))
        yield from (entry(one, attackers, column) for one, column in zip(targets, columns, strict=True))


def entry(of: Heading, others: Sequence[Heading], rates: Sequence[float | None]) -> Entry:
    """Of equal ones those that stand first."""
    known = [Found(one, rate) for one, rate in zip(others, rates, strict=True) if rate is not None]
    ranked = sorted(known, key=lambda one: -one.rate)
    best = [one for place, one in enumerate(ranked) if place < BEST or one.by.own]
    return Entry(of, mean([one.rate for one in known]), len(known), tuple(best))
