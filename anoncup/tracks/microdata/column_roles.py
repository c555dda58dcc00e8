"""Suggest the roles of the columns of an uploaded table."""

from collections.abc import Mapping, Set

import pyarrow as pa
import pyarrow.compute as pc

from anoncup.errors import FileProblem, InvalidUpload
from anoncup.messages import Message
from anoncup.rules.settings import Columns
from anoncup.tables.checks import build_duplicate_name_message
from anoncup.tables.csv_text import decode_upload, iterate_text_columns, read_cells, read_header
from anoncup.tables.foreign_formats import explain_header
from anoncup.tables.profile.identifiers import (
    MAX_CATEGORIES,
    count_distinct_numbers,
    find_identifying_reason,
    has_leading_zeros,
    is_attribute_name,
)


def matches_columns(content: bytes, columns: Columns) -> bool:
    """Whether the table has exactly these columns, and those of each role are in the same order."""
    header = read_header(decode_upload(content, "original")[0], "original")
    return all(
        tuple(name for name in header if name in set(role)) == role
        for role in (columns.quasi_identifiers, columns.sensitive)
    ) and set(header) == {*columns.quasi_identifiers, *columns.sensitive}


def suggest_roles(content: bytes, current_roles: Columns) -> Columns:
    """Suggest roles for the columns of a table.

    Current roles stay, other amounts become sensitive, and all else becomes a quasi-identifier. Numbers that
    identify individuals are not amounts. If all columns are amounts, the one with the fewest values becomes a
    quasi-identifier, because the others single out more people.
    """
    text, _ = decode_upload(content, "original")
    header = read_header(text, "original")
    if len(set(header)) < len(header):
        repeated = next(name for name in header if header.count(name) > 1)
        raise InvalidUpload([_make_problem("header", build_duplicate_name_message(repeated), repeated[:80])])
    if not all(header):
        message = Message("column {place} of the header has no name", place=header.index("") + 1)
        raise InvalidUpload([_make_problem("header", message)])
    if len(header) < 2:
        message = explain_header(header, "ab") or Message(
            "the header names one column; at least two are needed"
        )
        raise InvalidUpload([_make_problem("header", message)])
    table = read_cells(text, header, "original")
    if not table.num_rows:
        raise InvalidUpload([_make_problem("no_rows", Message("the table has no rows"))])
    distinct_counts = {name: count_distinct_numbers(column) for name, column in iterate_text_columns(table)}
    code_columns = {name for name, column in iterate_text_columns(table) if _is_code_column(name, column)}
    return Columns(*_split_roles(header, distinct_counts, current_roles, code_columns))


def _is_code_column(name: str, column: pa.Array) -> bool:
    is_identifier = find_identifying_reason(name, column, pc.unique(column)) is not None
    return is_identifier or is_attribute_name(name) or has_leading_zeros(column)


def _split_roles(
    header: list[str],
    distinct_counts: Mapping[str, int | None],
    current_roles: Columns,
    code_columns: Set[str] = frozenset(),
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return quasi-identifiers and sensitive columns; numeric ``code_columns`` are not amounts."""
    numeric = {name: count for name, count in distinct_counts.items() if count is not None}
    if not numeric:
        message = Message("no column contains only numbers, so none can be sensitive")
        raise InvalidUpload([_make_problem("not_a_number", message)])
    sensitive = {
        name for name, count in numeric.items() if count > MAX_CATEGORIES and name not in code_columns
    }
    sensitive = (sensitive - set(current_roles.quasi_identifiers)) | (
        numeric.keys() & set(current_roles.sensitive)
    )
    sensitive = sensitive or {max(numeric, key=lambda name: (name not in code_columns, numeric[name]))}
    if len(sensitive) == len(header):
        sensitive.discard(min(header, key=lambda name: numeric[name]))
    quasi_identifiers = tuple(name for name in header if name not in sensitive)
    return quasi_identifiers, tuple(name for name in header if name in sensitive)


def _make_problem(code: str, message: Message, column: str | None = None) -> FileProblem:
    return FileProblem("original", None, column, code, message)
