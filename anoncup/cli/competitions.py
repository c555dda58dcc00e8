"""``anoncup competitions``: list the competitions of the service."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anoncup.cli.connection import connect
from anoncup.cli.options import AsJson
from anoncup.cli.output import (
    ColumnSpec,
    format_cell,
    get_title,
    print_entries,
)

if TYPE_CHECKING:
    from anoncup import schemas


def competitions(as_json: AsJson = False) -> None:
    """List the competitions of the service."""
    columns: ColumnSpec[schemas.ListedCompetition] = {
        "slug": "slug",
        "title": get_title,
        "track": "track",
        "state": "state",
        "rows": "original_rows",
        "phases": lambda entry: [
            f"{phase.name} {format_cell(phase.start)} to {format_cell(phase.end)}" for phase in entry.phases
        ],
    }
    with connect(anonymous=True) as client:
        print_entries(client.list_competitions(), columns, as_json=as_json, empty_text="no competitions")
