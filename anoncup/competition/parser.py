"""Reads ``competition.toml``: the one parser of the one format (version 1).

The organizer writes the file, the server stores it, the kit contains it and the local ``score`` reads it.
"""

import re
from collections.abc import Mapping
from functools import partial
from typing import cast
from zoneinfo import ZoneInfo

from anoncup.competition.requirements import read_requires
from anoncup.competition.scoring_versions import check_scored_by, read_scored_by
from anoncup.errors import InvalidCompetition
from anoncup.messages import Message
from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules
from anoncup.rules.parameters import Parameter, Roles
from anoncup.rules.rounds import read_format, read_notice_hours, read_phases, read_ranking, read_zone
from anoncup.rules.settings import (
    AttackerSettings,
    Columns,
    Excessive,
    Limits,
    MeasureSettings,
    Parameters,
    Publication,
)
from anoncup.rules.toml_text import loaded
from anoncup.rules.toml_values import (
    Table,
    choice,
    count,
    flag,
    moment,
    names_of,
    number,
    share,
    text_value,
    whole,
    wrong,
)
from anoncup.tracks.model import Track
from anoncup.tracks.parts import Measure

MOST_DIGITS = 4
"""Of U and E: what others see of ``overall`` has as many."""
SLUG = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")


def parse_competition(text: str) -> Rules:
    """The competition that ``text`` describes; InvalidCompetition says what is wrong and where."""
    return read_competition(Table(loaded(text), ""))


def parse_title(text: str) -> Mapping[str, str]:
    """The title alone, by language; InvalidCompetition if there is none."""
    return read_title(Table(loaded(text), ""))


def read_competition(table: Table) -> Rules:
    read_format(table)
    requires = read_requires(table.table("requires"))  # first: it says why the rest cannot be read
    name = str(table.take("track", choice(*TRACKS)))
    track = TRACKS[name]
    zone = read_zone(table)
    columns = read_columns(table.table("columns")) if track.has_columns else None
    settings = track.settings(table.table(name)) if track.settings else None
    roles = track.roles(columns, settings)
    rules = Rules(
        slug=read_slug(table),
        title=read_title(table),
        track=name,
        timezone=zone.key,
        columns=columns,
        settings=settings,
        measures=read_measures(table.table("measures"), track, roles),
        attackers=read_attackers(table.table("attackers"), track, roles),
        questions=read_questions(table.table("questions"), track, roles),
        scales=read_scales(table.table("scales"), track),
        excessive=read_excessive(table.table("excessive"), track) if track.distances else None,
        ranking=read_ranking(table.table("ranking")),
        publication=read_publication(table.table("publication"), zone, track),
        limits=read_limits(table.table("limits"), track),
        phases=read_phases(table, zone),
        requires=requires,
        scored_by=read_scored_by(table.table("scored_by")),
    )
    table.finish()
    track.check_rules(rules)
    check_scored_by(rules)
    return rules


def read_slug(table: Table) -> str:
    slug = str(table.take("slug", text_value))
    if not SLUG.fullmatch(slug):
        raise wrong("slug", Message("1 to 63 lower-case letters, digits and inner hyphens"))
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
        raise InvalidCompetition("{key} is missing", code="missing_key", key="title")
    return found


def read_columns(table: Table) -> Columns:
    quasi = cast(tuple[str, ...], table.take("quasi_identifiers", names_of()))
    sensitive = cast(tuple[str, ...], table.take("sensitive", names_of()))
    table.finish()
    for name in set(quasi) & set(sensitive):
        raise InvalidCompetition(
            "columns: {name} is listed in both roles", code="column_in_both_roles", name=name
        )
    return Columns(quasi, sensitive)


def read_parameters(table: Table, accepted: tuple[Parameter, ...], roles: Roles) -> Parameters:
    return {
        one.name: table.take(one.name, partial(one.read, roles=roles))
        for one in accepted
        if one.name in table.raw
    }


def read_measures(table: Table, track: Track, roles: Roles) -> dict[str, MeasureSettings]:
    known = track.measures
    settings = {}
    for name, entry in table.tables():
        if name not in known:
            raise InvalidCompetition(
                "{key} is not a measure of this track", code="unknown_measure", key=f"measures.{name}"
            )
        weight = cast(float, entry.take("weight", number, 0.0))
        check_weight(weight, known[name], track)
        settings[name] = MeasureSettings(weight, read_parameters(entry, known[name].parameters, roles))
        entry.finish()
    return settings


