"""``anoncup board``: the three boards as tables; every column is in --csv and --json."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from anoncup.cli.connection import connected
from anoncup.cli.options import AsJson, Slug
from anoncup.cli.output import Columns, Row, print_json, print_table, value_of
from anoncup.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from anoncup import schemas

Which = Literal["anonymization", "reidentification", "matrix"]


def board(
    slug: Slug,
    which: Annotated[Which, typer.Option(help="the board to show")] = "anonymization",
    as_csv: Annotated[bool, typer.Option("--csv", help="print the board as CSV, with every column")] = False,
    as_json: AsJson = False,
) -> None:
    """Show a board."""
    if as_csv and as_json:
        raise InvalidInput("--csv or --json, not both")
    from anoncup import schemas

    with connected(anybody=True) as client:
        if as_csv:
            print(client.board_csv(slug, which), end="")
        elif which == "anonymization":
            ranks = client.board(slug)
            show(ranks, ranks.rows, brief(schemas.BoardRow.COLUMNS), as_json=as_json)
        elif which == "reidentification":
            attacks = client.attackers(slug)
            means = {name: found_by(name) for name in attacks.several}
            show(attacks, attacks.rows, {**brief(attacks.columns), **means}, as_json=as_json)
        else:
            found = client.matrix(slug)
            rates = {own_marked(one, "label"): rate_at(place) for place, one in enumerate(found.targets)}
            show(found, found.rows, {**brief(schemas.MatrixRow.COLUMNS), **rates}, as_json=as_json)


def show(
    found: schemas.Board | schemas.AttackersBoard | schemas.Matrix,
    rows: Iterable[Row],
    columns: Columns[Row],
    *,
    as_json: bool,
) -> None:
    if as_json:
        print_json(found)
        return
    print_table(rows, columns)
    if getattr(found, "hidden", False):
        print("scores of guesses are not shown yet")


def brief(columns: Mapping[str, schemas.Column]) -> Columns[schemas.Line]:
    """The columns that a terminal has room for, names marked where they are one's own."""
    return {column.brief: marked(field) for field, column in columns.items() if column.brief}


def marked(field: str) -> str | Callable[[schemas.Line], object]:
    return partial(own_marked, field=field) if field in {"team", "attacker"} else field


def own_marked(entry: schemas.Line | schemas.MatrixTarget, field: str) -> str:
    """The name, with a star if it is one's own."""
    return f"{value_of(entry, field)}{' *' if value_of(entry, 'own') else ''}"


def found_by(question: str) -> Callable[[schemas.AttackersRow], object]:
    return lambda row: (row.by_question or {}).get(question)


def rate_at(place: int) -> Callable[[schemas.MatrixRow], object]:
    return lambda row: value_of(row.cells[place], "rate")
