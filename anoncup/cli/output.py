"""Print responses of the service as tables, with times in the local time zone, or as JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import TypeAlias, TypeVar

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

_UNLIMITED_WIDTH = 240
"""Table width if the output is not a terminal. It is large enough that ids are never cut."""

Row = TypeVar("Row")
ColumnSpec: TypeAlias = Mapping[str, str | Callable[[Row], object]]
"""Maps a heading to a field name, such as ``id`` or ``result.overall``, or to a function of the entry."""


def print_json(content: object) -> None:
    """Print a schema, or lists and tables with schemas, as JSON. Other values, such as times, become text."""
    print(json.dumps(content, indent=2, default=_make_serializable))


def _make_serializable(value: object) -> object:
    dump = getattr(value, "model_dump", None)  # pydantic is not imported for it
    return dump(mode="json") if dump else str(value)


def print_entries(
    entries: Iterable[Row], columns: ColumnSpec[Row], *, as_json: bool, empty_text: str = "none"
) -> None:
    """Print entries as a table or as JSON."""
    entries = list(entries)
    if as_json:
        print_json(entries)
    elif not entries:
        print(empty_text)
    else:
        print_table(entries, columns)


def print_result(result: object, sentence: str, *, as_json: bool) -> None:
    if as_json:
        print_json(result)
    else:
        print(sentence)


def print_table(entries: Iterable[Row], columns: ColumnSpec[Row]) -> None:
    entries = list(entries)
    table = Table(box=SIMPLE_HEAD, padding=(0, 1))
    for heading, field in columns.items():
        values = [get_value(entry, field) for entry in entries]
        is_numeric = all(isinstance(value, int | float) or value is None for value in values)
        table.add_column(heading, justify="right" if is_numeric else "left", no_wrap=heading == "id")
    for entry in entries:
        table.add_row(*(format_cell(get_value(entry, field)) for field in columns.values()))
    make_console(highlight=False).print(table)


def make_console(*, highlight: bool = True) -> Console:
    width = None if sys.stdout.isatty() else _UNLIMITED_WIDTH
    # Names of columns may look like markup ("[/x]") or emoji (":x:").
    return Console(markup=False, emoji=False, highlight=highlight, width=width)


def print_fields(entry: Row, columns: ColumnSpec[Row]) -> None:
    """Print one entry with one line per field."""
    width = max(map(len, columns))
    for heading, field in columns.items():
        print(f"{heading:<{width}}  {format_cell(get_value(entry, field))}")


def get_value(entry: Row, field: str | Callable[[Row], object]) -> object:
    if callable(field):
        return field(entry)
    value: object = entry
    for name in field.split("."):
        value = value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)
    return value


def format_cell(value: object) -> str:
    """Format a value as text without terminal control sequences."""
    match value:
        case None:
            return "–"
        case bool():
            return "yes" if value else "no"
        case float():
            return f"{value:.6g}"
        case datetime():
            value = f"{value.astimezone():%Y-%m-%d %H:%M:%S %Z}"
        case list():
            return ", ".join(map(format_cell, value))
        case dict():
            return ", ".join(f"{format_cell(name)}: {format_cell(item)}" for name, item in value.items())
    return replace_unprintable(str(value))


def replace_unprintable(text: str) -> str:
    return "".join(character if character.isprintable() else " " for character in text)


def make_time_column(field: str) -> Callable[[object], object]:
    """Return a column function that formats a time field in the local time zone."""

    def format_time(entry: object) -> object:
        value = get_value(entry, field)
        return None if value is None else format_cell(datetime.fromisoformat(str(value)))

    return format_time
