"""Which columns of a table are which, read off the table itself."""

import re
import unicodedata
from collections.abc import Mapping, Set

import pyarrow as pa
import pyarrow.compute as pc

from app.errors import InvalidUpload, Problem
from app.messages import Message
from app.scoring.csv_text import NUMBER, cells, decoded, header_of, marks, text_columns
from app.scoring.foreign_text import habit_of
from app.scoring.settings import Columns
from app.scoring.tables import named_twice

AMOUNTS = 20
"""A column of numbers with more different values than this is taken for amounts."""
KNOWN = {
    *(
        "age",
        "ages",
        "year",
        "birth",
        "birthyear",
        "yob",
        "born",
        "zip",
        "zipcode",
        "postal",
        "postcode",
        "code",
    ),
    *("alter", "jahr", "geburtsjahr", "plz", "postleitzahl", "edad", "âge"),
}
KNOWN_PARTS = re.compile("年齢|年代|生年|生まれ|郵便|コード")
"""Words of names by which numbers are what others may know of a person, however many there are."""


def fits(content: bytes, columns: Columns) -> bool:
    """Whether the table's header holds exactly these columns, each role in its order."""
    header = header_of(decoded(content, "original")[0], "original")
    return all(
        tuple(name for name in header if name in set(role)) == role
        for role in (columns.quasi_identifiers, columns.sensitive)
    ) and set(header) == {*columns.quasi_identifiers, *columns.sensitive}


def suggested(content: bytes, known: Columns) -> Columns:
    """Roles for the columns of a table: those they have, else amounts are sensitive, all others are not.

    Where all columns are amounts, the one of the fewest values is a quasi-identifier: any other tells more
    people apart.
    """
    text, _ = decoded(content, "original")
    header = header_of(text, "original")
    if len(set(header)) < len(header):
        repeated = next(name for name in header if header.count(name) > 1)
        raise InvalidUpload([wrong("header", named_twice(repeated), repeated[:80])])
    if not all(header):
        message = Message("column {place} of the header has no name", place=header.index("") + 1)
        raise InvalidUpload([wrong("header", message)])
    if len(header) < 2:
        message = habit_of(header, "ab") or Message("the header names one column; at least two are needed")
        raise InvalidUpload([wrong("header", message)])
    table = cells(text, header, "original")
    if not table.num_rows:
        raise InvalidUpload([wrong("no_rows", Message("the table has no rows"))])
    different = {name: amounts(column) for name, column in text_columns(table)}
    codes = {name for name, column in text_columns(table) if is_known(name) or has_codes(column)}
    return Columns(*roles_of(header, different, known, codes))


def amounts(column: pa.Array) -> int | None:
    """How many different numbers a column holds; None if it holds anything else."""
    if not len(column) or not marks(pc.match_substring_regex(column, NUMBER)).all():
        return None
    return len(pc.unique(column))


def is_known(name: str) -> bool:
    """Whether a column's name says that it holds an age, a year or a code.

    >>> is_known("Alter (Jahre)"), is_known("average wage")
    (True, False)
    """
    words = re.findall(r"[^\W\d_]+", unicodedata.normalize("NFKC", name).casefold())
    return not KNOWN.isdisjoint(words) or KNOWN_PARTS.search(name) is not None


def has_codes(column: pa.Array) -> bool:
    """Whether a cell begins with a zero that a number would not have."""
    return bool(marks(pc.match_substring_regex(column, "^0[0-9]")).any())


def roles_of(
    header: list[str], different: Mapping[str, int | None], known: Columns, codes: Set[str] = frozenset()
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """``codes``: columns that are no amounts, be they numbers."""
    numeric = {name: count for name, count in different.items() if count is not None}
    if not numeric:
        message = Message("no column holds numbers only: none could be sensitive")
        raise InvalidUpload([wrong("not_a_number", message)])
    sensitive = {name for name, count in numeric.items() if count > AMOUNTS and name not in codes}
    sensitive = (sensitive - set(known.quasi_identifiers)) | (numeric.keys() & set(known.sensitive))
    sensitive = sensitive or {max(numeric, key=lambda name: (name not in codes, numeric[name]))}
    if len(sensitive) == len(header):
        sensitive.discard(min(header, key=lambda name: numeric[name]))
    quasi = tuple(name for name in header if name not in sensitive)
    return quasi, tuple(name for name in header if name in sensitive)


def wrong(code: str, message: Message, column: str | None = None) -> Problem:
    return Problem("original", None, column, code, message)
