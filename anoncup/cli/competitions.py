"""``anoncup competitions`` and ``anoncup announcements``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anoncup.cli.connection import connected
from anoncup.cli.options import AsJson, Slug
from anoncup.cli.output import Columns, cell, plain, print_json, show, title_of

if TYPE_CHECKING:
    from anoncup import schemas


def competitions(as_json: AsJson = False) -> None:
    """List the competitions of the service."""
    columns: Columns[schemas.Listed] = {
        "slug": "slug",
        "title": title_of,
        "track": "track",
        "state": "state",
        "rows": "original_rows",
        "phases": lambda entry: [f"{one.name} {cell(one.start)} to {cell(one.end)}" for one in entry.phases],
    }
    with connected(anybody=True) as client:
        show(client.competitions(), columns, as_json=as_json, empty="no competitions")


def announcements(slug: Slug, as_json: AsJson = False) -> None:
    """Read what the organizers have announced."""
    with connected(anybody=True) as client:
        found = client.announcements(slug)
    if as_json:
        print_json(found)
        return
    for entry in found:
        print(cell(entry.at))
        for text in entry.text.values():
            print("\n".join(f"  {plain(line)}" for line in text.splitlines()))
