"""The service's answers as people read them: a table of chosen fields, times in the reader's zone."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, TypeAlias, TypeVar

if TYPE_CHECKING:
    from anoncup import schemas

WIDE = 240
"""Columns where nobody's terminal limits them: a program must find every id whole."""

Row = TypeVar("Row")
Columns: TypeAlias = Mapping[str, str | Callable[[Row], object]]
"""Heading -> the field's name (``cap.left`` looks inside), or a function of the entry."""


def print_json(content: object) -> None:
    print(json.dumps(content, indent=2, default=lambda form: form.model_dump(mode="json")))


def show(entries: Iterable[Row], columns: Columns[Row], *, as_json: bool, empty: str = "none") -> None:
    """Entries as a table, or as they came."""
    entries = list(entries)
    if as_json:
        print_json(entries)
    elif not entries:
        print(empty)
    else:
        print_table(entries, columns)


def done(answer: object, sentence: str, *, as_json: bool) -> None:
    if as_json:
        print_json(answer)
    else:
        print(sentence)


def print_table(entries: Iterable[Row], columns: Columns[Row]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    entries = list(entries)
    table = Table(box=SIMPLE_HEAD, padding=(0, 1))
    for heading, field in columns.items():
        found = [value_of(entry, field) for entry in entries]
        numeric = all(isinstance(value, int | float) or value is None for value in found)
        table.add_column(heading, justify="right" if numeric else "left", no_wrap=heading == "id")
    for entry in entries:
        table.add_row(*(cell(value_of(entry, field)) for field in columns.values()))
    width = None if sys.stdout.isatty() else WIDE
    Console(markup=False, emoji=False, highlight=False, width=width).print(table)


def print_fields(entry: Row, columns: Columns[Row]) -> None:
    """One entry, a line per field."""
    longest = max(map(len, columns))
    for heading, field in columns.items():
        print(f"{heading:<{longest}}  {cell(value_of(entry, field))}")


def value_of(entry: Row, field: str | Callable[[Row], object]) -> object:
    if callable(field):
        return field(entry)
    found: object = entry
    for name in field.split("."):
        found = found.get(name) if isinstance(found, Mapping) else getattr(found, name, None)
    return found


def cell(value: object) -> str:
    """A value in words; nothing in it can steer a terminal."""
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
            return ", ".join(map(cell, value))
        case dict():
            return ", ".join(f"{cell(name)}: {cell(each)}" for name, each in value.items())
    return plain(str(value))


def plain(text: str) -> str:
    return "".join(character if character.isprintable() else " " for character in text)


def time_of(field: str) -> Callable[[object], object]:
    """The column of a moment, in the reader's own zone."""

    def shown(entry: object) -> object:
        written = value_of(entry, field)
        return None if written is None else moment(str(written))

    return shown


def moment(written: str) -> str:
    return cell(datetime.fromisoformat(written))


def title_of(entry: schemas.Listed) -> object:
    """A competition's title in the first language it has."""
    return next(iter(entry.title.values()), None)
