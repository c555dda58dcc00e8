"""The timetable of a competition: its phases, ranking rule and notice before a reveal.

The clock is the process that opens and closes phases. It reads only this part of a competition file, without
the code of measures, so that no measure can slow it down or stop it.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from itertools import pairwise
from typing import Literal, cast
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from anoncup.formulas.syntax import Formula, FormulaError, InvalidFormula, parse_formula
from anoncup.messages import Message
from anoncup.rules.settings import Phase, Publication, Ranking
from anoncup.rules.toml_text import replace_tables
from anoncup.rules.toml_values import (
    TomlTable,
    build_value_error,
    make_choice_reader,
    make_moment_reader,
    read_count,
    read_hours,
    read_text,
)

_FORMAT_VERSION = 1
_PHASE_NAMES = ("anonymization", "reidentification")
FORMULA_KEYS = ("utility", "defence", "attack", "total", "attack_total")
FUNCTION_KEYS = ("function", "attack_function")
_FUNCTION_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*:[a-z][a-z0-9_]{0,62}")


@dataclass(frozen=True, slots=True)
class Timetable:
    """The phases and the ranking rule of a competition.

    ``reveal_notice``: after an end was moved to an earlier time, the new end must have been observed for so
    long before the reveal may follow it.
    """

    phases: tuple[Phase, ...]
    ranking: Ranking
    reveal_notice: timedelta
    zone: ZoneInfo

    def phase(self, name: str) -> Phase | None:
        return next((phase for phase in self.phases if phase.name == name), None)


def read_timetable(table: TomlTable) -> Timetable:
    """Return the timetable of a round, even if this installation cannot read the rest of its rules."""
    check_format(table)
    zone = read_zone(table)
    phases = read_phases(table, zone)
    ranking = read_ranking(table.take_table("ranking"))
    notice_hours = table.take_table("publication").take(
        "reveal_notice_hours", read_hours, Publication().reveal_notice_hours
    )
    return Timetable(phases, ranking, timedelta(hours=notice_hours), zone)


def check_format(table: TomlTable) -> None:
    if table.take("format", read_count) != _FORMAT_VERSION:
        raise build_value_error("format", Message(str(_FORMAT_VERSION)))


def read_zone(table: TomlTable) -> ZoneInfo:
    name = table.take("timezone", read_text)
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise build_value_error("timezone", Message("the name of a time zone such as Asia/Tokyo")) from None


def read_ranking(table: TomlTable) -> Ranking:
    """Return the ranking rule; raise InvalidCompetition."""
    rule: Literal["score", "formula", "function"] = "score"
    if "function" in table.raw:
        _reject_keys(table, ("rule", "defence"), Message("left out, because there is a function"))
        rule = "function"
    elif "defence" in table.raw:
        _reject_keys(table, ("rule",), Message("left out, because there is a formula"))
        rule = "formula"
    if rule != "formula":
        _reject_keys(table, ("utility",), Message("left out without the formula of releases"))
    if rule == "score":
        _reject_keys(table, ("order",), Message("left out without the formula of releases"))
    if "attack_function" in table.raw:
        _reject_keys(table, ("attack",), Message("left out, because there is a function"))
    return table.read_as(
        partial(Ranking, rule=rule),
        rule=make_choice_reader("score", "rank_sum"),
        finals=read_count,
        order=make_choice_reader("ascending", "descending"),
        **dict.fromkeys(FORMULA_KEYS, _read_formula),
        **dict.fromkeys(FUNCTION_KEYS, _read_function_name),
    )


def _reject_keys(table: TomlTable, keys: Iterable[str], expected: Message) -> None:
    for key in keys:
        if key in table.raw:
            raise build_value_error(table.path_of(key), expected)


def _read_function_name(value: object, path: str) -> str:
    """Read the name of a function, whose package is checked later."""
    name = read_text(value, path)
    if not _FUNCTION_NAME.fullmatch(name):
        raise build_value_error(path, Message("a package and a function of it, such as cup2024:rank"))
    return name


def _read_formula(value: object, path: str) -> Formula:
    """Parse a formula, whose names are checked later; InvalidFormula tells the position of a problem."""
    if not isinstance(value, str):
        raise build_value_error(path, Message("a formula in quotes"))
    try:
        return parse_formula(value)
    except FormulaError as error:
        raise InvalidFormula(path, error) from None


def read_phases(table: TomlTable, zone: ZoneInfo) -> tuple[Phase, ...]:
    """Return the phases; raise InvalidCompetition."""
    raw = table.raw.pop("phases", [])
    if not isinstance(raw, list):
        raise build_value_error("phases", Message("a list of tables [[phases]]"))
    phases = tuple(_read_phase(TomlTable(entry, f"phases[{index}]"), zone) for index, entry in enumerate(raw))
    order = [_PHASE_NAMES.index(phase.name) for phase in phases]
    if order != sorted(set(order)):
        raise build_value_error(
            "phases", Message("at most one anonymization and then one reidentification phase")
        )
    for earlier, later in pairwise(phases):
        if later.start < earlier.end:
            raise build_value_error("phases", _explain_order(earlier, later))
    return phases


def _explain_order(earlier: Phase, later: Phase) -> Message:
    return Message(
        "windows that do not overlap: “{later}” starts on {start}, before “{earlier}” ends on {end}",
        later=later.name,
        start=later.start.isoformat(),
        earlier=earlier.name,
        end=earlier.end.isoformat(),
    )


def _read_phase(table: TomlTable, zone: ZoneInfo) -> Phase:
    name = cast(
        Literal["anonymization", "reidentification"], table.take("name", make_choice_reader(*_PHASE_NAMES))
    )
    phase = Phase(
        name, table.take("start", make_moment_reader(zone)), table.take("end", make_moment_reader(zone))
    )
    table.reject_unknown_keys()
    if not phase.start < phase.end:
        raise build_value_error(table.path, Message("a window that starts before it ends"))
    return phase


def replace_phases(text: str, phases: Iterable[Phase]) -> str:
    """Return the competition file with these phases."""
    tables = [
        f'[[phases]]\nname = "{phase.name}"\nstart = {phase.start.isoformat()}\nend = {phase.end.isoformat()}'
        for phase in phases
    ]
    return replace_tables(text, "phases", "\n\n".join(tables))
