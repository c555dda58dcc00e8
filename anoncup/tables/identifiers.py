"""Detect columns that identify individuals, and columns of amounts.

Columns are judged by their names and by all of their cells, without sampling.
"""

import re
import unicodedata
from fractions import Fraction
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anoncup.geometry.arrays import IntArray
from anoncup.tables.csv_text import NUMBER_PATTERN, convert_to_mask

IdentifyingReason = Literal["unique", "groups", "name", "text"]
"""Why a column identifies individuals:

- ``unique``: (nearly) every row has its own value.
- ``groups``: the numbers identify small groups, such as households.
- ``name``: the column has the name of an identifier.
- ``text``: most of its texts are different.
"""
_NEARLY_UNIQUE_SHARE = Fraction(9, 10)
"""Minimum number of distinct values per row of a column that identifies (nearly) everybody."""
_MAX_SMALL_TABLE = 20
"""Maximum number of rows of a small table, in which the number of distinct values means nothing."""

MAX_CATEGORIES = 20
"""Numeric columns with more distinct values than this are treated as amounts."""
_ATTRIBUTE_WORD = re.compile(
    "ages?|agep|year|birth|birthyear|yob|born|zip|zipcode|postal|postcode|code|day|month|quarter"
    "|alter|jahr|geburtsjahr|plz|postleitzahl|edad|âge"
)
_ATTRIBUTE_PART = re.compile("年齢|年代|生年|生まれ|郵便|コード")
"""Words in the names of attributes such as age or postal code. Such a column is no identifier, even if it has
many distinct values."""
_MAX_MISSING_WORDS = 10
"""Maximum number of spellings of a missing value in a numeric column."""
_WHOLE_PATTERN = "^[0-9]{1,15}$"
_DATE_PATTERN = r"^[0-9]{1,4}[-/.][0-9]{1,2}([-/.][0-9]{1,4})?"
_YEAR_FIRST_PATTERN = "^(1[89]|20)[0-9]{2}([-/.年]|(0[1-9]|1[0-2])([0-2][0-9]|3[01])$)"
"""Dates that begin with the year, such as 1963-4-2 or 19630402."""
_MAX_GROUP_SIZE = 10
"""Maximum average size of a group, such as a household, that a number identifies."""
_MIN_GROUPS = 100

_ID_WORD = re.compile(
    "ids?|uid|uuid|guid|pid|hid|identifier|identification|caseid|serial|serialno|serialnumber|rownames?|unnamed"
    "|respondent|passport|iban|ssn|email|mail|phone|telephone|mobile|username|login|surname|lastname|forename"
    "|firstname|fullname|vorname|nachname|kennung|kundennummer|apellidos?"
)
_NUMBER_WORD = re.compile("no|nr|nbr|num|number|key|nummer")
"""Words at the end of the name of an identifying number. The column must also have many distinct values."""
_NOT_ID_WORD = re.compile("(un|pre)?paid|acid|bid|grid|valid|covid|thyroid|steroid|solid|fluid")
"""Words that end in ``id`` but do not mean an identifier."""
_EU_SILC_NAME = re.compile("[dhpr][bp]?030")
_JAPANESE_PART = re.compile("番号|識別|氏名|名前|電話|メール")
_AMOUNT_PART = re.compile(
    "income|salar|wage|earning|revenue|sales|cost|price|charge|fare|fee|expens|expend|spend|amount|balance|tax"
    "|rent|debt|loan|credit|benefit|gain|loss|profit|asset|weight|turnover|payment|consum"
    "|所得|収入|支出|年収|金額|価格|給与|消費|売上|資産|einkommen|umsatz|lohn|gehalt|ingreso|gasto|revenu|salaire"
)
"""Parts of the names of amounts. They identify nobody, even if they are sorted or all different."""


def find_identifying_reason(name: str, column: pa.Array, values: pa.Array) -> IdentifyingReason | None:
    """Return why a column identifies individuals; None if nothing indicates it."""
    distinct, rows = len(values), len(column)
    if distinct <= MAX_CATEGORIES or is_attribute_name(name):
        return "unique" if _is_nearly_unique(distinct, rows) and not holds_amounts(values) else None
    numbers = _parse_whole_numbers(column)
    if numbers is None and holds_amounts(values):
        return None
    if _is_identifier_name(name, distinct=distinct, rows=rows, is_text=numbers is None):
        return "unique" if _is_nearly_unique(distinct, rows) else "name"
    if numbers is not None:
        return None if _AMOUNT_PART.search(name.casefold()) else _find_number_reason(numbers, distinct)
    if _is_nearly_unique(distinct, rows):
        return "unique"
    filled_count = rows - int(pc.sum(pc.equal(column, "")).as_py())
    is_free_text = (
        filled_count > _MAX_SMALL_TABLE
        and 2 * distinct >= filled_count
        and not _is_mostly(values, _DATE_PATTERN)
    )
    return "text" if is_free_text else None


