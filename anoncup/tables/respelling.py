"""Find cells that equal an original value except for their spelling, as spreadsheets change it."""

import re
import unicodedata
from collections.abc import Iterable

import pandas as pd

from anoncup.errors import MAX_VALUE_LENGTH
from anoncup.messages import Message
from anoncup.tables.csv_text import NUMBER_PATTERN
from anoncup.tables.files import Remark

_SIMPLE_SIGNS = dict.fromkeys(map(ord, "\u02d7\u2010\u2011\u2012\u2013\u2014\u2015\u2212\u2500"), "-") | {
    0x301C: "~"
}
"""Dashes, and the wave dash, which stands for ``~`` in some conversions from Shift_JIS."""
_MISSING_TEXTS = frozenset(("", "na", "n/a", "#n/a", "<na>", "nan", "nat", "null", "none"))
_MONTH_NAMES = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
_MONTHS = {
    spelling: number for number, name in enumerate(_MONTH_NAMES, 1) for spelling in (name, name[:3])
} | {"sept": 9}
_match_number = re.compile(NUMBER_PATTERN).match
_NUMBERS_PATTERN = re.compile(r"[0-9]{1,4}(?:[-/:][0-9]{1,4}){1,2}(?:[ t]0?0:00(?::00)?)?")
_JAPANESE_DATE_PATTERN = re.compile(r"(?:[0-9]{4}年)?[0-9]{1,2}月[0-9]{1,2}日")
_DAY_MONTH_PATTERN = re.compile(r"([0-9]{1,2})[-/ ]?([a-z]{3,9})(?:[-/ ]([0-9]{2}|[0-9]{4}))?")
_MONTH_NUMBER_PATTERN = re.compile(r"([a-z]{3,9})[-/ ]?([0-9]{1,4})")
_LAST_DAY = 31
_CENTURY = 2000

_Key = str | float | tuple[int, ...] | None
"""What two spellings of a value have in common; None for a missing value."""


def find_respelled_columns(table: pd.DataFrame, original: pd.DataFrame, names: Iterable[str]) -> list[Remark]:
    """Return a warning for each column with cells that the original spells in another way.

    Examples are ``1.0`` for ``1``, ``F`` for ``f``, ``NA`` for an empty cell and ``09-May`` for ``5-9``.
    """
    examples = {name: _find_respelling(table[name], original[name]) for name in names}
    return [_build_respelled_remark(name, *example) for name, example in examples.items() if example]


def _build_respelled_remark(name: str, new_value: str, original_value: str) -> Remark:
    message = Message(
        "{name}: some cells are spelled differently from the original's, such as {found!r} for {needed!r}; "
        "they are compared as text, so these cells count as changed",
        name=name,
        found=new_value[:MAX_VALUE_LENGTH],
        needed=original_value[:MAX_VALUE_LENGTH],
    )
    return Remark("respelled", message)


def _find_respelling(column: pd.Series, original_column: pd.Series) -> tuple[str, str] | None:
    """Return the first value that respells a value of the original, and the latter; None if there is none."""
    original_values = dict.fromkeys(original_column.unique())
    new_values = [value for value in column.unique() if value not in original_values]
    if not new_values:
        return None
    values_by_key = {_list_keys(value)[0]: value for value in reversed(original_values)}
    for value in new_values:
        for key in _list_keys(value):
            if key in values_by_key:
                return value, values_by_key[key]
    return None


def _list_keys(value: str) -> list[_Key]:
    """Return what other spellings of the value have as their first key, the most likely one first."""
    if _match_number(value):  # a shortcut for columns with a million distinct numbers
        return [float(value)]
    text = value if value.isascii() else unicodedata.normalize("NFKC", value).translate(_SIMPLE_SIGNS)
    text = " ".join(text.casefold().split())
    if text in _MISSING_TEXTS:
        return [None]
    if _match_number(text):
        return [float(text)]
    return _list_date_keys(text) or [text]


def _list_date_keys(text: str) -> list[_Key]:
    """Return the numbers of a date, and those of the codes that a spreadsheet takes for this date."""
    if _NUMBERS_PATTERN.fullmatch(text) or _JAPANESE_DATE_PATTERN.fullmatch(text):
        date_text = re.split("[ t]", text, maxsplit=1)[0]
        return _list_orders(tuple(map(int, re.findall("[0-9]+", date_text))))
    day_match, number_match = _DAY_MONTH_PATTERN.fullmatch(text), _MONTH_NUMBER_PATTERN.fullmatch(text)
    if day_match and day_match[2] in _MONTHS:
        day, month, year = int(day_match[1]), _MONTHS[day_match[2]], day_match[3]
        return [*([(_complete_year(int(year)), month, day)] if year else []), (month, day), (day, month)]
    if number_match and number_match[1] in _MONTHS:
        month, number = _MONTHS[number_match[1]], int(number_match[2])
        return [(month, number), (number, month), (_complete_year(number), month)]
    return []


def _list_orders(numbers: tuple[int, ...]) -> list[_Key]:
    """Return the numbers as written and, if one of three is a year, with it first or left out."""
    if len(numbers) == 3 and numbers[0] > _LAST_DAY:
        return [numbers, numbers[1:]]
    if len(numbers) == 3 and numbers[2] > _LAST_DAY:
        first, second, year = numbers
        return [numbers, (year, first, second), (year, second, first), (first, second), (second, first)]
    return [numbers]


def _complete_year(year: int) -> int:
    return year if year > 99 else _CENTURY + year