def check_weight(weight: float, measure: Measure, track: Track) -> None:
    """U as a mean takes any weights; as the largest loss it knows only what weighs and what does not."""
    key = f"measures.{measure.name}"
    if weight and not measure.weighs:
        raise InvalidCompetition("{key} is reported only", code="measure_without_weight", key=key)
    if track.utility == "largest" and weight not in (0, 1):
        raise InvalidCompetition(
            "{key}: in this track the largest loss is U, so that a weight is 0 or 1",
            code="weight_of_largest",
            key=key,
        )


def read_attackers(table: Table, track: Track, roles: Roles) -> dict[str, AttackerSettings]:
    known = track.attackers
    settings = {}
    for name, entry in table.tables():
        if name not in known:
            raise InvalidCompetition(
                "{key} is not an attacker of this track", code="unknown_attacker", key=f"attackers.{name}"
            )
        may_count = known[name].may_count
        counts = cast(bool, entry.take("counts", flag, may_count))
        if counts and not may_count:
            raise InvalidCompetition(
                "{key} never counts towards E", code="attacker_never_counts", key=f"attackers.{name}"
            )
        settings[name] = AttackerSettings(counts, read_parameters(entry, known[name].parameters, roles))
        entry.finish()
    return settings


def read_questions(table: Table, track: Track, roles: Roles) -> dict[str, Parameters]:
    settings = {}
    for name, entry in table.tables():
        if name not in track.questions:
            raise InvalidCompetition(
                "{key} is not a question of this track", code="unknown_question", key=f"questions.{name}"
            )
        settings[name] = read_parameters(entry, track.questions[name].parameters, roles)
        entry.finish()
    return settings


def read_scales(table: Table, track: Track) -> dict[str, float]:
    for name in table.raw:
        if name not in track.measures:
            raise InvalidCompetition(
                "{key} is not a measure of this track", code="unknown_measure", key=f"scales.{name}"
            )
    return {name: cast(float, table.take(name, number)) for name in list(table.raw)}


def read_excessive(table: Table, track: Track) -> Excessive:
    distances = tuple(track.distances)
    given = {
        "distance": table.take("distance", choice(*distances), distances[0]),
        "approach": table.take("approach", choice("I", "II"), "II"),
        "rule": table.take("rule", choice("average", "strict"), "average"),
        "threshold": table.take("threshold", number, None),
    }
    table.finish()
    return Excessive(**given)  # type: ignore[arg-type]  # every value was read by its own kind


def read_publication(table: Table, zone: ZoneInfo, track: Track) -> Publication:
    default = Publication()
    shuffled = cast(bool, table.take("shuffle_targets", flag, False))
    if shuffled and not track.shuffles:
        key = "publication.shuffle_targets"
        raise wrong(key, Message("false (in this track the rows of a release cannot be reordered)"))
    given = {
        "board": table.take("board", choice("public", "teams", "organizers"), default.board),
        "frozen_from": table.take("frozen_from", moment(zone), None),
        "feedback": table.take("feedback", choice("hidden", "immediate", "daily"), default.feedback),
        "shuffle_targets": shuffled,
        "digits": table.take("digits", whole(0, MOST_DIGITS), default.digits),
        "owners": table.take("owners", choice("shown", "hidden"), default.owners),
        "reveal_notice_hours": read_notice_hours(table),
    }
    table.raw.pop("owners_at_least", None)  # removed; files of format 1 that have it stay readable
    table.finish()
    return Publication(**given)  # type: ignore[arg-type]  # every value was read by its own kind


def read_limits(table: Table, track: Track) -> Limits:
    default = Limits()
    counts = {
        name: table.take(name, count, getattr(default, name))
        for name in Limits.__dataclass_fields__
        if name != "min_rows_kept"
    }
    kept = cast(float, table.take("min_rows_kept", share, default.min_rows_kept)) if track.deletes else None
    table.finish()
    return Limits(min_rows_kept=kept, **cast(dict[str, int], counts))
