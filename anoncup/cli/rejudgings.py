"""``anoncup organize rescore``: all submissions by other rules, compared, then applied or cancelled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from anoncup.cli.connection import asking, connected
from anoncup.cli.options import AsJson, PasswordStdin, Slug, TomlFile
from anoncup.cli.output import Columns, cell, print_json, print_table, show, time_of, value_of

if TYPE_CHECKING:
    from anoncup import schemas

rescore = typer.Typer(no_args_is_help=True, help="Score every submission by other rules, as a set.")

Set = Annotated[str, typer.Argument(metavar="ID", help="the set's id")]


@rescore.command()
def start(slug: Slug, file: TomlFile, as_json: AsJson = False) -> None:
    """Begin a set: every submission is scored by this file, and nothing else changes yet."""
    with connected() as client:
        tell(client.start_rescore(slug, file.read_bytes()), as_json=as_json)


@rescore.command("show")
def show_set(identifier: Set, as_json: AsJson = False) -> None:
    """Show how far a set is, and what would change."""
    with connected() as client:
        tell(client.rescore(identifier), as_json=as_json)


@rescore.command("list")
def list_sets(slug: Slug, as_json: AsJson = False) -> None:
    """List the sets of a competition."""
    columns: Columns[schemas.RescoreSummary] = {
        "id": "id",
        "state": "state",
        "begun": time_of("created_at"),
        "scored": "finished",
        "of": "total",
    }
    with connected() as client:
        show(client.rescores(slug), columns, as_json=as_json, empty="no sets")


@rescore.command()
def apply(identifier: Set, password_stdin: PasswordStdin = False, as_json: AsJson = False) -> None:
    """Put a set in force: its rules and its scores, all at once. Needs your password."""
    with connected(password=asking(stdin=password_stdin)) as client:
        tell(client.end_rescore(identifier, "apply"), as_json=as_json)


@rescore.command()
def cancel(identifier: Set, as_json: AsJson = False) -> None:
    """Drop a set; everything stays as it was."""
    with connected() as client:
        tell(client.end_rescore(identifier, "cancel"), as_json=as_json)


def tell(found: schemas.RescoreSummary, *, as_json: bool) -> None:
    if as_json:
        print_json(found)
        return
    print(f"{found.id} is {found.state}, {found.finished} of {found.total} scored")
    columns: Columns[schemas.Change] = {
        "submission": "submission_id",
        "team": "team",
        "status": lambda row: changed(row, "status"),
        "rank": lambda row: changed(row, "rank"),
        "overall": lambda row: changed(row, "overall"),
        "utility loss": lambda row: changed(row, "utility"),
        "risk": lambda row: changed(row, "security"),
    }
    if rows := getattr(found, "rows", None):
        print_table(rows, columns)


def changed(row: schemas.Change, field: str) -> str:
    """A field before and after, or once where it stays."""
    before, after = (cell(value_of(outcome, field)) for outcome in (row.before, row.after))
    return before if before == after else f"{before} → {after}"
