"""Replace settings in the text of a competition file, one table at a time."""

from collections.abc import Collection, Mapping
from datetime import datetime
from zoneinfo import ZoneInfo

from anoncup.competition.parser import CompetitionFile, parse_rounds
from anoncup.errors import InvalidCompetition
from anoncup.rules.rounds import replace_round_phases
from anoncup.rules.settings import (
    Columns,
    Excessive,
    Phase,
)
from anoncup.rules.timetable import replace_phases
from anoncup.rules.toml_text import format_key, format_table, format_value, parse_toml, replace_tables
from anoncup.rules.toml_values import make_moment_reader


def _replace_top_level_values(text: str, values: Mapping[str, object]) -> str:
    """Return the file with these top-level values at its beginning, in place of existing ones."""
    for key in values:
        text = replace_tables(text, key, "")
    lines = [f"{format_key(key)} = {format_value(value)}" for key, value in values.items()]
    return "\n".join(lines) + "\n\n" + text.lstrip()


def _replace_table(text: str, name: str, values: Mapping[str, object]) -> str:
    return replace_tables(text, name, format_table(name, values))


def replace_columns(text: str, columns: Columns) -> str:
    roles = {"quasi_identifiers": columns.quasi_identifiers, "sensitive": columns.sensitive}
    return _replace_table(text, "columns", roles)


def set_weights(text: str, weights: Mapping[str, float]) -> str:
    """Return the file with these weights; other settings and other measures are unchanged."""
    parent = _get_table(parse_toml(text), "measures")
    measures = {name: _get_table(parent, name) for name in parent}
    for name, weight in weights.items():
        measures[name] = {**measures.get(name, {}), "weight": float(weight)}
    tables = [format_table(f"measures.{name}", content) for name, content in measures.items()]
    return replace_tables(text, "measures", "\n\n".join(tables))


def set_threshold(text: str, threshold: float | None) -> str:
    """Return the file with this threshold of the rule against excessive anonymization; None removes it."""
    table = _get_table(parse_toml(text), "excessive")
    new_table = {**table, "threshold": threshold}
    if threshold is None:
        if "threshold" not in table:
            return text
        del new_table["threshold"]
    return replace_tables(text, "excessive", format_table("excessive", new_table))


def _get_table(parent: Mapping[str, object], key: str) -> dict[str, object]:
    table = parent.get(key, {})
    if not isinstance(table, dict):
        raise InvalidCompetition("{key} must be a table", code="wrong_type", key=key)
    return table


def replace_excessive(text: str, excessive: Excessive) -> str:
    values = {name: getattr(excessive, name) for name in excessive.__dataclass_fields__}
    return _replace_table(text, "excessive", values)


def replace_scored_by(text: str, versions: Mapping[str, str]) -> str:
    """Return the file with ``[scored_by]`` set to these versions, or without that table if there are none."""
    return replace_tables(text, "scored_by", format_table("scored_by", versions) if versions else "")


def replace_basics(
    text: str, *, slug: str, titles: Mapping[str, str], timezone: str, phases: Collection[Phase]
) -> str:
    """Return the file with this slug, title, time zone and phases.

    The phases of rounds keep their lengths, and are moved so that the first one starts with the first phase.
    """
    text = _replace_top_level_values(text, {"slug": slug, "timezone": timezone})
    text = _replace_table(text, "title", titles)
    if "" not in CompetitionFile(text).rounds:
        return _move_rounds(text, min(phase.start for phase in phases), ZoneInfo(timezone))
    return replace_phases(text, phases)


def _move_rounds(text: str, start: datetime, zone: ZoneInfo) -> str:
    """Return the file with its first phase starting then; the others keep their days and times of day."""
    rounds = parse_rounds(text)
    offset = start.astimezone(zone).replace(tzinfo=None) - min(
        phase.start.replace(tzinfo=None) for rules in rounds.values() for phase in rules.phases
    )

    def move(moment: datetime) -> datetime:
        local_time = moment.replace(tzinfo=None) + offset
        return make_moment_reader(zone)(local_time, "phases")

    for name, rules in rounds.items():
        phases = [Phase(phase.name, move(phase.start), move(phase.end)) for phase in rules.phases]
        text = replace_round_phases(text, name, phases)
    return text
