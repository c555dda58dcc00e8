"""Values of a TOML file that people write: typed, and refused with the path of what is wrong."""

import re
import sys
from collections.abc import Callable, Iterable
from datetime import datetime
from zoneinfo import ZoneInfo

from anoncup.errors import InvalidCompetition
from anoncup.messages import Message

CONTROL = re.compile(r"[\x00-\x1f\x7f]")
LARGEST = sys.float_info.max
MOST_HOURS = 8760
"""A year."""


class Table:
    """One TOML table being read: typed values by key, and a complaint about keys nobody asked for."""

    def __init__(self, raw: object, path: str) -> None:
        if not isinstance(raw, dict):
            raise InvalidCompetition("{key} must be a table", code="wrong_type", key=path)
        self.raw: dict[str, object] = dict(raw)
        self.path = path

    def at(self, key: str) -> str:
        return f"{self.path}.{key}" if self.path else key

    def take(self, key: str, kind: Callable[[object, str], object], *default: object) -> object:
        """The value under ``key`` as ``kind`` reads it; without a default the key is required."""
        if key in self.raw:
            return kind(self.raw.pop(key), self.at(key))
        if not default:
            raise InvalidCompetition("{key} is missing", code="missing_key", key=self.at(key))
        return default[0]

    def table(self, key: str) -> "Table":
        return Table(self.raw.pop(key, {}), self.at(key))

    def tables(self) -> Iterable[tuple[str, "Table"]]:
        """All entries, each a table of its own."""
        for key in list(self.raw):
            yield key, self.table(key)

    def finish(self) -> None:
        for key in self.raw:
            raise InvalidCompetition("{key} is not a key of the format", code="unknown_key", key=self.at(key))


def wrong(path: str, expected: Message) -> InvalidCompetition:
    return InvalidCompetition("{key} must be {expected}", code="wrong_value", key=path, expected=expected)


def text_value(value: object, path: str) -> str:
    if not isinstance(value, str) or not value.strip() or len(value) > 200 or CONTROL.search(value):
        raise wrong(path, Message("a text of 1 to 200 characters, none of them a control character"))
    return value


def flag(value: object, path: str) -> bool:
    if not isinstance(value, bool):
        raise wrong(path, Message("true or false"))
    return value


def number(value: object, path: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= LARGEST:
        raise wrong(path, Message("a finite number, 0 or more"))
    return float(value)


def share(value: object, path: str) -> float:
    if number(value, path) > 1:
        raise wrong(path, Message("a number from 0 to 1"))
    return number(value, path)


def whole(least: int, most: int) -> Callable[[object, str], int]:
    def read(value: object, path: str) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise wrong(path, Message("a whole number from {least:,} to {most:,}", least=least, most=most))
        return value

    return read


count = whole(1, 1_000_000)
hours = whole(0, MOST_HOURS)


def choice(*allowed: str) -> Callable[[object, str], str]:
    def read(value: object, path: str) -> str:
        if value not in allowed:
            raise wrong(path, Message("one of {names}", names=allowed))
        return str(value)

    return read


def names_of(allowed: tuple[str, ...] | None = None) -> Callable[[object, str], tuple[str, ...]]:
    """A list of distinct names, out of ``allowed`` and in its order where that is given."""
    known = frozenset(allowed or ())

    def read(value: object, path: str) -> tuple[str, ...]:
        if not isinstance(value, list) or not value or not all(isinstance(name, str) for name in value):
            raise wrong(path, Message("a list of column names"))
        if len(set(value)) != len(value):
            raise wrong(path, Message("a list without repetitions"))
        if allowed is None:
            return tuple(value)
        if not all(name.strip() or name in known for name in value):
            raise wrong(path, Message("a list of column names"))
        for name in value:
            if name not in known:
                raise InvalidCompetition(
                    "{key}: {column} is not such a column", code="unknown_column", key=path, column=name
                )
        named = set(value)
        return tuple(name for name in allowed if name in named)

    return read


def moment(zone: ZoneInfo) -> Callable[[object, str], datetime]:
    """A time; one without an offset is meant in the competition's zone."""

    def read(value: object, path: str) -> datetime:
        if not isinstance(value, datetime) or not 1970 <= value.year < 9999:
            raise wrong(path, Message("a date and time such as 2027-01-10T09:00:00+09:00"))
        return value if value.tzinfo else value.replace(tzinfo=zone)

    return read
