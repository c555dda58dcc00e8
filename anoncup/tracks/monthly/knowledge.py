"""Tables of partial knowledge: the transactions T with truncated goods, where some rows are deleted."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.random import Generator

from anoncup.geometry.arrays import BoolArray
from anoncup.messages import Message
from anoncup.tables.csv_text import Problems, convert_to_mask, iterate_text_columns, write_csv
from anoncup.tables.files import Remark
from anoncup.tables.line_numbers import add_line_numbers
from anoncup.tracks.memo import memoize
from anoncup.tracks.monthly.files import KNOWLEDGE_PERCENTAGES, KNOWN_GOOD_LENGTH, TRANSACTION_COLUMNS
from anoncup.tracks.monthly.original import MonthlyOriginal
from anoncup.tracks.monthly.release import find_deleted_rows, mark_deleted_rows
from anoncup.tracks.transactions.tables import parse_text_table


@memoize
def truncate_goods(original: MonthlyOriginal) -> pd.DataFrame:
    """Return T with every good cut to its first two characters, (rows, 7)."""
    cells = original.records.cells
    return cells.assign(good=cells["good"].str[:KNOWN_GOOD_LENGTH])


def parse_knowledge(
    content: bytes, original: MonthlyOriginal, table_name: str
) -> tuple[BoolArray, list[Remark]]:
    """Return whether the table keeps each row of T, (rows,).

    The number of kept rows may differ from the table's percentage by less than one row.
    """
    rows = original.records.rows
    with add_line_numbers({table_name: content}):
        cells, remarks = parse_text_table(
            content, TRANSACTION_COLUMNS, table_name, rows, rows, required=("customer",)
        )
        problems = Problems(table_name)
        is_kept = ~find_deleted_rows(cells, problems)
        _check_cells(cells, is_kept, original, problems)
        kept_count = int(np.count_nonzero(is_kept))
        if abs(100 * kept_count - KNOWLEDGE_PERCENTAGES[table_name] * rows) >= 100:
            sizes = {"found": kept_count, "rows": rows, "share": KNOWLEDGE_PERCENTAGES[table_name]}
            message = Message("{found} of {rows} rows are kept; it must be {share}% of them", **sizes)
            problems.add("wrong_share", message)
        problems.raise_if_any()
    return is_kept, remarks


def sample_known_rows(original: MonthlyOriginal, generator: Generator) -> dict[str, BoolArray]:
    """Sample the rows that each table keeps, as masks, (rows,).

    A table keeps the rows with the smallest random numbers; ties go to the earlier row. A larger table
    therefore includes the rows of all smaller ones. Anyone with the generator's key gets the same rows. The
    number of rows is rounded, halves up.
    """
    rows = original.records.rows
    numbers = generator.bit_generator.random_raw(rows)
    order, masks = np.argsort(numbers, kind="stable"), {}
    for table_name, percentage in KNOWLEDGE_PERCENTAGES.items():
        masks[table_name] = np.zeros(rows, dtype=bool)
        masks[table_name][order[: (percentage * rows + 50) // 100]] = True
    return masks


def write_knowledge(original: MonthlyOriginal, is_kept: BoolArray) -> bytes:
    """Return a table of partial knowledge as a file; a deleted row has DEL and empty cells."""
    return write_csv(mark_deleted_rows(truncate_goods(original), is_kept))


def _check_cells(cells: pa.Table, is_kept: BoolArray, original: MonthlyOriginal, problems: Problems) -> None:
    expected = truncate_goods(original)
    message = Message("does not match the original row (only the first two characters of the good are kept)")
    for name, column in iterate_text_columns(cells):
        differs = convert_to_mask(pc.not_equal(column, pa.array(expected[name], pa.string())))
        problems.add_rows(differs & is_kept, name, "not_the_original", message, cells=column)
