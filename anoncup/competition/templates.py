"""Competition templates: one for each published contest, and those of plug-in tracks."""

from anoncup.errors import InvalidInput
from anoncup.plugins import TRACKS

TEMPLATES = {name: file for track in TRACKS.values() for name, file in track.examples.templates.items()}
THRESHOLD_NOTE = """
# The threshold depends on the data: the organizers' page "Threshold" or `anoncup threshold` recommends one.
# It is the key `threshold` below [excessive]. No contest is published without it.
# しきい値はデータで決まります。「しきい値」のページか `anoncup threshold` の推奨値を [excessive] に書きます。
# しきい値がなければ公開できません。
"""
DESCRIPTION_EXAMPLE = """
# Shown first on the page of the competition, in Markdown. With terms, people accept it when they join.
# コンテストのページの最初に表示されます。terms を true にすると、参加のときに同意が必要になります。
# [description]
# terms = true
# en = '''
# Purpose, prizes, terms, and whom to ask: <cup@example.org>
# '''
# ja = '''
# 目的、賞、参加条件、問い合わせ先：<cup@example.org>
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
