"""Replace settings in the text of a competition file, one table at a time."""

from collections.abc import Collection, Mapping
from datetime import datetime
from zoneinfo import ZoneInfo

from anoncup.competition.parser import CompetitionFile, parse_rounds
from anoncup.rules.rounds import replace_round_phases
from anoncup.rules.settings import (
    AttackerSettings,
    Columns,
    Excessive,
    MeasureSettings,
    Phase,
)
from anoncup.rules.timetable import replace_phases
from anoncup.rules.toml_text import format_key, format_table, format_value, replace_tables
from anoncup.rules.toml_values import make_moment_reader
from anoncup.tracks.model import AnyTrack


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


def replace_measures(text: str, measures: Mapping[str, MeasureSettings]) -> str:
    """Return the file with these measures. Measures with weight 0 and no parameters are left out."""
    tables = [
        format_table(f"measures.{name}", {"weight": settings.weight or None, **settings.parameters})
        for name, settings in measures.items()
        if settings.weight or settings.parameters
    ]
    return replace_tables(text, "measures", "\n\n".join(tables))


def replace_attackers(text: str, track: AnyTrack, attackers: Mapping[str, AttackerSettings]) -> str:
    """Return the file with these attackers. Attackers with default settings are left out."""
    registry = track.attackers
    default_counts = {
        name: entry.may_count if entry.counts_by_default else None for name, entry in registry.items()
    }
    tables = [
        format_table(
            f"attackers.{name}",
            {"counts": None if entry.counts == default_counts[name] else entry.counts, **entry.parameters},
        )
        for name, entry in attackers.items()
        if entry.counts != (registry[name].may_count and registry[name].counts_by_default) or entry.parameters
    ]
    return replace_tables(text, "attackers", "\n\n".join(tables))


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
