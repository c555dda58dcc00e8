"""``anoncup board``: print a board as a table; --csv and --json contain every column."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from anoncup.cli.connection import connect
from anoncup.cli.options import AsJson, Slug
from anoncup.cli.output import ColumnSpec, Row, get_value, print_json, print_table
from anoncup.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from anoncup import schemas

_BoardName = Literal["anonymization", "reidentification", "matrix", "total", "attack-total"]


def board(
    slug: Slug,
    which: Annotated[
        _BoardName,
        typer.Option(metavar="BOARD", help="anonymization, reidentification, matrix, total or attack-total"),
    ] = "anonymization",
    as_csv: Annotated[bool, typer.Option("--csv", help="print the board as CSV, with every column")] = False,
    as_json: AsJson = False,
) -> None:
    """Show a board."""
    if as_csv and as_json:
        raise InvalidInput("--csv or --json, not both")
    from anoncup import schemas

    with connect(anonymous=True) as client:
        if as_csv:
            print(client.get_board_csv(slug, which), end="")
        elif which == "anonymization":
            anonymization_board = client.get_board(slug)
            _print_board(
                anonymization_board,
                anonymization_board.rows,
                _select_release_columns(anonymization_board),
                as_json=as_json,
            )
        elif which == "reidentification":
            attackers_board = client.get_attackers_board(slug)
            question_columns = {
                name: _make_question_column(name) for name in attackers_board.distinct_questions
            }
            _print_board(
                attackers_board,
                attackers_board.rows,
                {**select_columns(attackers_board.columns), **question_columns},
                as_json=as_json,
            )
        elif which in ("total", "attack-total"):
            total_board = client.get_total_board(slug, which)
            round_columns = {name: _make_round_column(name) for name in total_board.rounds}
            _print_board(
                total_board,
                total_board.rows,
                {**select_columns(schemas.TotalRow.COLUMNS), **round_columns},
                as_json=as_json,
            )
        else:
            matrix = client.get_matrix(slug)
            rate_columns = {
                _format_name(target, "label"): _make_rate_column(index)
                for index, target in enumerate(matrix.targets)
            }
            _print_board(
                matrix,
                matrix.rows,
                {**select_columns(schemas.MatrixRow.COLUMNS), **rate_columns},
                as_json=as_json,
            )


def _print_board(
    content: schemas.Board | schemas.AttackersBoard | schemas.Matrix | schemas.TotalBoard,
    rows: Iterable[Row],
    columns: ColumnSpec[Row],
    *,
    as_json: bool,
) -> None:
    if as_json:
        print_json(content)
        return
    print_table(rows, columns)
    if getattr(content, "hidden", False):
        print("scores of guesses are not shown yet")


def _select_release_columns(board: schemas.Board) -> ColumnSpec[schemas.BoardRow]:
    """Return the columns of the anonymization board, with the score if a formula ranks it."""
    from anoncup import schemas

    columns = select_columns(schemas.BoardRow.COLUMNS)
    if all(row.score is None for row in board.rows):
        return columns
    return {"rank": columns["rank"], "team": columns["team"], "score": "score", **columns}


def select_columns(columns: Mapping[str, schemas.ColumnLabel]) -> ColumnSpec[schemas.BoardLine]:
    """Return the columns shown in a terminal; the user's own team is marked."""
    return {column.brief: _mark_own_team(field) for field, column in columns.items() if column.brief}


def _mark_own_team(field: str) -> str | Callable[[schemas.BoardLine], object]:
    return partial(_format_name, field=field) if field in {"team", "attacker"} else field


def _format_name(entry: schemas.BoardLine | schemas.MatrixTarget, field: str) -> str:
    """Return the name, followed by a star if it is the user's own team."""
    return f"{get_value(entry, field)}{' *' if get_value(entry, 'own') else ''}"


def _make_question_column(question: str) -> Callable[[schemas.AttackersRow], object]:
    return lambda row: (row.by_question or {}).get(question)


def _make_round_column(name: str) -> Callable[[schemas.TotalRow], object]:
    return lambda row: row.scores.get(name)


def _make_rate_column(index: int) -> Callable[[schemas.MatrixRow], object]:
    return lambda row: get_value(row.cells[index], "rate")
