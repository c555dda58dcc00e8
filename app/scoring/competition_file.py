"""Reads ``competition.toml``: the one parser of the one format (version 1).

The organizer writes the file, the server stores it, the kit contains it and the local ``score`` reads it.
"""

import re
import sys
from collections.abc import Callable, Iterable
from datetime import datetime
from itertools import pairwise
from typing import Literal, cast
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from app.errors import InvalidCompetition
from app.scoring.competition import (
    AttackerSettings,
    Columns,
    Competition,
    Excessive,
    Limits,
    MeasureSettings,
    Parameters,
    Phase,
    Publication,
    Ranking,
)
from app.scoring.toml_text import loaded, with_tables
from app.scoring.tracks import TRACKS

FORMAT = 1
CONTROL = re.compile(r"[\x00-\x1f\x7f]")
SLUG = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
PHASES = ("anonymization", "reidentification")
LARGEST = sys.float_info.max


def parse_competition(text: str) -> Competition:
    """The competition that ``text`` describes; InvalidCompetition says what is wrong and where."""
    return read_competition(Table(loaded(text), ""))


class Table:
    """One TOML table being read: typed values by key, and a complaint about keys nobody asked for."""

    def __init__(self, raw: object, path: str) -> None:
        if not isinstance(raw, dict):
            raise InvalidCompetition(f"{path} must be a table", code="wrong_type")
        self.raw: dict[str, object] = dict(raw)
        self.path = path

    def at(self, key: str) -> str:
        return f"{self.path}.{key}" if self.path else key

    def take(self, key: str, kind: Callable[[object, str], object], *default: object) -> object:
        """The value under ``key`` as ``kind`` reads it; without a default the key is required."""
        if key in self.raw:
            return kind(self.raw.pop(key), self.at(key))
        if not default:
            raise InvalidCompetition(f"{self.at(key)} is missing", code="missing_key")
        return default[0]

    def table(self, key: str) -> "Table":
        return Table(self.raw.pop(key, {}), self.at(key))

    def tables(self) -> Iterable[tuple[str, "Table"]]:
        """All entries, each a table of its own."""
        for key in list(self.raw):
            yield key, self.table(key)

    def finish(self) -> None:
        for key in self.raw:
            raise InvalidCompetition(f"{self.at(key)} is not a key of the format", code="unknown_key")


def wrong(path: str, expected: str) -> InvalidCompetition:
    return InvalidCompetition(f"{path} must be {expected}", code="wrong_value")


def text_value(value: object, path: str) -> str:
    if not isinstance(value, str) or not value.strip() or len(value) > 200 or CONTROL.search(value):
        raise wrong(path, "a text of 1 to 200 characters, none of them a control character")
    return value


def flag(value: object, path: str) -> bool:
    if not isinstance(value, bool):
        raise wrong(path, "true or false")
    return value


