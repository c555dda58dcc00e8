"""Competition templates: one for each published contest, and those of plug-in tracks."""

from anoncup.errors import InvalidInput
from anoncup.plugins import TRACKS

TEMPLATES = {name: file for track in TRACKS.values() for name, file in track.examples.templates.items()}
THRESHOLD_NOTE = """
# The threshold depends on the data: the organizers' page "Threshold" or `anoncup threshold` recommends one.
# It is the key `threshold` below [excessive]. No contest is published without it.
"""
DESCRIPTION_EXAMPLE = """
# Shown first on the page of the competition, in Markdown. With terms, people accept it when they join.
# [description]
# terms = true
# en = '''
# Purpose, prizes, terms, and whom to ask: <cup@example.org>
# '''
"""


def template(name: str | int) -> str:
    """Return the competition file of a template: the year of a contest, or a track, whose first one it is."""
    track = TRACKS.get(str(name))
    names = (str(name), *(track.examples.templates if track else ()))
    path = next((TEMPLATES[known] for known in names if known in TEMPLATES), None)
    if path is None:
        raise InvalidInput("templates: {names}", code="unknown_template", names=tuple(TEMPLATES))
    return path.read_text(encoding="utf-8") + DESCRIPTION_EXAMPLE
