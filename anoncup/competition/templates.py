"""Complete competition files to start from, one per contest of the papers, and what packages' tracks add."""

from anoncup.errors import InvalidInput
from anoncup.plugins import TRACKS

TEMPLATES = {name: file for track in TRACKS.values() for name, file in track.templates.items()}


def template(name: str | int) -> str:
    """The competition file of that name: a year's contest, or a track's."""
    file = TEMPLATES.get(str(name))
    if file is None:
        raise InvalidInput("templates: {names}", code="unknown_template", names=tuple(TEMPLATES))
    return file.read_text(encoding="utf-8")
