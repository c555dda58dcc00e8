"""``anoncup board``: print a board as a table; --csv and --json contain every column."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import typer

from anoncup.cli.connection import connect, print_round
from anoncup.cli.options import AsJson, Slug
from anoncup.cli.output import ColumnSpec, get_value, print_json, print_table
from anoncup.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Mapping

    from anoncup import schemas
    from anoncup.client import Client

    _Board: TypeAlias = schemas.Board | schemas.AttackersBoard | schemas.Matrix | schemas.TotalBoard

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
    with connect(anonymous=True) as client:
        if as_csv:
            print(client.get_board_csv(slug, which), end="")
            return
        content, columns = _load_board(client, slug, which)
        if not as_json and which not in {"total", "attack-total"}:
            print_round(client, slug)
    if as_json:
        print_json(content)
        return
    print_table(content.rows, columns)
    if getattr(content, "hidden", False):
        print("scores of guesses are not shown yet")


def _load_board(client: Client, slug: str, which: _BoardName) -> tuple[_Board, ColumnSpec[Any]]:
    """Return a board with its columns: the usual ones, and one for each question, round or target."""
    from anoncup import schemas

    if which == "anonymization":
        board = client.get_board(slug)
        return board, _select_release_columns(board)
    if which == "reidentification":
        attackers = client.get_attackers_board(slug)
        questions = {
            name: partial(_get_part, field="by_question", name=name) for name in attackers.distinct_questions
        }
        return attackers, {**select_columns(attackers.columns), **questions}
    if which == "matrix":
        matrix = client.get_matrix(slug)
        rates = {
            _format_name(target, "label"): partial(_get_rate, index=index)
            for index, target in enumerate(matrix.targets)
        }
        return matrix, {**select_columns(schemas.MatrixRow.COLUMNS), **rates}
    total = client.get_total_board(slug, which)
    rounds = {name: partial(_get_part, field="scores", name=name) for name in total.rounds}
    return total, {**select_columns(schemas.TotalRow.COLUMNS), **rounds}


def _get_part(row: schemas.BoardLine, field: str, name: str) -> object:
    return (getattr(row, field) or {}).get(name)


def _get_rate(row: schemas.MatrixRow, index: int) -> object:
    return get_value(row.cells[index], "rate")


def _select_release_columns(board: schemas.Board) -> ColumnSpec[schemas.BoardRow]:
    """Return the columns of the anonymization board, with the score if a formula ranks it."""
    from anoncup import schemas

    columns = select_columns(schemas.BoardRow.COLUMNS)
    if all(row.score is None for row in board.rows):
        return columns
    return {"rank": columns["rank"], "team": columns["team"], "score": "score", **columns}


def select_columns(columns: Mapping[str, schemas.ColumnLabel]) -> ColumnSpec[schemas.BoardLine]:
    """Return the columns shown in a terminal; the user's own team is marked."""
    return {
        column.brief: partial(_format_name, field=field) if field in {"team", "attacker"} else field
        for field, column in columns.items()
        if column.brief
    }


def _format_name(entry: schemas.BoardLine | schemas.MatrixTarget, field: str) -> str:
    """Return the name, followed by a star if it is the user's own team."""
    return f"{get_value(entry, field)}{' *' if get_value(entry, 'own') else ''}"
