"""Bytes to typed microdata tables, or InvalidUpload with file, row, column and code.

Quasi-identifiers stay text, exactly as written; sensitive cells become float64. Row labels do not exist:
below this file, rows are aligned by position.
"""

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pandas as pd
import pyarrow as pa

from anoncup.geometry.arrays import FEW
from anoncup.messages import Message
from anoncup.rules.settings import Columns
from anoncup.tables.checks import check_rows, is_respelled, named_twice, respelled
from anoncup.tables.csv_text import Problems, cells, check_text, decoded, header_of, numbers, text_columns
from anoncup.tables.files import MAX_ROWS, Remark
from anoncup.tables.header import check_header
from anoncup.tables.line_numbers import located


def parse_original(
    content: bytes, columns: Columns, *, file: str = "original"
) -> tuple[pd.DataFrame, list[Remark]]:
    """The original table: its header holds exactly the competition's columns, each role in file order."""
    with located({file: content}):
        text, remarks = decoded(content, file)
        header = header_of(text, file)
        check_roles(header, columns, file)
        return typed(cells(text, header, file), columns, file, most_rows=MAX_ROWS), remarks


def parse_release(
    content: bytes, original: pd.DataFrame, columns: Columns, *, file: str = "anonymized"
) -> tuple[pd.DataFrame, list[Remark]]:
    """An anonymized table: the original's header, 1 to n rows; remarks say what was read leniently."""
    header, most = list(original.columns), len(original)
    with located({file: content}):
        text, remarks = decoded(content, file)
        check_header(header_of(text, file), header, file)
        table = typed(cells(text, header, file, most_rows=most), columns, file, most_rows=most)
    remarks += [respelled(name) for name in columns.quasi_identifiers if is_respelled(table, original, name)]
    return table, remarks


def check_roles(header: Sequence[str], columns: Columns, file: str) -> None:
    """Every column of the original has exactly one role, listed in the order of the file."""
    problems = Problems(file)
    roles = dict.fromkeys((*columns.quasi_identifiers, *columns.sensitive))
    times = Counter(header)
    for name in sorted(name for name in times if times[name] > 1):
        problems.add("header", named_twice(name), column=name[:80], line=1)
    for name in roles:
        if name not in times:
            message = Message("the header has no column {name!r}", name=name)
            problems.add("header", message, column=name, line=1)
    for name in header:
        if name not in roles:
            message = Message("the competition file gives the column {name!r} no role", name=name[:80])
            problems.add("column_without_role", message, column=name[:80], line=1)
    problems.check()
    for role in (columns.quasi_identifiers, columns.sensitive):
        among = set(role)
        if list(role) != [name for name in header if name in among]:
            message = Message("the competition file must list the columns in the order of the data")
            problems.add("columns_order", message, line=1)
    problems.check()


def typed(table: pa.Table, columns: Columns, file: str, *, most_rows: int) -> pd.DataFrame:
    """Text for the quasi-identifiers, float64 for the sensitive attributes."""
    problems = Problems(file)
    check_rows(table, problems, fewest=1, most=most_rows)
    for name, column in text_columns(table):
        check_text(column, name, problems)
    numeric, texts = np.empty((table.num_rows, len(columns.sensitive))), {}
    header = table.column_names
    for name in header:
        ((_, column),) = text_columns(table.select([name]))
        table = table.drop_columns([name])  # in memory as text or as what it says, never all of it as both
        if name in columns.sensitive:
            numeric[:, columns.sensitive.index(name)] = numbers(column, name, problems)
        else:
            texts[name] = column.to_pandas()
    problems.check()
    if len(numeric) > FEW:
        pa.default_memory_pool().release_unused()
    # One array of rows, as the rules want it: they need no other.
    cells_by_row = pd.DataFrame(numeric, columns=list(columns.sensitive), copy=False)
    frame = pd.concat([pd.DataFrame(texts, index=cells_by_row.index, copy=False), cells_by_row], axis=1)
    return frame if list(frame.columns) == header else frame[header]
