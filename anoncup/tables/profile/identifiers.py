"""Columns that name or number individuals, and amounts with missing cells: what set-up asks about a table.

Columns are judged by their names and by all of their cells; nothing is sampled.
"""

import re
import unicodedata
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anoncup.errors import InvalidUpload
from anoncup.geometry.arrays import IntArray
from anoncup.tables.csv_text import NUMBER, cells, decoded, header_of, marks, text_columns
from anoncup.tables.profile.model import SMALL, Gaps, IdentifyingColumn, Reason, tells_apart

AMOUNTS = 20
"""A column of numbers with more different values than this is taken for amounts."""
KNOWN = re.compile(
    "ages?|agep|year|birth|birthyear|yob|born|zip|zipcode|postal|postcode|code|day|month|quarter"
    "|alter|jahr|geburtsjahr|plz|postleitzahl|edad|âge"
)
KNOWN_PARTS = re.compile("年齢|年代|生年|生まれ|郵便|コード")
"""Words of names by which numbers are what others may know of a person, however many there are."""
FEW_WORDS = 10
"""More different texts than this are no spellings of one that is missing."""
MISSING = ("", "NA", "N/A", "na", "n/a", "NaN", "nan", "NULL", "null", "None", ".", "?", "-")
"""Cells of a column of numbers that say that there is none."""
WHOLE = "^[0-9]{1,15}$"
DATE = r"^[0-9]{1,4}[-/.][0-9]{1,2}([-/.][0-9]{1,4})?"
MOST_IN_GROUP = 10
"""Rows of a household on average, at most."""
LEAST_GROUPS = 100

ID_WORD = re.compile(
    "ids?|uid|uuid|guid|pid|hid|identifier|identification|caseid|serial|serialno|serialnumber|rownames?|unnamed"
    "|respondent|passport|iban|ssn|email|mail|phone|telephone|mobile|username|login|surname|lastname|forename"
    "|firstname|fullname|vorname|nachname|kennung|kundennummer|apellidos?"
)
NUMBER_WORD = re.compile("no|nr|nbr|num|number|key|nummer")
"""At the end of a name: a number of somebody, if it has many values."""
NO_ID = re.compile("(un|pre)?paid|acid|bid|grid|valid|covid|thyroid|steroid|solid|fluid")
"""Words that end in ``id`` and say nothing of an identifier."""
EU_SILC = re.compile("[dhpr][bp]?030")
JAPANESE = re.compile("番号|識別|氏名|名前|電話|メール")
AMOUNT = re.compile(
    "income|salar|wage|earning|revenue|sales|cost|price|charge|fare|fee|expens|expend|spend|amount|balance|tax"
    "|rent|debt|loan|credit|benefit|gain|loss|profit|asset|weight|turnover|payment|consum"
    "|所得|収入|支出|年収|金額|価格|給与|消費|売上|資産|einkommen|umsatz|lohn|gehalt|ingreso|gasto|revenu|salaire"
)
"""Parts of names of amounts: be they sorted or all different, they number nobody."""


def find_identifiers(content: bytes, file: str) -> tuple[IdentifyingColumn, ...]:
    """Return the columns of a file that name or number individuals or small groups of them.

    A file that cannot be read has none: its reader says what is wrong.
    """
    try:
        return tuple(_identifying(read_texts(content, file)))
    except InvalidUpload:
        return ()


def find_gaps(content: bytes, file: str) -> tuple[Gaps, ...]:
    """Return the columns of amounts in which some cells say that there is no number."""
    try:
        return tuple(_with_gaps(read_texts(content, file)))
    except InvalidUpload:
        return ()


def read_texts(content: bytes, file: str) -> pa.Table:
    """Return every cell as it is written."""
    text, _ = decoded(content, file)
    return cells(text, header_of(text, file), file)


def _identifying(table: pa.Table) -> Iterator[IdentifyingColumn]:
    for name, column in text_columns(table):
        values = pc.unique(column)
        reason = reason_to_leave_out(name, column, values)
        if reason is not None:
            is_date = reason == "unique" and bool(marks(pc.match_substring_regex(values, DATE)).all())
            leave_out = len(values) == len(column) or not is_date
            yield IdentifyingColumn(name, len(values), len(column), reason, leave_out)


