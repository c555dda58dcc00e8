"""Parse ``competition.toml`` (format version 1), the file that contains all rules of a competition.

The organizer writes it, the server stores it, the download for teams contains it, and ``anoncup score`` reads
it.
"""

import re
from collections.abc import Iterator, Mapping
from copy import deepcopy
from functools import cached_property, lru_cache, partial
from typing import TypeVar
from zoneinfo import ZoneInfo

import tomlkit
from packaging.specifiers import InvalidSpecifier, SpecifierSet

from anoncup.competition.ranking_formulas import check_ranking, check_totals
from anoncup.competition.ranking_functions import check_functions
from anoncup.competition.required_packages import require_package
from anoncup.competition.scoring_versions import check_scored_by
from anoncup.errors import InvalidCompetition
from anoncup.messages import N_, Message
from anoncup.plugins import INSTALLED, TRACKS
from anoncup.rules.model import Rules
from anoncup.rules.parameters import Parameter, Roles
from anoncup.rules.rounds import RoundTable, read_round_name, read_round_tables
from anoncup.rules.settings import (
    AttackerSettings,
    Columns,
    Description,
    Excessive,
    Limits,
    MeasureSettings,
    Parameters,
    Publication,
)
from anoncup.rules.timetable import (
    Timetable,
    check_format,
    read_phases,
    read_ranking,
    read_timetable,
    read_zone,
)
from anoncup.rules.toml_text import parse_toml
from anoncup.rules.toml_values import (
    Reader,
    TomlTable,
    build_value_error,
    make_choice_reader,
    make_moment_reader,
    make_names_reader,
    make_whole_reader,
    read_count,
    read_flag,
    read_hours,
    read_markdown,
    read_number,
    read_share,
    read_text,
    read_texts,
    read_titles,
)
from anoncup.tracks.model import AnyTrack
from anoncup.tracks.parts import AnyMeasure

PartT = TypeVar("PartT")

MAX_DIGITS = 4
"""Maximum number of decimals of U and E that others see; ``overall`` always has this many."""
SLUG = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")


def parse_competition(text: str) -> Rules:
    """Parse a competition file; raise InvalidCompetition with the key of the first problem."""
    return _read_competition(TomlTable(parse_toml(text), ""))


def parse_rounds(text: str) -> Mapping[str, Rules]:
    """Parse a competition file of format 1 or 2 and return the rules of each round by its name."""
    return CompetitionFile(text).rules


class CompetitionFile:
    """A competition file of format 1 or 2. Its parts are read once, when they are first needed.

    Each part raises InvalidCompetition if it cannot be read. Title and timetables can be read even if a part
    that the rules name is not installed. Keys of rounds are their names.
    """

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def tables(self) -> Mapping[str, object]:
        return parse_toml(self.text)

    @cached_property
    def title(self) -> Mapping[str, str]:
        return read_titles(TomlTable(self._copy_tables(), ""))

    @cached_property
    def rounds(self) -> Mapping[str, RoundTable]:
        return {entry.settings.name: entry for entry in read_round_tables(self._copy_tables())}

    @cached_property
    def rules(self) -> Mapping[str, Rules]:
        return read_rounds(self._copy_tables())

    @cached_property
    def timetables(self) -> Mapping[str, Timetable]:
        return {
            name: read_timetable(TomlTable(deepcopy(entry.raw), "")) for name, entry in self.rounds.items()
        }

    @cached_property
    def round_texts(self) -> Mapping[str, str]:
        """The rules of each round as a file of format 1; a file of format 1 is unchanged."""
        return {
            name: tomlkit.dumps(entry.raw) if entry.path else self.text for name, entry in self.rounds.items()
        }

    @cached_property
    def only_rules(self) -> Rules:
        """The rules of a file of format 1."""
        return parse_competition(self.text)

    def _copy_tables(self) -> dict[str, object]:
        """Return tables of which a reader may take the keys."""
        return deepcopy(dict(self.tables))


read_file = lru_cache(maxsize=1024)(CompetitionFile)
"""Reads a text once, because the files of a service change rarely."""


def parse_common_rules(text: str) -> Rules:
    """Parse a competition file of format 1, or of format 2 without its rounds."""
    first_round = read_round_tables(parse_toml(text))[0]
    tables = dict(first_round.common) if first_round.path else first_round.raw
    return _read_competition(TomlTable(tables, ""))


