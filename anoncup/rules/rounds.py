"""The rounds of a competition file.

Format 2 lists them as ``[[rounds]]``. A file of format 1 is one round without a name. The settings of a round
are those of a file of format 1: the common ones, in which the round's own phases and limits take effect.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, cast

import tomlkit
from tomlkit.items import AoT

from anoncup.errors import InvalidCompetition
from anoncup.messages import Message
from anoncup.rules.settings import Phase
from anoncup.rules.timetable import replace_phases
from anoncup.rules.toml_values import (
    TomlTable,
    build_value_error,
    make_choice_reader,
    read_count,
    read_flag,
    read_number,
    read_text,
    read_titles,
)

MAX_ROUNDS = 20
_ROUNDS_FORMAT = 2
_NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?")
_OWN_TABLES = (
    "measures",
    "attackers",
    "questions",
    "scales",
    "excessive",
    "ranking",
    "limits",
    "publication",
)
"""Tables of a round whose keys replace the common ones."""


@dataclass(frozen=True, slots=True)
class RoundSettings:
    """What a file says about a round besides the rules of its phases.

    ``data``: whether the round has data of its own or those of the previous one. ``practice``: it counts for
    nothing. ``own_tables``: names of the common tables in which the round changes something.
    """

    name: str = ""
    title: Mapping[str, str] = field(default_factory=dict)
    weight: float = 1.0
    data: Literal["own", "previous"] = "own"
    practice: bool = False
    own_tables: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class RoundTable:
    """A round with its rules as a file of format 1.

    ``common``: the rules without those of rounds. ``path``: its place in the competition's file, empty in
    format 1.
    """

    settings: RoundSettings
    raw: dict[str, object]
    common: Mapping[str, object] = field(default_factory=dict)
    path: str = ""


def read_round_tables(raw: dict[str, object]) -> list[RoundTable]:
    """Return the rounds of a parsed competition file in its order; raise InvalidCompetition."""
    version = raw.get("format")
    if not isinstance(version, int) or version != _ROUNDS_FORMAT:
        return [RoundTable(RoundSettings(), raw)]
    entries = raw.pop("rounds", None)
    if not isinstance(entries, list) or not 1 <= len(entries) <= MAX_ROUNDS:
        raise build_value_error("rounds", Message("a list of 1 to {most} tables [[rounds]]", most=MAX_ROUNDS))
    for key in ("phases", "round"):
        if key in raw:
            raise InvalidCompetition("{key} is not a key of the format", code="unknown_key", key=key)
    common = {**raw, "format": 1}
    rounds = [
        _read_round(TomlTable(entry, f"rounds[{index}]"), common) for index, entry in enumerate(entries)
    ]
    _check_rounds(rounds)
    return rounds


def replace_round_phases(text: str, name: str, phases: Iterable[Phase]) -> str:
    """Return the competition file with these phases of one round. The rest of the text is kept."""
    if not name:
        return replace_phases(text, phases)
    document = tomlkit.parse(text)
    rounds = cast(AoT, document["rounds"])
    table = next(table for table in rounds if table["name"] == name)
    table.pop("phases", None)
    table.append("phases", _build_phase_tables(phases))
    return tomlkit.dumps(document)


def _build_phase_tables(phases: Iterable[Phase]) -> AoT:
    tables = tomlkit.aot()
    for phase in phases:
        tables.append(tomlkit.item({"name": phase.name, "start": phase.start, "end": phase.end}))
    return tables


def _read_round(table: TomlTable, common: Mapping[str, object]) -> RoundTable:
    raw: dict[str, object] = {**common, "round": table.take("name", read_round_name)}
    for key in ("total", "attack_total"):
        if key in TomlTable(table.raw.get("ranking", {}), table.path_of("ranking")).raw:
            path = table.path_of(f"ranking.{key}")
            raise InvalidCompetition("{key} is not a key of the format", code="unknown_key", key=path)
    own_tables = {
        "ranking" if key == "finals" else key for key in table.raw if key in (*_OWN_TABLES, "finals")
    }
    for key in _OWN_TABLES:
        if key in table.raw:
            raw[key] = {**TomlTable(common.get(key, {}), key).raw, **table.take_table(key).raw}
    if "finals" in table.raw:
        finals = table.take("finals", read_count)
        raw["ranking"] = {**TomlTable(raw.get("ranking", {}), "ranking").raw, "finals": finals}
    raw["phases"] = table.raw.pop("phases", [])
    title = read_titles(table) if "title" in table.raw else {}
    name = cast(str, raw["round"])
    competition_title = read_titles(TomlTable({"title": common.get("title")}, ""))
    raw["title"] = _join_titles(competition_title, title or {"en": name})
    practice = table.take("practice", read_flag, False)
    settings = RoundSettings(
        name=name,
        title=title,
        weight=table.take("weight", read_number, 0.0 if practice else 1.0),
        data=cast(
            Literal["own", "previous"], table.take("data", make_choice_reader("own", "previous"), "own")
        ),
        practice=practice,
        own_tables=frozenset(own_tables),
    )
    table.reject_unknown_keys()
    if practice and settings.weight:
        raise build_value_error(
            table.path_of("weight"), Message("0 in a practice round, which does not count")
        )
    return RoundTable(settings, raw, common, table.path)


def _join_titles(competition: Mapping[str, str], own: Mapping[str, str]) -> dict[str, str]:
    """Return the title of the competition with that of the round, in each language that either has."""
    return {
        language: f"{choose_text(competition, language)} – {choose_text(own, language)}"
        for language in (*competition, *(language for language in own if language not in competition))
    }


def choose_text(texts: Mapping[str, str], language: str) -> str:
    """Return the text in the language, or else in the first one."""
    return texts.get(language) or next(iter(texts.values()))


def read_round_name(value: object, path: str) -> str:
    name = read_text(value, path)
    if not _NAME.fullmatch(name):
        raise build_value_error(path, Message("1 to 32 lower-case letters, digits and inner hyphens"))
    return name


def _check_rounds(rounds: Iterable[RoundTable]) -> None:
    names: set[str] = set()
    for entry in rounds:
        if entry.settings.name in names:
            raise build_value_error(f"{entry.path}.name", Message("a name that no other round has"))
        if entry.settings.data == "previous" and not names:
            raise build_value_error(f"{entry.path}.data", Message("own in the first round"))
        names.add(entry.settings.name)
