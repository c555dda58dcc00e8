"""First versions of competition files, and what new columns do to a file."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from anoncup.competition.parser import parse_competition
from anoncup.competition.templates import TEMPLATES, template
from anoncup.competition.writer import with_attackers, with_columns, with_measures
from anoncup.errors import InvalidInput
from anoncup.plugins import TRACKS
from anoncup.rules.parameters import Parameter, Roles
from anoncup.rules.settings import Columns, MeasureSettings, Parameters
from anoncup.rules.toml_text import loaded, table_text, value_text, with_tables

PLACEHOLDERS = Columns(("quasi_identifier",), ("sensitive",))
"""The columns of a draft that has them until there are data: the format knows no table without columns."""
STARTS = tuple(dict.fromkeys((*TEMPLATES, *TRACKS)))
"""What a draft may start from: a template, or a track and nothing else."""


def draft(start: str) -> str:
    """A file to start from; its threshold is left open, for it belongs to data that are still to come."""
    if start not in STARTS:
        raise InvalidInput("drafts start from {names}", code="unknown_template", names=STARTS)
    if start not in TEMPLATES:
        return empty(start)
    # What a template remarks about its own settings would stay when they are changed.
    text = "".join(line for line in template(start).splitlines(True) if not line.startswith("#"))
    rule: Any = loaded(text).get("excessive", {})
    if "threshold" not in rule:
        return text
    open_rule = {key: value for key, value in rule.items() if key != "threshold"}
    return with_tables(text, "excessive", table_text("excessive", open_rule))


def empty(track: str) -> str:
    """A track's file in which every measure that can weigh weighs the same."""
    text = f'format = 1\nslug = "draft"\ntitle = "draft"\ntrack = {value_text(track)}\ntimezone = "UTC"\n'
    weights = {name: MeasureSettings(1.0) for name, one in TRACKS[track].measures.items() if one.weighs}
    return with_measures(with_columns(text, PLACEHOLDERS) if TRACKS[track].has_columns else text, weights)


def with_columns_of(text: str, columns: Columns) -> str:
    """The file with other roles of columns; parameters forget the columns that are not theirs any more."""
    before = parse_competition(text)
    track = TRACKS[before.track]
    roles = track.roles(columns, before.settings)
    measures = {
        name: replace(one, parameters=fitting(one.parameters, track.measures[name].parameters, roles))
        for name, one in before.measures.items()
    }
    attackers = {
        name: replace(one, parameters=fitting(one.parameters, track.attackers[name].parameters, roles))
        for name, one in before.attackers.items()
    }
    text = with_columns(text, columns)
    if measures != dict(before.measures):
        text = with_measures(text, measures)
    if attackers != dict(before.attackers):
        text = with_attackers(text, track, attackers)
    return text


def fitting(given: Parameters, known: Sequence[Parameter], roles: Roles) -> dict[str, object]:
    """Without the names that these columns do not know; a parameter that is left empty takes its default."""
    fitted = {one.name: one.fitted(given[one.name], roles) for one in known if one.name in given}
    return {name: value for name, value in fitted.items() if value is not None}
