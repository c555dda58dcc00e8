"""``anoncup plugins``: list the installed plug-ins."""

from pathlib import Path
from typing import Annotated

import typer

from anoncup.cli.options import AsJson
from anoncup.cli.output import print_entries


def plugins(
    *,
    data: Annotated[
        Path | None,
        typer.Option(
            exists=True, file_okay=False, help="the data folder of a service, with its environments"
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List packages with tracks, parts of tracks or ranking functions, and why one could not be used."""
    from dataclasses import asdict

    from anoncup.plugins import BUILT_IN, discover_plugins

    columns = {
        "name": "name",
        "version": "version",
        "parts": "parts",
        "environment": "environment",
        "broken": "broken",
    }
    rows = [
        {**asdict(package), "parts": list(package.parts), "broken": package.broken or None}
        for package in discover_plugins(BUILT_IN, data).packages
    ]
    print_entries(rows, columns, as_json=as_json, empty_text="no package adds anything")
