"""``anoncup organize rescore``: score submissions and guesses by new rules, compare, then apply or cancel.

A set is one such re-scoring.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from anoncup.cli.connection import connect, make_password_prompt
from anoncup.cli.options import AsJson, PasswordStdin, Slug, TomlFile
from anoncup.cli.output import (
    ColumnSpec,
    format_cell,
    get_value,
    make_time_column,
    print_entries,
    print_json,
    print_table,
)

if TYPE_CHECKING:
    from anoncup import schemas

app = typer.Typer(no_args_is_help=True, help="Score every submission and guess by other rules, as a set.")

_RescoreId = Annotated[str, typer.Argument(metavar="ID", help="the set's id")]


@app.command()
def start(slug: Slug, file: TomlFile, as_json: AsJson = False) -> None:
    """Start a set: submissions and guesses are scored by this file, and nothing changes yet."""
    with connect() as client:
        _print_rescore(client.start_rescore(slug, file.read_bytes()), as_json=as_json)


@app.command("show")
def show_rescore(identifier: _RescoreId, as_json: AsJson = False) -> None:
    """Show the progress of a set, and what it would change."""
    with connect() as client:
        _print_rescore(client.get_rescore(identifier), as_json=as_json)


@app.command("list")
def list_rescores(slug: Slug, as_json: AsJson = False) -> None:
    """List the sets of a competition."""
    columns: ColumnSpec[schemas.RescoreSummary] = {
        "id": "id",
        "state": "state",
        "started": make_time_column("created_at"),
        "scored": "finished",
        "of": "total",
        "judged": "judged",
        "of guesses": "guesses",
    }
    with connect() as client:
        print_entries(client.list_rescores(slug), columns, as_json=as_json, empty_text="no sets")


@app.command()
def apply(identifier: _RescoreId, password_stdin: PasswordStdin = False, as_json: AsJson = False) -> None:
    """Apply a set: from now on its rules and scores count. Needs your password."""
    with connect(password=make_password_prompt(from_stdin=password_stdin)) as client:
        _print_rescore(client.end_rescore(identifier, "apply"), as_json=as_json)


@app.command()
def cancel(identifier: _RescoreId, as_json: AsJson = False) -> None:
    """Cancel a set; nothing changes."""
    with connect() as client:
        _print_rescore(client.end_rescore(identifier, "cancel"), as_json=as_json)


def _print_rescore(rescore: schemas.RescoreSummary, *, as_json: bool) -> None:
    if as_json:
        print_json(rescore)
        return
    print(
        f"{rescore.id} is {rescore.state}, {rescore.finished} of {rescore.total} submissions scored,"
        f" {rescore.judged} of {rescore.guesses} guesses scored"
    )
    columns: ColumnSpec[schemas.RescoreChange] = {
        "submission": "submission_id",
        "team": "team",
        "status": lambda row: _format_change(row, "status"),
        "rank": lambda row: _format_change(row, "rank"),
        "score": lambda row: _format_change(row, "score"),
        "overall": lambda row: _format_change(row, "overall"),
        "utility loss": lambda row: _format_change(row, "utility"),
        "risk": lambda row: _format_change(row, "security"),
    }
    guess_columns: ColumnSpec[schemas.RescoreGuess] = {
        "guess": "guess_id",
        "team": "team",
        "target": "target",
        "question": "question",
        "status": lambda row: _format_change(row, "status"),
        "value": lambda row: _format_change(row, "value"),
    }
    if rows := getattr(rescore, "rows", None):
        print_table(rows, columns)
    if guess_rows := getattr(rescore, "guess_rows", None):
        print_table(guess_rows, guess_columns)


def _format_change(row: schemas.RescoreChange | schemas.RescoreGuess, field: str) -> str:
    """Format the old and new value of a field, or a single value if it is unchanged."""
    old, new = (format_cell(get_value(outcome, field)) for outcome in (row.before, row.after))
    return old if old == new else f"{old} → {new}"
