"""The pages of the boards; each board is None if it is not open to the reader."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal, TypeVar

from fastapi import APIRouter, Depends
from fastapi.responses import HTMLResponse
from pydantic import BaseModel
from sqlalchemy.orm import Session

from anoncup.competition.ranking_formulas import compares_teams
from anoncup.rules.rounds import choose_text
from anoncup.rules.settings import Phase
from anoncup.schemas import (
    AttackersBoard,
    Board,
    BoardRow,
    ColumnLabel,
    History,
    Matrix,
    TotalBoard,
    TotalRow,
)
from app.boards import anonymization, history, matrix, reidentification, total
from app.boards import standing_pages as standings
from app.boards.distribution_chart import draw_distribution
from app.boards.history_chart import draw_history
from app.boards.scatter_chart import draw_scatter
from app.competitions import phases, visibility
from app.competitions.frame import Frame, load_frame
from app.competitions.visibility import UNFROZEN, BoardAccess, Viewer
from app.core.db.transaction import transaction
from app.core.identity.authentication import OptionalPrincipal
from app.core.locale.language import Translator
from app.core.pages.language import adapt_to_track, join_names
from app.core.pages.pages import Page, PageRoute, RequestedPage

router = APIRouter(prefix="/competitions/{slug}/boards", route_class=PageRoute)
_ModelT = TypeVar("_ModelT", bound=BaseModel)
_LIVE_STATES = ("anonymization", "settling", "reidentification")
"""States of a competition in which boards change by themselves."""
_HIDDEN_ON_PHONES = ("tried", "targets")
"""Columns that phones do not show."""


def _make_loader(
    build: Callable[[Session, BoardAccess], _ModelT],
) -> Callable[[str, OptionalPrincipal], _ModelT | None]:
    """Return a dependency that loads a board as the reader sees it."""

    def load(slug: str, principal: OptionalPrincipal) -> _ModelT | None:
        with transaction() as session:
            access = visibility.find_board_access(session, principal, slug)
            return None if access is None else build(session, access)

    return load


OpenBoard = Annotated[Board | None, Depends(_make_loader(anonymization.build_board))]
OpenAttackersBoard = Annotated[AttackersBoard | None, Depends(_make_loader(reidentification.build_board))]
OpenMatrix = Annotated[Matrix | None, Depends(_make_loader(matrix.build_matrix))]
OpenHistory = Annotated[History | None, Depends(_make_loader(history.build_history))]
OpenReleaseTotal = Annotated[TotalBoard | None, Depends(_make_loader(total.build_release_total))]
OpenAttackTotal = Annotated[TotalBoard | None, Depends(_make_loader(total.build_attack_total))]


@dataclass(frozen=True, slots=True)
class BoardView:
    """The state of the boards for one reader.

    ``as_of`` is the moment that the boards show. ``freeze`` is ``ahead`` if the boards will be frozen,
    ``now`` if they are frozen for this reader, and ``others`` if they are frozen for others but not for this
    reader, who is an organizer. ``guesses`` tells which guesses of rivals count: all, those before
    ``guesses_before``, or none. ``is_live`` means that the boards may change while they are read.
    """

    as_of: datetime
    freeze: Literal["none", "ahead", "now", "others"]
    guesses: Literal["all", "daily", "hidden"]
    guesses_before: datetime | None
    is_live: bool
    attack_phase: Phase | None
    has_attack_phase_begun: bool


def build_board_view(frame: Frame) -> BoardView:
    viewer = Viewer(frame.team.id if frame.team else None, frame.is_organizer)
    now = frame.status.now
    frozen_at = visibility.compute_freeze_time(frame.round, viewer, now)
    horizon = visibility.compute_guess_horizon(frame.round, viewer, now)
    attack_phase = frame.rules.phase(phases.REIDENTIFICATION)
    is_frozen = frozen_at != UNFROZEN
    return BoardView(
        as_of=frozen_at if is_frozen else now,
        freeze="now" if is_frozen else _find_freeze_state(frame, now),
        guesses="hidden" if horizon is None else "all" if horizon == UNFROZEN else "daily",
        guesses_before=None if horizon == UNFROZEN else horizon,
        is_live=not is_frozen and not frame.status.paused and frame.status.state in _LIVE_STATES,
        attack_phase=attack_phase,
        has_attack_phase_begun=attack_phase is not None
        and attack_phase.start <= (frame.round.paused_at or now),
    )


def _find_freeze_state(frame: Frame, now: datetime) -> Literal["none", "ahead", "others"]:
    """Return the freeze state for a reader who does not see a frozen board."""
    frozen_from = frame.rules.publication.frozen_from
    if frozen_from is None or frame.round.over_at is not None:
        return "none"
    return "ahead" if now < frozen_from else "others"


def _render(
    page: Page,
    slug: str,
    name: str,
    board: _ModelT | None,
    build_content: Callable[[_ModelT, Frame, Translator], dict[str, Any]],
) -> HTMLResponse:
    """Render the page of a board, with further template variables if it is open."""
    with transaction() as session:
        frame = load_frame(session, page.principal, slug)
    t = adapt_to_track(page.t, frame.round.track.name)
    content = build_content(board, frame, t) if board else {}
    context: dict[str, Any] = {"frame": frame, "view": build_board_view(frame), "board": board} | content
    return page.render(f"boards/board_{name}.html", **context)


def _build_headings(columns: Mapping[str, ColumnLabel], t: Translator) -> dict[str, Any]:
    """Return the columns of a table and their translated headings, for the template."""
    headings = {
        field: t.pgettext(*column.page) if isinstance(column.page, tuple) else t(column.page)
        for field, column in columns.items()
    }
    return {"columns": columns, "headings": headings}


def _label_questions(questions: Iterable[str], t: Translator) -> dict[str, str]:
    """Return the title of each question by name."""
    return {name: t.label(f"question_{name}", name) for name in questions}


@router.get("/anonymization")
def show_anonymization_board(
    page: RequestedPage,
    slug: str,
    board: OpenBoard,
    *,
    columns: str = "result",
    measure: str = "",
) -> HTMLResponse:
    def build_content(open_board: Board, frame: Frame, t: Translator) -> dict[str, Any]:
        all_columns = columns == "all" and open_board.is_exact
        groups = standings.group_columns(frame.rules, frame.round.track)
        exact_columns = [column for group in groups for column in group.columns if open_board.is_exact]
        choices = [*standings.SCORE_COLUMNS, *exact_columns]
        choice = next((choice for choice in choices if choice.name == measure), choices[0])
        own_row = standings.find_own_row(open_board.rows)
        by_overall = frame.rules.ranking.is_by_overall
        return {
            "shows_all_columns": all_columns,
            **_build_headings(BoardRow.COLUMNS, t),
            "groups": groups if all_columns else (),
            "own_row": own_row,
            "distance_to_next": own_row
            and standings.compute_distance_to_next(open_board, own_row, by_formula=not by_overall),
            "ranked_team_count": standings.count_ranked_teams(open_board),
            "has_rival_risk": any(row.rival_risk is not None for row in open_board.rows),
            "choices": choices,
            "choice": choice,
            "scatter": draw_scatter(open_board, t, with_levels=by_overall),
            "distribution": draw_distribution(open_board, choice, t),
        }

    return _render(page, slug, "anonymization", board, build_content)


@router.get("/reidentification")
def show_reidentification_board(page: RequestedPage, slug: str, board: OpenAttackersBoard) -> HTMLResponse:
    def build_content(open_board: AttackersBoard, _: Frame, t: Translator) -> dict[str, Any]:
        return {
            "ranked_rows": [row for row in open_board.rows if row.rank is not None],
            "own_row": standings.find_own_row(open_board.rows),
            "aside": _HIDDEN_ON_PHONES,
            "questions": _label_questions(open_board.distinct_questions, t),
            **_build_headings(open_board.columns, t),
        }

    return _render(page, slug, "reidentification", board, build_content)


@router.get("/matrix")
def show_matrix(page: RequestedPage, slug: str, board: OpenMatrix, question: str = "") -> HTMLResponse:
    """Show a table whose cells are coloured by rate. Unknown questions are ignored."""

    def build_content(open_board: Matrix, _: Frame, t: Translator) -> dict[str, Any]:
        questions = _label_questions(open_board.distinct_questions, t)
        selected_question = question if question in questions else None
        return {
            "questions": questions,
            "selected_question": selected_question,
            "rates": [
                [matrix.find_rate(cell, selected_question) for cell in row.cells] for row in open_board.rows
            ],
        }

    return _render(page, slug, "matrix", board, build_content)


@router.get("/history")
def show_history(page: RequestedPage, slug: str, board: OpenHistory) -> HTMLResponse:
    return _render(page, slug, "history", board, _build_history_content)


def _build_history_content(board: History, frame: Frame, t: Translator) -> dict[str, Any]:
    """Draw the values that rank the teams or, if these are hidden, the overall scores."""
    rules = frame.rules
    by_formula = not rules.ranking.is_by_overall and (board.digits is None or not compares_teams(rules))
    phase = rules.phase(phases.ANONYMIZATION)
    picture = draw_history(
        board,
        t,
        zone=rules.timezone,
        begin=phase.start if phase else None,
        by_formula=by_formula,
        descending=by_formula and rules.ranking.order == "descending",
    )
    return {"picture": picture}


@router.get("/total")
def show_total_board(
    page: RequestedPage, slug: str, release_total: OpenReleaseTotal, attack_total: OpenAttackTotal
) -> HTMLResponse:
    def build_content(_: TotalBoard, frame: Frame, t: Translator) -> dict[str, Any]:
        round_titles = {
            entry.name: choose_text(entry.title, t.language) if entry.title else entry.name
            for entry in frame.round.competition.round_settings
        }
        return {
            "boards": {"release_total": release_total, "attack_total": attack_total},
            "round_titles": round_titles,
            # The function that returns a round's score would read as rounding.
            "name_rounds": lambda formula: re.sub(
                r"round\(\s*(['\"])(.*?)\1\s*\)",
                lambda call: join_names([round_titles[call[2]]], t),
                formula,
            ),
            **_build_headings(TotalRow.COLUMNS, t),
        }

    return _render(page, slug, "total", release_total, build_content)
