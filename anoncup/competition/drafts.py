"""Create draft competition files, and change the columns of a file."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from anoncup.competition.parser import parse_common_rules
from anoncup.competition.templates import TEMPLATES, template
from anoncup.competition.writer import replace_attackers, replace_columns, replace_measures
from anoncup.errors import InvalidInput
from anoncup.plugins import TRACKS
from anoncup.rules.parameters import Parameter, Roles
from anoncup.rules.settings import Columns, MeasureSettings, Parameters
from anoncup.rules.toml_text import format_table, format_value, parse_toml, replace_tables

PLACEHOLDER_COLUMNS = Columns(("quasi_identifier",), ("sensitive",))
"""Columns of a draft until data are uploaded; the format requires at least one column for each role."""
DRAFT_SOURCES = tuple(dict.fromkeys((*TEMPLATES, *TRACKS)))
"""Names of templates and tracks from which a draft can be made."""


def create_draft(source: str) -> str:
    """Return a competition file to start from. It has no threshold, because that depends on the data."""
    if source not in DRAFT_SOURCES:
        raise InvalidInput("drafts start from {names}", code="unknown_template", names=DRAFT_SOURCES)
    if source not in TEMPLATES:
        return _create_empty_draft(source)
    # The template's comments describe its settings. They would become wrong when the settings are changed.
    text = "".join(line for line in template(source).splitlines(True) if not line.startswith("#"))
    excessive: Any = parse_toml(text).get("excessive", {})
    if "threshold" not in excessive:
        return text
    without_threshold = {key: value for key, value in excessive.items() if key != "threshold"}
    return replace_tables(text, "excessive", format_table("excessive", without_threshold))


def _create_empty_draft(track: str) -> str:
    """Return a competition file of a track in which all measures have equal weights."""
    text = f'format = 1\nslug = "draft"\ntitle = "draft"\ntrack = {format_value(track)}\ntimezone = "UTC"\n'
    weights = {
        name: MeasureSettings(1.0) for name, measure in TRACKS[track].measures.items() if measure.weighs
    }
    return replace_measures(
        replace_columns(text, PLACEHOLDER_COLUMNS) if TRACKS[track].settings.has_columns else text, weights
    )


def change_columns(text: str, columns: Columns) -> str:
    """Return the file with new column roles. Parameters no longer name columns that lost their role."""
    rules = parse_common_rules(text)
    track = TRACKS[rules.track]
    roles = track.settings.list_columns_by_role(columns, rules.settings)
    measures = {
        name: replace(
            settings, parameters=_fit_parameters(settings.parameters, track.measures[name].parameters, roles)
        )
        for name, settings in rules.measures.items()
    }
    attackers = {
        name: replace(
            settings, parameters=_fit_parameters(settings.parameters, track.attackers[name].parameters, roles)
        )
        for name, settings in rules.attackers.items()
    }
    text = replace_columns(text, columns)
    if measures != dict(rules.measures):
        text = replace_measures(text, measures)
    if attackers != dict(rules.attackers):
        text = replace_attackers(text, track, attackers)
    return text


def _fit_parameters(values: Parameters, parameters: Sequence[Parameter], roles: Roles) -> dict[str, object]:
    """Remove unknown column names from the values, and drop parameters that become empty."""
    fitted = {
        parameter.name: parameter.drop_unknown_columns(values[parameter.name], roles)
        for parameter in parameters
        if parameter.name in values
    }
    return {name: value for name, value in fitted.items() if value is not None}
