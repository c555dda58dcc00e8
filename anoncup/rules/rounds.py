"""What turns a competition: its windows, how many finals a team has, how early a reveal is told of.

Read without any measure's code: the clock reads no more of a file than this, so that what is measured
neither slows nor stops it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Literal, cast
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from anoncup.messages import Message
from anoncup.rules.settings import Limits, Phase, Publication, Ranking
from anoncup.rules.toml_text import loaded, with_tables
from anoncup.rules.toml_values import Table, choice, count, hours, moment, text_value, wrong

FORMAT = 1
PHASES = ("anonymization", "reidentification")
CAPS = ("valid_per_day", "valid_total", "guesses_per_target")


@dataclass(frozen=True, slots=True)
class Timetable:
    """The part of a competition file that says when, and how many finals; ``notice``: how long before it a
    reveal must have been witnessed."""

    phases: tuple[Phase, ...]
    ranking: Ranking
    notice: timedelta
    zone: ZoneInfo
    limits: Mapping[str, int]
    """The caps that the clock notes (``CAPS``)."""

    def phase(self, name: str) -> Phase | None:
        return next((phase for phase in self.phases if phase.name == name), None)


def parse_timetable(text: str) -> Timetable:
    """The timetable of a competition file, though the rest of it be beyond this installation."""
    table = Table(loaded(text), "")
    read_format(table)
    zone = read_zone(table)
    return Timetable(
        read_phases(table, zone),
        read_ranking(table.table("ranking")),
        timedelta(hours=read_notice_hours(table.table("publication"))),
        zone,
        read_caps(table.table("limits")),
    )


def read_format(table: Table) -> None:
    if table.take("format", count) != FORMAT:
        raise wrong("format", Message(str(FORMAT)))


def read_zone(table: Table) -> ZoneInfo:
    name = str(table.take("timezone", text_value))
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise wrong("timezone", Message("the name of a time zone such as Asia/Tokyo")) from None


def read_ranking(table: Table) -> Ranking:
    rule = cast(Literal["score", "rank_sum"], table.take("rule", choice("score", "rank_sum"), "score"))
    finals = cast(int, table.take("finals", count, Ranking().finals))
    table.finish()
    return Ranking(rule, finals)


def read_notice_hours(publication: Table) -> int:
    return cast(int, publication.take("reveal_notice_hours", hours, Publication().reveal_notice_hours))


def read_caps(limits: Table) -> dict[str, int]:
    return {name: cast(int, limits.take(name, count, getattr(Limits(), name))) for name in CAPS}


def read_phases(table: Table, zone: ZoneInfo) -> tuple[Phase, ...]:
    raw = table.raw.pop("phases", [])
    if not isinstance(raw, list):
        raise wrong("phases", Message("a list of tables [[phases]]"))
    phases = tuple(read_phase(Table(entry, f"phases[{i}]"), zone) for i, entry in enumerate(raw))
    order = [PHASES.index(phase.name) for phase in phases]
    if order != sorted(set(order)):
        raise wrong("phases", Message("at most one anonymization and then one reidentification phase"))
    for earlier, later in pairwise(phases):
        if later.start < earlier.end:
            message = Message(
                "windows that do not overlap: “{later}” starts on {start}, before “{earlier}” ends on {end}",
                later=later.name,
                start=later.start.isoformat(),
                earlier=earlier.name,
                end=earlier.end.isoformat(),
            )
            raise wrong("phases", message)
    return phases


def read_phase(table: Table, zone: ZoneInfo) -> Phase:
    name = cast(Literal["anonymization", "reidentification"], table.take("name", choice(*PHASES)))
    start = cast(datetime, table.take("start", moment(zone)))
    end = cast(datetime, table.take("end", moment(zone)))
    table.finish()
    if not start < end:
        raise wrong(table.path, Message("a window that starts before it ends"))
    return Phase(name, start, end)


def with_phases(text: str, phases: Iterable[Phase]) -> str:
    """The competition file with its ``[[phases]]`` replaced by these."""
    tables = [
        f'[[phases]]\nname = "{phase.name}"\nstart = {phase.start.isoformat()}\nend = {phase.end.isoformat()}'
        for phase in phases
    ]
    return with_tables(text, "phases", "\n\n".join(tables))
