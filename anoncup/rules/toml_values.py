"""Readers of TOML values with a type. Their errors name the path of the invalid value."""

import re
import sys
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import TypeAlias, TypeVar
from zoneinfo import ZoneInfo

from anoncup.errors import InvalidCompetition
from anoncup.messages import Message
from anoncup.rules.local_times import fix_offset
from anoncup.rules.toml_text import MAX_VALUE_CHARACTERS

CONTROL_CHARACTER = re.compile(r"[\x00-\x1f\x7f]")
MAX_NUMBER = sys.float_info.max
MAX_MARKDOWN_CHARACTERS = MAX_VALUE_CHARACTERS // 2
"""A line break counts twice in the file of a round, which has it as an escape."""
MAX_HOURS = 8760
"""One year."""

ValueT = TypeVar("ValueT")
SettingsT = TypeVar("SettingsT")
Reader: TypeAlias = Callable[[object, str], ValueT]
"""Reads a value; the second argument is the path that its errors name."""


class TomlTable:
    """A TOML table that is being read: callers take the values that they know, then reject all other keys."""

    def __init__(self, raw: object, path: str) -> None:
        if not isinstance(raw, dict):
            raise InvalidCompetition("{key} must be a table", code="wrong_type", key=path)
        self.raw: dict[str, object] = dict(raw)
        self.path = path

    def path_of(self, key: str) -> str:
        return f"{self.path}.{key}" if self.path else key

    def take(self, key: str, reader: Reader[ValueT], *default: ValueT) -> ValueT:
        """Remove a key and return its value, read by ``reader``. Without a default, the key is required."""
        if key in self.raw:
            return reader(self.raw.pop(key), self.path_of(key))
        if not default:
            raise InvalidCompetition("{key} is missing", code="missing_key", key=self.path_of(key))
        return default[0]

    def take_values(self, reader: Reader[ValueT]) -> dict[str, ValueT]:
        """Remove all entries and return their values, each read by ``reader``."""
        return {key: self.take(key, reader) for key in list(self.raw)}

    def read_as(self, settings: Callable[..., SettingsT], /, **readers: Reader[object]) -> SettingsT:
        """Read the whole table into ``settings``, whose defaults stand for missing keys."""
        values = {key: self.take(key, reader) for key, reader in readers.items() if key in self.raw}
        self.reject_unknown_keys()
        return settings(**values)

    def take_table(self, key: str) -> "TomlTable":
        return TomlTable(self.raw.pop(key, {}), self.path_of(key))

    def take_tables(self) -> Iterable[tuple[str, "TomlTable"]]:
        """Remove and yield all entries, each of which must be a table."""
        for key in list(self.raw):
            yield key, self.take_table(key)

    def reject_unknown_keys(self) -> None:
        for key in self.raw:
            raise InvalidCompetition(
                "{key} is not a key of the format", code="unknown_key", key=self.path_of(key)
            )


def build_value_error(path: str, expected: Message) -> InvalidCompetition:
    return InvalidCompetition("{key} must be {expected}", code="wrong_value", key=path, expected=expected)


def make_text_reader(most: int, *, allowed: str = "") -> Reader[str]:
    """Return a reader of a text. Its only control characters are the ``allowed`` ones."""

    def read(value: object, path: str) -> str:
        if (
            not isinstance(value, str)
            or not value.strip()
            or len(value) > most
            or CONTROL_CHARACTER.search(value.translate(dict.fromkeys(map(ord, allowed))))
        ):
            raise build_value_error(
                path,
                Message("a text of 1 to {most:,} characters, none of them a control character", most=most),
            )
        return value

    return read


read_text = make_text_reader(200)
read_markdown = make_text_reader(MAX_MARKDOWN_CHARACTERS, allowed="\n\t")


def read_texts(table: TomlTable, reader: Reader[str]) -> dict[str, str]:
    """Read the rest of a table as texts by language."""
    texts: dict[str, str] = {
        language: table.take(language, reader) for language in ("en", "ja") if language in table.raw
    }
    table.reject_unknown_keys()
    return texts


def read_titles(table: TomlTable) -> dict[str, str]:
    """Take the title, which is a text in English or a table of texts by language."""
    raw, path = table.raw.pop("title", None), table.path_of("title")
    if isinstance(raw, str):
        return {"en": read_text(raw, path)}
    titles = read_texts(TomlTable({} if raw is None else raw, path), read_text)
    if not titles:
        raise InvalidCompetition("{key} is missing", code="missing_key", key=path)
    return titles


def read_flag(value: object, path: str) -> bool:
    if not isinstance(value, bool):
        raise build_value_error(path, Message("true or false"))
    return value


def read_number(value: object, path: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= MAX_NUMBER:
        raise build_value_error(path, Message("a finite number, 0 or more"))
    return float(value)


def read_share(value: object, path: str) -> float:
    if read_number(value, path) > 1:
        raise build_value_error(path, Message("a number from 0 to 1"))
    return read_number(value, path)


def make_whole_reader(minimum: int, maximum: int) -> Reader[int]:
    def read(value: object, path: str) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not minimum <= value <= maximum:
            raise build_value_error(
                path, Message("a whole number from {least:,} to {most:,}", least=minimum, most=maximum)
            )
        return value

    return read


read_count = make_whole_reader(1, 1_000_000)
read_hours = make_whole_reader(0, MAX_HOURS)


def make_choice_reader(*allowed: str) -> Reader[str]:
    def read(value: object, path: str) -> str:
        if value not in allowed:
            raise build_value_error(path, Message("one of {names}", names=allowed))
        return str(value)

    return read


def make_names_reader(allowed: tuple[str, ...] | None = None) -> Reader[tuple[str, ...]]:
    """Return a reader of a list of distinct names, in the order of ``allowed`` if it is given."""
    allowed_names = frozenset(allowed or ())

    def read(value: object, path: str) -> tuple[str, ...]:
        if not isinstance(value, list) or not value or not all(isinstance(name, str) for name in value):
            raise build_value_error(path, Message("a list of column names"))
        if len(set(value)) != len(value):
            raise build_value_error(path, Message("a list without repetitions"))
        if allowed is None:
            return tuple(value)
        if not all(name.strip() or name in allowed_names for name in value):
            raise build_value_error(path, Message("a list of column names"))
        for name in value:
            if name not in allowed_names:
                raise InvalidCompetition(
                    "{key}: {column} is not such a column", code="unknown_column", key=path, column=name
                )
        names = set(value)
        return tuple(name for name in allowed if name in names)

    return read


def make_moment_reader(zone: ZoneInfo) -> Reader[datetime]:
    """Return a reader of a date and time. Values without an offset are in the competition's time zone."""

    def read(value: object, path: str) -> datetime:
        if not isinstance(value, datetime) or not 1970 <= value.year < 9999:
            raise build_value_error(path, Message("a date and time such as 2027-01-10T09:00:00+09:00"))
        if (moment := fix_offset(value, zone)) is None:
            raise build_value_error(
                path,
                Message(
                    "a time that exists in {zone}: the clocks there are put forward past {time}",
                    zone=zone.key,
                    time=value.isoformat(" "),
                ),
            )
        return moment

    return read
