"""The attack matrix as a page: a table, and for narrow screens a list of the best."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, NamedTuple

from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse
from sqlalchemy.orm import Session

from anoncup.schemas import Matrix, MatrixRow, MatrixTarget
from app.charts.figure import Figure
from app.charts.heatmap import Heading, HeatRow, HeatWords, heatmap, hundredths, mean
from app.charts.text import worded
from app.db.transaction import transaction
from app.http import board_cache
from app.http.authentication import MaybeSignedIn, ShownBy
from app.locale.language import Words
from app.services.boards import matrix
from app.services.contests.visibility import Sight
from app.web.site import language
from app.web.site.frame import frame_of
from app.web.site.pages import PageRoute, page
from app.web.visitor.board_access import if_open
from app.web.visitor.board_pictures import title_of
from app.web.visitor.board_view import view_of
from app.web.visitor.boards import named, words_for

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


class Choice(NamedTuple):
    """How the matrix is to be seen."""

    language: str
    question: str
    order: Order
    by: Listed


@dataclass(frozen=True, slots=True)
class Drawn:
    """``board``: without its rows; ``asked``: which of the ``questions``; ``teams``: some have guessed;
    ``exact``: built-in attackers are shown."""

    choice: Choice
    board: Matrix
    questions: dict[str, str]
    asked: str | None
    heatmap: Figure | None
    entries: tuple[Entry, ...]
    teams: bool
    exact: bool

    @property
    def size(self) -> int:
        return 1_000 + (len(self.heatmap.svg) if self.heatmap else 0) + 1_000 * len(self.entries)


async def kept(
    request: Request,
    slug: str,
    shown: ShownBy,
    *,
    question: str = "",
    order: str = "strength",
    by: str = "targets",
) -> Drawn | None:
    choice = Choice(
        language.language_of(request),
        question,
        "name" if order == "name" else "strength",
        "attackers" if by == "attackers" else "targets",
    )
    return await if_open(board_cache.kept(request).of(shown, slug, drawn, choice))


def drawn(session: Session, sight: Sight, choice: Choice) -> Drawn:
    """The matrix as this reader chose to see it."""
    t = language.words_in(choice.language)
    board = matrix.board(session, sight)
    questions = named(board.several, t)
    asked = choice.question if choice.question in questions else None
    if choice.order == "strength":
        board = matrix.by_strength(board, asked)
    return Drawn(
        choice,
        board.model_copy(update={"rows": ()}),
        questions,
        asked,
        heatmap=heatmap_of(board, t, asked) if board.rows else None,
        entries=tuple(entries(board, t, asked, choice.by)) if board.rows else (),
        teams=any(not row.built_in for row in board.rows),
        exact=sight.view.digits is None,
    )


@router.get("/competitions/{slug}/boards/matrix")
def matrix_board(
    request: Request, slug: str, principal: MaybeSignedIn, shown: Annotated[Drawn | None, Depends(kept)]
) -> HTMLResponse:
    with transaction() as session:
        frame = frame_of(session, principal, slug)
    return page(
        request,
        principal,
        "visitor/board_matrix.html",
        frame=frame,
        view=view_of(frame),
        board=shown.board if shown else None,
        shown=shown,
        hundredths=hundredths,
        words=script_words(words_for(request)),
        replayed=bool(frame.contest.row.revealed_at and shown and shown.teams),
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