def read_rounds(tables: dict[str, object]) -> dict[str, Rules]:
    """Return the rules of each round of a parsed file.

    Problems of the common settings are found first, so that others are at the place of the round.
    """
    rounds = read_round_tables(tables)
    if rounds[0].path:
        _read_competition(TomlTable(dict(rounds[0].common), ""))
    rules_by_round = {entry.settings.name: _read_round_rules(entry) for entry in rounds}
    ranking = next(iter(rules_by_round.values())).ranking
    check_totals(ranking, [entry.settings for entry in rounds])
    counting_rounds = [rules_by_round[entry.settings.name] for entry in rounds if entry.settings.weight]
    if ranking.total is None and len({rules.ranking.order for rules in counting_rounds}) > 1:
        raise build_value_error(
            "ranking.total", Message("a formula, because the rounds rank in opposite orders")
        )
    return rules_by_round


def _read_round_rules(entry: RoundTable) -> Rules:
    try:
        return _read_competition(TomlTable(entry.raw, ""))
    except InvalidCompetition as problem:
        key = problem.message.values.get("key")
        if not entry.path or not isinstance(key, str):
            raise
        values = {**problem.message.values, "key": f"{entry.path}.{key}"}
        raise InvalidCompetition(problem.message.template, code=problem.code, **values) from None


def _read_competition(table: TomlTable) -> Rules:
    check_format(table)
    # Packages come first, because a missing one explains why the rest of the file cannot be read.
    requires = _read_requires(table.take_table("requires"))
    name = table.take("track", make_choice_reader(*TRACKS))
    track = TRACKS[name]
    zone = read_zone(table)
    columns = _read_columns(table.take_table("columns")) if track.settings.has_columns else None
    settings = track.settings.read(table.take_table(name)) if track.settings.read else None
    roles = track.settings.list_columns_by_role(columns, settings)
    rules = Rules(
        slug=_read_slug(table),
        title=read_titles(table),
        track=name,
        timezone=zone.key,
        round=table.take("round", read_round_name, ""),
        description=_read_description(table.take_table("description")),
        columns=columns,
        settings=settings,
        measures=_read_measures(table.take_table("measures"), track, roles),
        attackers=_read_attackers(table.take_table("attackers"), track, roles),
        questions=_read_questions(table.take_table("questions"), track, roles),
        scales=_read_scales(table.take_table("scales"), track),
        excessive=_read_excessive(table.take_table("excessive"), track) if track.distances else None,
        ranking=read_ranking(table.take_table("ranking")),
        publication=_read_publication(table.take_table("publication"), zone, track),
        limits=_read_limits(table.take_table("limits"), track),
        phases=read_phases(table, zone),
        requires=requires,
        scored_by=table.take_table("scored_by").take_values(read_text),
    )
    table.reject_unknown_keys()
    track.settings.check(rules)
    check_ranking(rules)
    check_functions(rules)
    check_scored_by(rules)
    return rules


def _read_slug(table: TomlTable) -> str:
    slug = table.take("slug", read_text)
    if not SLUG.fullmatch(slug):
        raise build_value_error("slug", Message("1 to 63 lower-case letters, digits and inner hyphens"))
    return slug


def _read_description(table: TomlTable) -> Description:
    terms = table.take("terms", read_flag, False)
    texts = read_texts(table, read_markdown)
    if terms and not texts:
        raise build_value_error(table.path_of("terms"), Message("false in a description without text"))
    return Description(texts, terms)


def _read_columns(table: TomlTable) -> Columns:
    columns = Columns(
        table.take("quasi_identifiers", make_names_reader()), table.take("sensitive", make_names_reader())
    )
    table.reject_unknown_keys()
    for name in set(columns.quasi_identifiers) & set(columns.sensitive):
        raise InvalidCompetition(
            "columns: {name} is listed in both roles", code="column_in_both_roles", name=name
        )
    return columns


def _read_parameters(table: TomlTable, parameters: tuple[Parameter, ...], roles: Roles) -> Parameters:
    return {
        parameter.name: table.take(parameter.name, partial(parameter.read, roles=roles))
        for parameter in parameters
        if parameter.name in table.raw
    }


_UNKNOWN_PARTS = {
    "measures": ("unknown_measure", N_("{key} is not a measure of this track")),
    "attackers": ("unknown_attacker", N_("{key} is not an attacker of this track")),
    "questions": ("unknown_question", N_("{key} is not a question of this track")),
}
"""Error code and message by the table that names a part."""


