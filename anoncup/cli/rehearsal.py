"""``anoncup organize rehearsal``: sample teams play a hidden copy of the competition within an hour."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from anoncup.cli.connection import connect, make_password_prompt
from anoncup.cli.options import AsJson, PasswordStdin, Slug
from anoncup.cli.output import ColumnSpec, make_time_column, print_json, print_table, replace_unprintable

if TYPE_CHECKING:
    from anoncup import schemas

app = typer.Typer(no_args_is_help=True, help="Let sample teams play a competition in an hour.")


@app.command()
def start(slug: Slug, as_json: AsJson = False) -> None:
    """Begin a rehearsal: a copy of the competition that only its organizers see."""
    with connect() as client:
        _print_rehearsal(client.start_rehearsal(slug), as_json=as_json)


@app.command("show")
def show_rehearsal(slug: Slug, as_json: AsJson = False) -> None:
    """Show the progress of the rehearsal."""
    with connect() as client:
        _print_rehearsal(client.get_rehearsal(slug), as_json=as_json)


@app.command()
def end(slug: Slug, password_stdin: PasswordStdin = False) -> None:
    """End the rehearsal; nobody can see it any more. Needs your password."""
    with connect(password=make_password_prompt(from_stdin=password_stdin)) as client:
        client.end_rehearsal(slug)
    print("the rehearsal is over")


def _print_rehearsal(rehearsal: schemas.Rehearsal, *, as_json: bool) -> None:
    if as_json:
        print_json(rehearsal)
        return
    print(f"{replace_unprintable(rehearsal.slug)} is in its state {replace_unprintable(rehearsal.state)}")
    columns: ColumnSpec[schemas.RehearsalStep] = {
        "step": "step",
        "done": "done",
        "of": "of",
        "first": make_time_column("first"),
        "last": make_time_column("last"),
    }
    print_table(rehearsal.steps, columns)
    if rehearsal.expired:
        print("its teams make no more moves after seven days: end it and begin a new one")
    elif rehearsal.stalled:
        print("no worker of reports makes the moves that are due")
    if rehearsal.late:
        print(f"moves that came too late for their phase: {rehearsal.late}")
    for item in rehearsal.failed:
        print(f"{replace_unprintable(item.team or '')}: {replace_unprintable(item.question)}")
