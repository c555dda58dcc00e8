"""Find cells that equal an original value except for their spelling."""

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
_match_number = re.compile(NUMBER_PATTERN).match
_NUMBERS_PATTERN = re.compile(r"[0-9]{1,4}(?:[-/:][0-9]{1,4}){1,2}")
"""Dates and times of digits, such as ``2011/1/5`` and ``8:45``."""

_Key = str | float | tuple[int, ...] | None
"""What two spellings of a value have in common; None for a missing value."""


def find_respelled_columns(table: pd.DataFrame, original: pd.DataFrame, names: Iterable[str]) -> list[Remark]:
    """Return a warning for each column with cells that the original spells in another way.

    Examples are ``1.0`` for ``1``, ``F`` for ``f`` and ``NA`` for an empty cell.
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
    values_by_key = {_normalize(value): value for value in reversed(original_values)}
    for value in new_values:
        if (key := _normalize(value)) in values_by_key:
            return value, values_by_key[key]
    return None


def _normalize(value: str) -> _Key:
    """Return what other spellings of the value have in common with it."""
    if _match_number(value):  # a shortcut for columns with a million distinct numbers
        return float(value)
    text = value if value.isascii() else unicodedata.normalize("NFKC", value).translate(_SIMPLE_SIGNS)
    text = " ".join(text.casefold().split())
    if text in _MISSING_TEXTS:
        return None
    if _NUMBERS_PATTERN.fullmatch(text):
        return tuple(map(int, re.findall("[0-9]+", text)))
    return float(text) if _match_number(text) else text
