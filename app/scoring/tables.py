"""Bytes to typed microdata tables, or InvalidUpload with file, row, column and code.

Quasi-identifiers stay text, exactly as written; sensitive cells become float64. Row labels do not exist:
below this file, rows are aligned by position.
"""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pandas as pd
import pyarrow as pa

from app.scoring.competition import Columns
from app.scoring.csv_text import (
    NUMBER,
    Problems,
    cells,
    check_header,
    check_text,
    decoded,
    header_of,
    numbers,
    text_columns,
)
from app.scoring.files import MAX_ROWS, Remark


def parse_original(
    content: bytes, columns: Columns, *, file: str = "original"
) -> tuple[pd.DataFrame, list[Remark]]:
    """The original table: its header holds exactly the competition's columns, each role in file order."""
    text, remarks = decoded(content, file)
    header = header_of(text, file)
    check_roles(header, columns, file)
    return typed(cells(text, header, file), columns, file, most_rows=MAX_ROWS), remarks


def parse_release(
    content: bytes, original: pd.DataFrame, columns: Columns, *, file: str = "anonymized"
) -> tuple[pd.DataFrame, list[Remark]]:
    """An anonymized table: the original's header, 1 to n rows; remarks say what was read leniently."""
    text, remarks = decoded(content, file)
    header, most = list(original.columns), len(original)
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
        problems.add("header", f"the header names {name[:80]!r} twice", column=name[:80])
    for name in roles:
        if name not in times:
            problems.add("header", f"the header has no column {name!r}", column=name)
    for name in header:
        if name not in roles:
            message = f"the competition gives {name[:80]!r} no role"
            problems.add("column_without_role", message, column=name[:80])
    problems.check()
    for role in (columns.quasi_identifiers, columns.sensitive):
        among = set(role)
        if list(role) != [name for name in header if name in among]:
            problems.add("columns_order", "the competition must list columns in the order of the file")
    problems.check()


def typed(table: pa.Table, columns: Columns, file: str, *, most_rows: int) -> pd.DataFrame:
    """Text for the quasi-identifiers, float64 for the sensitive attributes."""
    problems = Problems(file)
    if not 1 <= table.num_rows <= most_rows:
        code = "too_many_rows" if table.num_rows else "no_rows"
        problems.add(code, f"the table has {table.num_rows} rows; 1 to {most_rows} are possible")
    problems.check()
    for name, column in text_columns(table):
        check_text(column, name, problems)
    problems.check()
    frame: dict[str, Any] = {}
    for name in table.column_names:
        ((_, column),) = text_columns(table.select([name]))
        table = table.drop_columns([name])  # in memory as text or as what it says, never all of it as both
        frame[name] = numbers(column, name, problems) if name in columns.sensitive else column.to_pandas()
    problems.check()
    return pd.DataFrame(frame)


def is_respelled(table: pd.DataFrame, original: pd.DataFrame, name: str) -> bool:
    """Whether values are new as text but equal values of the original as numbers (``1.0`` for ``1``)."""
    known = set(original[name].unique())
    new = set(table[name].unique()) - known
    if not new:
        return False
    amounts = {float(value) for value in known if re.match(NUMBER, value)}
    return any(re.match(NUMBER, value) and float(value) in amounts for value in new)


def respelled(name: str) -> Remark:
    message = (
        f"{name}: some numbers are spelled differently from the original's (such as 1.0 for 1); "
        "quasi-identifiers are compared as text, so these cells count as changed"
    )
    return Remark("respelled", message)