def _take_parts(table: TomlTable, parts: Mapping[str, PartT]) -> Iterator[tuple[str, PartT, TomlTable]]:
    """Yield the name of each part that a table names, the part, and its settings, which the caller takes."""
    code, text = _UNKNOWN_PARTS[table.path]
    for name, entry in table.take_tables():
        if name not in parts:
            raise InvalidCompetition(text, code=code, key=entry.path)
        yield name, parts[name], entry
        entry.reject_unknown_keys()


def _read_measures(table: TomlTable, track: AnyTrack, roles: Roles) -> dict[str, MeasureSettings]:
    settings = {}
    for name, measure, entry in _take_parts(table, track.measures):
        weight = entry.take("weight", read_number, 0.0)
        _check_weight(weight, measure, track)
        settings[name] = MeasureSettings(weight, _read_parameters(entry, measure.parameters, roles))
    return settings


def _check_weight(weight: float, measure: AnyMeasure, track: AnyTrack) -> None:
    """Raise InvalidCompetition if a measure must not have this weight.

    Where U is the largest loss, weights are 0 or 1.
    """
    key = f"measures.{measure.name}"
    if weight and not measure.weighs:
        raise InvalidCompetition("{key} is reported only", code="measure_without_weight", key=key)
    if track.utility == "largest" and weight not in (0, 1):
        raise InvalidCompetition(
            "{key}: in this track the largest loss is U, so that a weight is 0 or 1",
            code="weight_of_largest",
            key=key,
        )


def _read_attackers(table: TomlTable, track: AnyTrack, roles: Roles) -> dict[str, AttackerSettings]:
    settings = {}
    for name, attacker, entry in _take_parts(table, track.attackers):
        counts = entry.take("counts", read_flag, attacker.may_count)
        if counts and not attacker.may_count:
            raise InvalidCompetition(
                "{key} never counts towards E", code="attacker_never_counts", key=entry.path
            )
        settings[name] = AttackerSettings(counts, _read_parameters(entry, attacker.parameters, roles))
    return settings


def _read_questions(table: TomlTable, track: AnyTrack, roles: Roles) -> dict[str, Parameters]:
    return {
        name: _read_parameters(entry, question.parameters, roles)
        for name, question, entry in _take_parts(table, track.questions)
    }


def _read_scales(table: TomlTable, track: AnyTrack) -> dict[str, float]:
    for name in table.raw:
        if name not in track.measures:
            raise InvalidCompetition(
                "{key} is not a measure of this track", code="unknown_measure", key=f"scales.{name}"
            )
    return table.take_values(read_number)


def _read_excessive(table: TomlTable, track: AnyTrack) -> Excessive:
    return table.read_as(
        partial(Excessive, distance=next(iter(track.distances))),
        distance=make_choice_reader(*track.distances),
        approach=make_choice_reader("I", "II"),
        rule=make_choice_reader("average", "strict"),
        threshold=read_number,
    )


def _read_publication(table: TomlTable, zone: ZoneInfo, track: AnyTrack) -> Publication:
    def read_shuffle_targets(value: object, path: str) -> bool:
        shuffles = read_flag(value, path)
        if shuffles and not track.can_shuffle:
            raise build_value_error(
                path, Message("false (in this track the rows of a release cannot be reordered)")
            )
        return shuffles

    return table.read_as(
        Publication,
        shuffle_targets=read_shuffle_targets,
        board=make_choice_reader("public", "teams", "organizers"),
        frozen_from=make_moment_reader(zone),
        feedback=make_choice_reader("hidden", "immediate", "daily"),
        digits=make_whole_reader(0, MAX_DIGITS),
        owners=make_choice_reader("shown", "hidden"),
        reveal_notice_hours=read_hours,
    )


def _read_limits(table: TomlTable, track: AnyTrack) -> Limits:
    readers: dict[str, Reader[float]] = {
        name: read_count for name in Limits.__dataclass_fields__ if name != "min_rows_kept"
    }
    if track.allows_deletion:
        return table.read_as(Limits, **readers, min_rows_kept=read_share)
    return table.read_as(partial(Limits, min_rows_kept=None), **readers)


def _read_requires(table: TomlTable) -> dict[str, str]:
    """Return the required versions by package; raise InvalidCompetition if they are not installed."""
    requirements = table.take_values(_read_specifier)
    for name, requirement in requirements.items():
        require_package(table.path_of(name), name, requirement, INSTALLED.packages)
    return requirements


def _read_specifier(value: object, path: str) -> str:
    """Read a version specifier (PEP 440)."""
    text = read_text(value, path)
    try:
        SpecifierSet(text)
    except InvalidSpecifier:
        raise build_value_error(path, Message("versions such as >=0.3 or ==1.2.*")) from None
    return text
