"""``anoncup targets`` and ``anoncup guesses``: list the targets, and the guesses that a team has sent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anoncup.cli.connection import connect
from anoncup.cli.options import AsJson, Slug
from anoncup.cli.output import ColumnSpec, make_time_column, print_entries

if TYPE_CHECKING:
    from anoncup import schemas


def targets(slug: Slug, as_json: AsJson = False) -> None:
    """List the targets: the releases that may be attacked."""
    columns: ColumnSpec[schemas.Target] = {
        "name": "name",
        "team": "team",
        "id": "id",
        "rows": "rows",
        "own": "own",
        "guesses left": "guesses_left",
    }
    with connect() as client:
        rows = client.list_targets(slug)
    if any(len(target.guesses_left_by_question or ()) > 1 for target in rows):
        columns = {**columns, "left by question": "guesses_left_by_question"}
    print_entries(rows, columns, as_json=as_json, empty_text="no targets")


def guesses(slug: Slug, as_json: AsJson = False) -> None:
    """List your team's guesses, with the number of correct rows if the competition shows it."""
    columns: ColumnSpec[schemas.Guess] = {
        "target": "target",
        "received": make_time_column("received_at"),
        "status": "status",
        "rows": "rows",
        "answered": "answered",
        "correct": "correct",
        "rate": "rate",
    }
    with connect() as client:
        rows = client.list_guesses(slug)
    if any(row.errors for row in rows):
        columns = {**columns, "refused": describe_refusal}
    if len({row.question for row in rows}) > 1:
        columns = {"target": "target", "question": "question", **columns}
    print_entries(rows, columns, as_json=as_json, empty_text="no guesses")


def describe_refusal(row: schemas.Guess) -> str | None:
    """Return the errors in a refused guess with their places; None for other guesses."""
    errors = [
        f"{entry.file}{f', row {entry.row}' if entry.row else ''}: {entry.code}: {entry.message}"
        for entry in row.errors
    ]
    if row.total > len(errors):
        errors.append(f"{row.total - len(errors)} more")
    return "; ".join(errors) or None
