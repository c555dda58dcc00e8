"""``anoncup plugins``: list the installed plug-ins."""

from anoncup.cli.options import AsJson
from anoncup.cli.output import print_entries


def plugins(*, as_json: AsJson = False) -> None:
    """List the packages that bring tracks, measures, attackers or methods, and why one could not be used."""
    from dataclasses import asdict

    from anoncup.plugins import INSTALLED

    columns = {
        "name": "name",
        "version": "version",
        "parts": "parts",
        "environment": "environment",
        "broken": "broken",
    }
    rows = [
        {**asdict(package), "parts": list(package.parts), "broken": package.broken or None}
        for package in INSTALLED.packages
    ]
    print_entries(rows, columns, as_json=as_json, empty_text="no package adds anything")
