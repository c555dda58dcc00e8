"""``anoncup targets`` and ``anoncup guesses``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anoncup.cli.connection import connected
from anoncup.cli.options import AsJson, Slug
from anoncup.cli.output import Columns, show, time_of

if TYPE_CHECKING:
    from anoncup import schemas


def targets(slug: Slug, as_json: AsJson = False) -> None:
    """List the targets: the releases that may be attacked."""
    columns: Columns[schemas.Target] = {
        "name": "name",
        "team": "team",
        "id": "id",
        "rows": "rows",
        "own": "own",
        "guesses left": "guesses_left",
    }
    with connected() as client:
        found = client.targets(slug)
    if any(len(one.guesses_left_by_question or ()) > 1 for one in found):
        columns = {**columns, "left by question": "guesses_left_by_question"}
    show(found, columns, as_json=as_json, empty="no targets")


def guesses(slug: Slug, as_json: AsJson = False) -> None:
    """List your team's guesses. How many rows they hit is told when the competition tells it."""
    columns: Columns[schemas.Guess] = {
        "target": "target",
        "received": time_of("received_at"),
        "status": "status",
        "rows": "rows",
        "answered": "answered",
        "correct": "correct",
        "rate": "rate",
    }
    with connected() as client:
        found = client.guesses(slug)
    if len({one.question for one in found}) > 1:
        columns = {"target": "target", "question": "question", **columns}
    show(found, columns, as_json=as_json, empty="no guesses")