def number(value: object, path: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= LARGEST:
        raise wrong(path, "a finite number, 0 or more")
    return float(value)


def share(value: object, path: str) -> float:
    if number(value, path) > 1:
        raise wrong(path, "a number from 0 to 1")
    return number(value, path)


def count(value: object, path: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 1_000_000:
        raise wrong(path, "a whole number from 1 to 1,000,000")
    return value


def choice(*allowed: str) -> Callable[[object, str], str]:
    def read(value: object, path: str) -> str:
        if value not in allowed:
            raise wrong(path, "one of " + ", ".join(allowed))
        return str(value)

    return read


def names_of(allowed: tuple[str, ...] | None = None) -> Callable[[object, str], tuple[str, ...]]:
    """A list of distinct names, out of ``allowed`` and in its order where that is given."""
    known = frozenset(allowed or ())

    def read(value: object, path: str) -> tuple[str, ...]:
        if not isinstance(value, list) or not value or not all(isinstance(name, str) for name in value):
            raise wrong(path, "a list of column names")
        if len(set(value)) != len(value):
            raise wrong(path, "a list without repetitions")
        if allowed is None:
            return tuple(value)
        for name in value:
            if name not in known:
                raise InvalidCompetition(f"{path}: {name} is not such a column", code="unknown_column")
        named = set(value)
        return tuple(name for name in allowed if name in named)

    return read


def moment(zone: ZoneInfo) -> Callable[[object, str], datetime]:
    """A time; one without an offset is meant in the competition's zone."""

    def read(value: object, path: str) -> datetime:
        if not isinstance(value, datetime) or not 1970 <= value.year < 9999:
            raise wrong(path, "a date and time such as 2027-01-10T09:00:00+09:00")
        return value if value.tzinfo else value.replace(tzinfo=zone)

    return read


def read_competition(table: Table) -> Competition:
    if table.take("format", count) != FORMAT:
        raise wrong("format", str(FORMAT))
    track = cast(Literal["microdata", "transactions"], table.take("track", choice(*TRACKS)))
    zone = read_zone(table)
    columns = read_columns(table.table("columns")) if track == "microdata" else None
    competition = Competition(
        slug=read_slug(table),
        title=read_title(table),
        track=track,
        timezone=zone.key,
        columns=columns,
        measures=read_measures(table.table("measures"), track, columns),
        attackers=read_attackers(table.table("attackers"), track, columns),
        scales=read_scales(table.table("scales"), track),
        excessive=read_excessive(table.table("excessive"), track),
        ranking=read_ranking(table.table("ranking")),
        publication=read_publication(table.table("publication"), zone),
        limits=read_limits(table.table("limits")),
        phases=read_phases(table, zone),
    )
    table.finish()
    return competition


def read_slug(table: Table) -> str:
    slug = str(table.take("slug", text_value))
    if not SLUG.fullmatch(slug):
        raise wrong("slug", "1 to 63 lower-case letters, digits and inner hyphens")
    return slug


def read_title(table: Table) -> dict[str, str]:
    raw = table.raw.pop("title", None)
    if isinstance(raw, str):
        return {"en": text_value(raw, "title")}
    titles = Table({} if raw is None else raw, "title")
    found: dict[str, str] = {
        language: str(titles.take(language, text_value))
        for language in ("en", "ja")
        if language in titles.raw
    }
    titles.finish()
    if not found:
        raise InvalidCompetition("title is missing", code="missing_key")
    return found


def read_zone(table: Table) -> ZoneInfo:
    name = str(table.take("timezone", text_value))
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise wrong("timezone", "the name of a time zone such as Asia/Tokyo") from None


def read_columns(table: Table) -> Columns:
    quasi = cast(tuple[str, ...], table.take("quasi_identifiers", names_of()))
    sensitive = cast(tuple[str, ...], table.take("sensitive", names_of()))
    table.finish()
    for name in set(quasi) & set(sensitive):
        raise InvalidCompetition(f"columns: {name} is listed in both roles", code="column_in_both_roles")
    return Columns(quasi, sensitive)


def read_parameters(table: Table, accepted: tuple[str, ...], columns: Columns | None) -> Parameters:
    """What a parameter's name means is the same for every measure and attacker."""
    quasi, sensitive = (columns.quasi_identifiers, columns.sensitive) if columns else ((), ())
    kinds: dict[str, Callable[[object, str], object]] = {
        "columns": names_of(quasi),
        "quasi_identifiers": names_of(quasi),
        "target": names_of(sensitive),
        "sensitive": names_of(sensitive),
        "column": lambda value, path: names_of(sensitive)([value], path)[0],
        "give_up": choice("abstain", "own_row"),
        "dense_limit": count,
    }
    return {name: table.take(name, kinds[name]) for name in accepted if name in table.raw}


def read_measures(table: Table, track: str, columns: Columns | None) -> dict[str, MeasureSettings]:
    known = TRACKS[track].measures
    settings = {}
    for name, entry in table.tables():
        if name not in known:
            raise InvalidCompetition(
                f"measures.{name} is not a measure of this track", code="unknown_measure"
            )
        weight = cast(float, entry.take("weight", number, 0.0))
        if weight and not known[name].weighs:
            raise InvalidCompetition(f"measures.{name} is reported only", code="measure_without_weight")
        settings[name] = MeasureSettings(weight, read_parameters(entry, known[name].parameters, columns))
        entry.finish()
    return settings


def read_attackers(table: Table, track: str, columns: Columns | None) -> dict[str, AttackerSettings]:
    known = TRACKS[track].attackers
    settings = {}
    for name, entry in table.tables():
        if name not in known:
            raise InvalidCompetition(
                f"attackers.{name} is not an attacker of this track", code="unknown_attacker"
            )
        may_count = known[name].may_count
        counts = cast(bool, entry.take("counts", flag, may_count))
        if counts and not may_count:
            raise InvalidCompetition(f"attackers.{name} never counts towards E", code="attacker_never_counts")
        settings[name] = AttackerSettings(counts, read_parameters(entry, known[name].parameters, columns))
        entry.finish()
    return settings


def read_scales(table: Table, track: str) -> dict[str, float]:
    for name in table.raw:
        if name not in TRACKS[track].measures:
            raise InvalidCompetition(f"scales.{name} is not a measure of this track", code="unknown_measure")
    return {name: cast(float, table.take(name, number)) for name in list(table.raw)}


def read_excessive(table: Table, track: str) -> Excessive:
    distances = tuple(TRACKS[track].distances)
    given = {
        "distance": table.take("distance", choice(*distances), distances[0]),
        "approach": table.take("approach", choice("I", "II"), "II"),
        "rule": table.take("rule", choice("average", "strict"), "average"),
        "threshold": table.take("threshold", number, None),
    }
    table.finish()
    return Excessive(**given)  # type: ignore[arg-type]  # every value was read by its own kind


def read_ranking(table: Table) -> Ranking:
    rule = cast(Literal["score", "rank_sum"], table.take("rule", choice("score", "rank_sum"), "score"))
    finals = cast(int, table.take("finals", count, Ranking().finals))
    table.finish()
    return Ranking(rule, finals)


def read_publication(table: Table, zone: ZoneInfo) -> Publication:
    given = {
        "board": table.take("board", choice("public", "teams", "organizers"), "public"),
        "frozen_from": table.take("frozen_from", moment(zone), None),
        "feedback": table.take("feedback", choice("hidden", "immediate", "daily"), "hidden"),
        "shuffle_targets": table.take("shuffle_targets", flag, False),
    }
    table.finish()
    return Publication(**given)  # type: ignore[arg-type]  # every value was read by its own kind


def read_limits(table: Table) -> Limits:
    default = Limits()
    counts = {
        name: table.take(name, count, getattr(default, name))
        for name in Limits.__dataclass_fields__
        if name != "min_rows_kept"
    }
    kept = cast(float, table.take("min_rows_kept", share, default.min_rows_kept))
    table.finish()
    return Limits(min_rows_kept=kept, **cast(dict[str, int], counts))


def read_phases(table: Table, zone: ZoneInfo) -> tuple[Phase, ...]:
    raw = table.raw.pop("phases", [])
    if not isinstance(raw, list):
        raise wrong("phases", "a list of tables [[phases]]")
    phases = tuple(read_phase(Table(entry, f"phases[{i}]"), zone) for i, entry in enumerate(raw))
    order = [PHASES.index(phase.name) for phase in phases]
    if order != sorted(set(order)):
        raise wrong("phases", "at most one anonymization and then one reidentification phase")
    if any(later.start < earlier.end for earlier, later in pairwise(phases)):
        raise wrong("phases", "windows that do not overlap")
    return phases


def read_phase(table: Table, zone: ZoneInfo) -> Phase:
    name = cast(Literal["anonymization", "reidentification"], table.take("name", choice(*PHASES)))
    start = cast(datetime, table.take("start", moment(zone)))
    end = cast(datetime, table.take("end", moment(zone)))
    table.finish()
    if not start < end:
        raise wrong(table.path, "a window that starts before it ends")
    return Phase(name, start, end)


def with_phases(text: str, phases: Iterable[Phase]) -> str:
    """The competition file with its ``[[phases]]`` replaced by these."""
    tables = [
        f'[[phases]]\nname = "{phase.name}"\nstart = {phase.start.isoformat()}\nend = {phase.end.isoformat()}'
        for phase in phases
    ]
    return with_tables(text, "phases", "\n\n".join(tables))
