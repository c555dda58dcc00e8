"""Which columns of a table are which, read off the table itself."""

from collections.abc import Mapping, Set

import pyarrow as pa
import pyarrow.compute as pc

from anoncup.errors import InvalidUpload, Problem
from anoncup.messages import Message
from anoncup.rules.settings import Columns
from anoncup.tables.checks import named_twice
from anoncup.tables.csv_text import cells, decoded, header_of, text_columns
from anoncup.tables.foreign_formats import habit_of
from anoncup.tables.profile.identifiers import AMOUNTS, amounts, has_codes, is_known, reason_to_leave_out


def fits(content: bytes, columns: Columns) -> bool:
    """Whether the table's header holds exactly these columns, each role in its order."""
    header = header_of(decoded(content, "original")[0], "original")
    return all(
        tuple(name for name in header if name in set(role)) == role
        for role in (columns.quasi_identifiers, columns.sensitive)
    ) and set(header) == {*columns.quasi_identifiers, *columns.sensitive}


def suggested(content: bytes, known: Columns) -> Columns:
    """Suggest roles for the columns of a table: those they have, else amounts are sensitive and others not.

    Numbers that identify individuals are no amounts. Where all columns are amounts, the one of the fewest
    values is a quasi-identifier: any other tells more people apart.
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
    codes = {name for name, column in text_columns(table) if is_no_amount(name, column)}
    return Columns(*roles_of(header, different, known, codes))


def is_no_amount(name: str, column: pa.Array) -> bool:
    identifies = reason_to_leave_out(name, column, pc.unique(column)) is not None
    return identifies or is_known(name) or has_codes(column)


def roles_of(
    header: list[str], different: Mapping[str, int | None], known: Columns, codes: Set[str] = frozenset()
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """``codes``: columns that are no amounts, be they numbers."""
    numeric = {name: count for name, count in different.items() if count is not None}
    if not numeric:
        message = Message("no column contains only numbers, so none can be sensitive")
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
