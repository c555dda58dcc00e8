"""Parse microdata tables; InvalidUpload reports file, row, column and code.

Quasi-identifiers stay text, exactly as written; sensitive cells become float64. There are no row labels: all
other modules align rows by position.
"""

from collections import Counter
from collections.abc import Sequence

import pandas as pd
import pyarrow as pa

from anoncup.messages import Message
from anoncup.rules.settings import Columns
from anoncup.tables.checks import build_duplicate_name_message, check_header, check_row_count
from anoncup.tables.csv_text import (
    Problems,
    check_text,
    decode_upload,
    iterate_text_columns,
    parse_numbers,
    read_cells,
    read_header,
)
from anoncup.tables.files import MAX_ROWS, Remark
from anoncup.tables.line_numbers import add_line_numbers
from anoncup.tables.respelling import find_respelled_columns


def parse_original(
    content: bytes, columns: Columns, *, file: str = "original"
) -> tuple[pd.DataFrame, list[Remark]]:
    """Parse the original; the competition file must list exactly its columns, each role in file order."""
    with add_line_numbers({file: content}):
        text, remarks = decode_upload(content, file)
        header = read_header(text, file)
        _check_roles(header, columns, file)
        return _parse_cells(read_cells(text, header, file), columns, file, max_rows=MAX_ROWS), remarks


def parse_release(
    content: bytes, original: pd.DataFrame, columns: Columns, *, file: str = "anonymized"
) -> tuple[pd.DataFrame, list[Remark]]:
    """Parse an anonymized table with the original's header and 1 to n rows.

    Remarks describe deviations from the format that were tolerated.
    """
    header, max_rows = list(original.columns), len(original)
    with add_line_numbers({file: content}):
        text, remarks = decode_upload(content, file)
        check_header(read_header(text, file), header, file)
        table = _parse_cells(
            read_cells(text, header, file, max_rows=max_rows), columns, file, max_rows=max_rows
        )
    return table, remarks + find_respelled_columns(table, original, columns.quasi_identifiers)


def _check_roles(header: Sequence[str], columns: Columns, file: str) -> None:
    """Check that every column of the original has exactly one role, listed in the order of the file."""
    problems = Problems(file)
    roles = dict.fromkeys((*columns.quasi_identifiers, *columns.sensitive))
    occurrences = Counter(header)
    for name in sorted(name for name in occurrences if occurrences[name] > 1):
        problems.add("header", build_duplicate_name_message(name), column=name[:80], line=1)
    for name in roles:
        if name not in occurrences:
            message = Message("the header has no column {name!r}", name=name)
            problems.add("header", message, column=name, line=1)
    for name in header:
        if name not in roles:
            message = Message(
                "the competition file gives the column {name!r} no role: leave the column out, or list it",
                name=name[:80],
            )
            problems.add("column_without_role", message, column=name[:80], line=1)
    problems.raise_if_any()
    for role in (columns.quasi_identifiers, columns.sensitive):
        role_columns = set(role)
        if list(role) != [name for name in header if name in role_columns]:
            message = Message("the competition file must list the columns in the order of the data")
            problems.add("columns_order", message, line=1)
    problems.raise_if_any()


def _parse_cells(table: pa.Table, columns: Columns, file: str, *, max_rows: int) -> pd.DataFrame:
    """Parse quasi-identifiers as text and sensitive attributes as float64."""
    problems = Problems(file)
    check_row_count(table, problems, minimum=1, maximum=max_rows)
    for name, column in iterate_text_columns(table):
        check_text(column, name, problems)
    parsed = {
        name: parse_numbers(column, name, problems) if name in columns.sensitive else column.to_pandas()
        for name, column in iterate_text_columns(table)
    }
    problems.raise_if_any()
    return pd.DataFrame(parsed)
