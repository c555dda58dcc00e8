"""``anoncup organize rehearsal``: sample teams play the competition in an hour, unseen by others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from anoncup.cli.connection import asking, connected
from anoncup.cli.options import AsJson, PasswordStdin, Slug
from anoncup.cli.output import Columns, plain, print_json, print_table, time_of

if TYPE_CHECKING:
    from anoncup import schemas

rehearsal = typer.Typer(no_args_is_help=True, help="Have sample teams play a competition in an hour.")


@rehearsal.command()
def start(slug: Slug, as_json: AsJson = False) -> None:
    """Begin a rehearsal: a copy of the competition that only its organizers see."""
    with connected() as client:
        tell(client.rehearse(slug), as_json=as_json)


@rehearsal.command("show")
def show_course(slug: Slug, as_json: AsJson = False) -> None:
    """Show how the rehearsal goes."""
    with connected() as client:
        tell(client.rehearsal(slug), as_json=as_json)


@rehearsal.command()
def end(slug: Slug, password_stdin: PasswordStdin = False) -> None:
    """Take the rehearsal out of sight for good. Needs your password."""
    with connected(password=asking(stdin=password_stdin)) as client:
        client.end_rehearsal(slug)
    print("the rehearsal is over")


def tell(found: schemas.Rehearsal, *, as_json: bool) -> None:
    if as_json:
        print_json(found)
        return
    print(f"{plain(found.slug)} is in its state {plain(found.state)}")
    columns: Columns[schemas.RehearsalStep] = {
        "step": "step",
        "done": "done",
        "of": "of",
        "first": time_of("first"),
        "last": time_of("last"),
    }
    print_table(found.steps, columns)
    if found.stalled:
        print("no worker of reports makes the moves that are due")
    if found.late:
        print(f"moves that came too late for their phase: {found.late}")
    for move in found.failed:
        print(f"{plain(move.team)} failed in {plain(move.phase)}: {plain(move.failure or '')}")
