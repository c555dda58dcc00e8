"""What installed packages add to the tracks."""

from anoncup.cli.options import AsJson
from anoncup.cli.output import show


def plugins(*, as_json: AsJson = False) -> None:
    """List the packages that bring tracks, measures, attackers or methods, and why one could not be used."""
    from dataclasses import asdict

    from anoncup.plugins import INSTALLED

    columns = {"name": "name", "version": "version", "parts": "parts", "broken": "broken"}
    found = [
        {**asdict(one), "parts": list(one.parts), "broken": one.broken or None} for one in INSTALLED.packages
    ]
    show(found, columns, as_json=as_json, empty="no package adds anything")