def _find_number_reason(numbers: IntArray, distinct: int) -> IdentifyingReason | None:
    """Return why whole numbers identify rows or small groups; None if nothing indicates it.

    They do if they are consecutive in any order, or if they ascend in the file.
    """
    rows, value_range = len(numbers), int(numbers.max() - numbers.min()) + 1
    if distinct == rows == value_range and _is_nearly_unique(distinct, rows):
        return "unique"
    steps = np.diff(numbers)
    if not (steps >= 0).all():
        return None
    if _is_nearly_unique(distinct, rows):
        return "unique"
    is_dense = value_range <= 2 * distinct and distinct > _MIN_GROUPS
    return "groups" if is_dense and rows <= _MAX_GROUP_SIZE * distinct else None


def _is_identifier_name(name: str, *, distinct: int, rows: int, is_text: bool) -> bool:
    """Return whether a column with many values has the name of an identifier.

    >>> _is_identifier_name("PassengerId", distinct=891, rows=891, is_text=False)
    True
    >>> _is_identifier_name("paid", distinct=891, rows=891, is_text=False)
    False
    """
    plain = unicodedata.normalize("NFKC", name)
    words = re.findall(r"[^\W\d_]+", re.sub("(?<=[a-z])(?=[A-Z])", " ", plain).casefold())
    if not words:
        return False
    last_word: str = words[-1]
    if (
        any(map(_ID_WORD.fullmatch, words))
        or _EU_SILC_NAME.fullmatch(plain.casefold())
        or _JAPANESE_PART.search(plain)
    ):
        return True
    if last_word.endswith("id") and not _NOT_ID_WORD.fullmatch(last_word):
        return True
    if is_text:
        return last_word.endswith("name")
    return _NUMBER_WORD.fullmatch(last_word) is not None and distinct * _MAX_GROUP_SIZE >= rows


def is_attribute_name(name: str) -> bool:
    """Return whether a column's name denotes an age, a year or a code.

    >>> is_attribute_name("Alter (Jahre)"), is_attribute_name("average wage")
    (True, False)
    """
    words = re.findall(r"[^\W\d_]+", unicodedata.normalize("NFKC", name).casefold())
    return any(map(_ATTRIBUTE_WORD.fullmatch, words)) or _ATTRIBUTE_PART.search(name) is not None


def has_leading_zeros(column: pa.Array) -> bool:
    """Return whether a cell begins with a zero that is followed by another digit."""
    return bool(convert_to_mask(pc.match_substring_regex(column, "^0[0-9]")).any())


def _parse_whole_numbers(column: pa.Array) -> IntArray | None:
    """Return the column as integers, (rows,); None if a cell is anything else."""
    if not convert_to_mask(pc.match_substring_regex(column, _WHOLE_PATTERN)).all():
        return None
    return np.asarray(column.cast(pa.int64()), dtype=np.int64)


def holds_amounts(values: pa.Array) -> bool:
    """Return whether all values are numbers, or many of them and the few words mean that one is missing."""
    texts = values.to_pylist()
    word_count = sum(not re.match(NUMBER_PATTERN, text) for text in texts)
    return word_count == 0 or (word_count <= _MAX_MISSING_WORDS and len(texts) - word_count > MAX_CATEGORIES)


def _is_mostly(values: pa.Array, pattern: str) -> bool:
    return 2 * int(convert_to_mask(pc.match_substring_regex(values, pattern)).sum()) > len(values)


def is_amount(name: str, column: pa.Array) -> bool:
    """Return whether a column holds amounts; empty cells and few words are missing amounts."""
    values = pc.unique(column)
    values = values.filter(pc.not_equal(values, ""))
    return (
        holds_amounts(values)
        and len(values) > MAX_CATEGORIES
        and not is_attribute_name(name)
        and not has_leading_zeros(column)
    )


def has_fixed_format(values: pa.Array) -> bool:
    """Return whether the values are dates that begin with the year, or many texts of one length.

    Numbers are no such texts. The empty value does not count.

    >>> has_fixed_format(pa.array(["1963-04-02", "1985-11-20", ""]))
    True
    >>> has_fixed_format(pa.array(["02/04/1963", "20/11/1985"]))
    False
    """
    filled = values.filter(pc.not_equal(values, ""))
    if not len(filled):
        return False
    if convert_to_mask(pc.match_substring_regex(filled, _YEAR_FIRST_PATTERN)).all():
        return True
    lengths = pc.min_max(pc.utf8_length(filled)).as_py()
    is_text = not convert_to_mask(pc.match_substring_regex(filled, NUMBER_PATTERN)).any()
    return is_text and len(filled) > MAX_CATEGORIES and lengths["min"] == lengths["max"] > 4


def _is_nearly_unique(distinct: int, rows: int) -> bool:
    return rows > _MAX_SMALL_TABLE and distinct >= _NEARLY_UNIQUE_SHARE * rows


def count_distinct_numbers(column: pa.Array) -> int | None:
    """Return the number of distinct numbers in a column; None if it contains anything else."""
    if not len(column) or not convert_to_mask(pc.match_substring_regex(column, NUMBER_PATTERN)).all():
        return None
    return len(pc.unique(column))
