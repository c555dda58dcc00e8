"""Tables of partial knowledge: rows of T with the beginning of the good, the others deleted."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.random import Generator

from anoncup.geometry.arrays import BoolArray
from anoncup.messages import Message
from anoncup.tables.csv_text import Problems, marks, table_csv, text_columns
from anoncup.tables.files import Remark
from anoncup.tables.line_numbers import located
from anoncup.tracks.monthly.files import KNOWN_CHARACTERS, SHARES, TRANSACTION_COLUMNS
from anoncup.tracks.monthly.original import Original
from anoncup.tracks.monthly.release import deleted, with_deletions
from anoncup.tracks.transactions.tables import text_table


def known_rows(original: Original) -> pd.DataFrame:
    """T with every good cut to its first two characters, (rows, 7)."""
    cells = original.records.cells
    return cells.assign(good=cells["good"].str[:KNOWN_CHARACTERS])


def parse_knowledge(content: bytes, original: Original, table: str) -> tuple[BoolArray, list[Remark]]:
    """Which rows of T the table keeps, (rows,): its share of them, up to less than a row."""
    rows = original.records.rows
    with located({table: content}):
        found, remarks = text_table(content, TRANSACTION_COLUMNS, table, rows, rows, required=("customer",))
        problems = Problems(table)
        kept = ~deleted(found, problems)
        _check_cells(found, kept, original, problems)
        count = int(np.count_nonzero(kept))
        if abs(100 * count - SHARES[table] * rows) >= 100:
            sizes = {"found": count, "rows": rows, "share": SHARES[table]}
            message = Message("{found} of {rows} rows are kept; it must be {share}% of them", **sizes)
            problems.add("wrong_share", message)
        problems.check()
    return kept, remarks


def drawn(original: Original, generator: Generator) -> dict[str, BoolArray]:
    """Which rows each table keeps, (rows,): the first rows by numbers drawn, of equal ones the earlier.

    So a larger table keeps all that a smaller one does, and whoever has the generator's key draws the same.
    The count of rows is rounded, halves up.
    """
    rows = original.records.rows
    numbers = generator.bit_generator.random_raw(rows)
    order, found = np.argsort(numbers, kind="stable"), {}
    for table, share in SHARES.items():
        found[table] = np.zeros(rows, dtype=bool)
        found[table][order[: (share * rows + 50) // 100]] = True
    return found


def knowledge_csv(original: Original, kept: BoolArray) -> bytes:
    """The table as a file: deleted rows are DEL and empty cells."""
    return table_csv(with_deletions(known_rows(original), kept))


def _check_cells(found: pa.Table, kept: BoolArray, original: Original, problems: Problems) -> None:
    expected = known_rows(original)
    what = Message("does not match the original row (only the first two characters of the good are kept)")
    for name, column in text_columns(found):
        differs = marks(pc.not_equal(column, pa.array(expected[name], pa.string())))
        problems.add_rows(differs & kept, name, "not_the_original", what, cells=column)