def reason_to_leave_out(name: str, column: pa.Array, values: pa.Array) -> Reason | None:
    """Return why a column identifies individuals; None if nothing says so."""
    different, rows = len(values), len(column)
    if different <= AMOUNTS or is_known(name):
        return "unique" if tells_apart(different, rows) and not is_amounts(column, values) else None
    numbers = whole_numbers(column)
    if numbers is None and is_amounts(column, values):
        return None
    if is_named_as_identifier(name, different=different, rows=rows, is_text=numbers is None):
        return "unique" if tells_apart(different, rows) else "name"
    if numbers is not None:
        return None if AMOUNT.search(name.casefold()) else reason_of_numbers(numbers, different)
    if tells_apart(different, rows):
        return "unique"
    filled = rows - int(pc.sum(pc.equal(column, "")).as_py())
    is_free_text = filled > SMALL and 2 * different >= filled and not is_mostly(values, DATE)
    return "text" if is_free_text else None


def reason_of_numbers(numbers: IntArray, different: int) -> Reason | None:
    """Return why whole numbers number rows or small groups: they run through, or ascend in the file."""
    rows, width = len(numbers), int(numbers.max() - numbers.min()) + 1
    if different == rows == width and tells_apart(different, rows):
        return "unique"
    steps = np.diff(numbers)
    if not (steps >= 0).all():
        return None
    if tells_apart(different, rows):
        return "unique"
    is_dense = width <= 2 * different and different > LEAST_GROUPS
    return "groups" if is_dense and rows <= MOST_IN_GROUP * different else None


def is_named_as_identifier(name: str, *, different: int, rows: int, is_text: bool) -> bool:
    """Return whether a column with many values has the name of an identifier.

    >>> is_named_as_identifier("PassengerId", different=891, rows=891, is_text=False)
    True
    >>> is_named_as_identifier("paid", different=891, rows=891, is_text=False)
    False
    """
    plain = unicodedata.normalize("NFKC", name)
    words = re.findall(r"[^\W\d_]+", re.sub("(?<=[a-z])(?=[A-Z])", " ", plain).casefold())
    if not words:
        return False
    last: str = words[-1]
    if any(map(ID_WORD.fullmatch, words)) or EU_SILC.fullmatch(plain.casefold()) or JAPANESE.search(plain):
        return True
    if last.endswith("id") and not NO_ID.fullmatch(last):
        return True
    if is_text:
        return last.endswith("name")
    return NUMBER_WORD.fullmatch(last) is not None and different * MOST_IN_GROUP >= rows


def is_known(name: str) -> bool:
    """Whether a column's name says that it holds an age, a year or a code.

    >>> is_known("Alter (Jahre)"), is_known("average wage")
    (True, False)
    """
    words = re.findall(r"[^\W\d_]+", unicodedata.normalize("NFKC", name).casefold())
    return any(map(KNOWN.fullmatch, words)) or KNOWN_PARTS.search(name) is not None


def has_codes(column: pa.Array) -> bool:
    """Whether a cell begins with a zero that a number would not have."""
    return bool(marks(pc.match_substring_regex(column, "^0[0-9]")).any())


def whole_numbers(column: pa.Array) -> IntArray | None:
    """Return the column as integers, (rows,); None if a cell is anything else."""
    if not marks(pc.match_substring_regex(column, WHOLE)).all():
        return None
    return np.asarray(column.cast(pa.int64()), dtype=np.int64)


def is_amounts(column: pa.Array, values: pa.Array) -> bool:
    return is_numeric(column) or bool(words_among_amounts(values.to_pylist()))


def is_numeric(column: pa.Array) -> bool:
    return bool(marks(pc.match_substring_regex(column, NUMBER)).all())


def is_mostly(values: pa.Array, pattern: str) -> bool:
    return 2 * int(marks(pc.match_substring_regex(values, pattern)).sum()) > len(values)


def words_among_amounts(values: list[str]) -> tuple[str, ...]:
    """Return the words of a column of many numbers, if they are few: spellings of "unknown"."""
    words = tuple(value for value in values if not re.match(NUMBER, value))
    return words if 0 < len(words) <= FEW_WORDS and len(values) - len(words) > AMOUNTS else ()


def _with_gaps(table: pa.Table) -> Iterator[Gaps]:
    for name, column in text_columns(table):
        words = words_among_amounts(pc.unique(column).to_pylist())
        if words and set(words) <= set(MISSING) and not is_known(name) and not has_codes(column):
            yield Gaps(name, int(pc.sum(pc.is_in(column, pa.array(words))).as_py()))


def amounts(column: pa.Array) -> int | None:
    """How many different numbers a column holds; None if it holds anything else."""
    if not len(column) or not marks(pc.match_substring_regex(column, NUMBER)).all():
        return None
    return len(pc.unique(column))
