"""First versions of competition files, and what new columns do to a file."""

from dataclasses import replace
from typing import Any

from app.errors import InvalidInput
from app.scoring.competition_file import parse_competition
from app.scoring.settings import Columns, MeasureSettings, Parameters
from app.scoring.templates import TEMPLATES, template
from app.scoring.toml_text import loaded, with_tables
from app.scoring.toml_writing import table_text, value_text, with_attackers, with_columns, with_measures
from app.scoring.tracks import TRACKS

PLACEHOLDERS = Columns(("quasi_identifier",), ("sensitive",))
"""The columns of a microdata draft until there are data: the format knows no table without columns."""
STARTS = (*(str(year) for year in TEMPLATES), *TRACKS)
"""What a draft may start from: a year's contest, or a track and nothing else."""


def draft(start: str) -> str:
    """A file to start from; its threshold is left open, for it belongs to data that are still to come."""
    if start in TRACKS:
        return empty(start)
    if start not in STARTS:
        raise InvalidInput("drafts start from {names}", code="unknown_template", names=tuple(STARTS))
    # What a template remarks about its own settings would stay when they are changed.
    text = "".join(line for line in template(int(start)).splitlines(True) if not line.startswith("#"))
    rule: dict[str, Any] = dict(loaded(text)["excessive"])  # type: ignore[call-overload]  # a template's table
    rule.pop("threshold", None)
    return with_tables(text, "excessive", table_text("excessive", rule))


def empty(track: str) -> str:
    """A track's file in which every measure that can weigh weighs the same."""
    text = f'format = 1\nslug = "draft"\ntitle = "draft"\ntrack = {value_text(track)}\ntimezone = "UTC"\n'
    weights = {name: MeasureSettings(1.0) for name, one in TRACKS[track].measures.items() if one.weighs}
    return with_measures(with_columns(text, PLACEHOLDERS) if track == "microdata" else text, weights)


def with_columns_of(text: str, columns: Columns) -> str:
    """The file with other roles of columns; parameters forget the columns that are not theirs any more."""
    before = parse_competition(text)
    measures = {
        name: replace(one, parameters=fitting(one.parameters, columns))
        for name, one in before.measures.items()
    }
    attackers = {
        name: replace(one, parameters=fitting(one.parameters, columns))
        for name, one in before.attackers.items()
    }
    text = with_columns(text, columns)
    if measures != dict(before.measures):
        text = with_measures(text, measures)
    if attackers != dict(before.attackers):
        text = with_attackers(text, TRACKS[before.track], attackers)
    return text


def fitting(parameters: Parameters, columns: Columns) -> dict[str, object]:
    """Without the names that these columns do not know; a parameter that is left empty takes its default."""
    roles = {
        "columns": columns.quasi_identifiers,
        "quasi_identifiers": columns.quasi_identifiers,
        "target": columns.sensitive,
        "sensitive": columns.sensitive,
        "column": columns.sensitive,
    }
    kept: dict[str, object] = {}
    for name, value in parameters.items():
        if name not in roles:
            kept[name] = value
        elif isinstance(value, str):
            kept |= {name: value} if value in roles[name] else {}
        else:
            named = tuple(one for one in roles[name] if one in value)  # type: ignore[operator]  # a list of names
            kept |= {name: named} if named else {}
    return kept
