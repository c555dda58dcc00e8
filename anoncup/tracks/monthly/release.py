"""Bytes to a release AT: T's rows under pseudonyms that hold for a month, some of them deleted.

What is refused names file, row, column and code. A pseudonym beside its row is what others shall find out:
no problem repeats one.
"""

from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.random import Generator

from anoncup.geometry.arrays import BoolArray, IntArray
from anoncup.geometry.encoding import numbered
from anoncup.messages import Message
from anoncup.tables.csv_text import Problems, marks, text_columns, unrepeated
from anoncup.tables.files import Remark
from anoncup.tables.line_numbers import located
from anoncup.tracks.memo import Memo
from anoncup.tracks.monthly.files import DELETED, TRANSACTION_COLUMNS
from anoncup.tracks.monthly.original import Original, Records, calendar_months, read_records
from anoncup.tracks.transactions.tables import read_texts, text_table

PSEUDONYM = r"\A[A-Za-z0-9_-]+\z"


@dataclass(frozen=True, slots=True)
class Release:
    """AT, row by row beside T: of a deleted row, ``records`` has the original's cells."""

    original: Original
    records: Records
    memo: Memo = field(default_factory=dict, compare=False, repr=False)

    @property
    def rows(self) -> int:
        """The customers: they are the individuals, whatever is deleted of them."""
        return self.original.rows

    @property
    def kept_rows(self) -> pd.DataFrame:
        """The rows that are not deleted, in AT's order."""
        return self.records.cells[self.records.kept].reset_index(drop=True)


def parse_release(content: bytes, original: Original) -> tuple[Release, list[Remark]]:
    """AT: T's header and as many rows in the same order, each deleted or under a pseudonym of its month."""
    rows, file = original.records.rows, "transactions"
    with located({file: content}), unrepeated("customer"):
        problems = Problems(file)
        table, remarks = read_texts(
            content, TRANSACTION_COLUMNS, problems, rows, rows, required=("customer",)
        )
        if table.num_rows != rows:
            problems.check()
        kept = ~deleted(table, problems)
        gone, most = int(np.count_nonzero(~kept)), most_deleted(rows)
        if gone > most:
            sizes = {"found": gone, "rows": rows, "most": most}
            message = Message("{found} of {rows} rows are deleted; at most {most} may be", **sizes)
            problems.add("too_many_deleted", message)
        table = filled(table, kept, original)
        records = read_records(table, kept, problems)
        check_rows_kept(table, records, original, problems)
        check_pseudonyms(table, kept, original, problems)
        problems.check()
    return Release(original, records), remarks


def most_deleted(rows: int) -> int:
    """Return how many rows may be deleted: half of them, rounded down, are kept."""
    return rows - rows // 2


@dataclass(frozen=True, slots=True)
class Published:
    """What others have of a release: the kept rows, (kept, 7) texts, in whatever order."""

    original: Original
    kept_rows: pd.DataFrame

    @property
    def rows(self) -> int:
        return self.original.rows


def parse_target(content: bytes, original: Original) -> Published:
    """Parse the rows of a target, or those of a release of one's own that are kept; there may be none."""
    rows, file = original.records.rows, "transactions"
    with located({file: content}):
        table, _ = text_table(content, TRANSACTION_COLUMNS, file, 0, rows, required=("customer",))
    cells = pd.DataFrame({name: column.to_pandas() for name, column in text_columns(table)})
    return Published(original, cells[cells["customer"] != DELETED].reset_index(drop=True))


def shuffled(release: Release, rng: Generator) -> pd.DataFrame:
    """The target that is published: the kept rows, (kept, 7), in an order that the service draws."""
    rows = release.kept_rows
    return rows.iloc[rng.permutation(len(rows))].reset_index(drop=True)


def with_deletions(cells: pd.DataFrame, kept: BoolArray) -> pd.DataFrame:
    """A table of texts with all other rows deleted, as a file says it."""
    found = cells.reset_index(drop=True)
    found.loc[~kept, :] = ""
    found.loc[~kept, "customer"] = DELETED
    return found


def deleted(table: pa.Table, problems: Problems) -> BoolArray:
    """Which rows are deleted, (rows,); nothing else stands there."""
    columns = dict(text_columns(table))
    found = marks(pc.equal(columns.pop("customer"), DELETED))
    what = Message("in a deleted row all cells after DEL are empty")
    for name, column in columns.items():
        full = found & ~marks(pc.equal(column, ""))
        problems.add_rows(full, name, "deleted_not_empty", what, cells=column)
    return found


def filled(table: pa.Table, kept: BoolArray, original: Original) -> pa.Table:
    """The table with the original's cells in deleted rows."""
    names, mask, cells = table.column_names, pa.array(kept), original.records.cells
    before = [pa.array(cells[name], pa.string()) for name in names]
    after = [column for _, column in text_columns(table)]
    return pa.table([pc.if_else(mask, new, old) for new, old in zip(after, before, strict=True)], names=names)


def check_rows_kept(table: pa.Table, records: Records, original: Original, problems: Problems) -> None:
    """Dates stay in their month, goods are the original's."""
    columns = dict(text_columns(table))
    moved = calendar_months(records.day) != calendar_months(original.records.day)
    what = Message("not in the month of the original's row")
    problems.add_rows(moved, "date", "wrong_month", what, cells=columns["date"])
    goods = pa.array(original.records.cells["good"].unique(), pa.string())
    strange = ~marks(pc.is_in(columns["good"], goods))
    what = Message("not a good of the original")
    problems.add_rows(strange, "good", "unknown_good", what, cells=columns["good"])


def check_pseudonyms(table: pa.Table, kept: BoolArray, original: Original, problems: Problems) -> None:
    """One for each customer and month, never a real id, never shared."""
    ids = dict(text_columns(table))["customer"]
    well_formed = marks(pc.match_substring_regex(ids, PSEUDONYM))
    real = marks(pc.is_in(ids, pa.array(original.customers["customer"], pa.string())))
    names, _ = numbered(ids.to_pandas())
    spell = original.spell
    wrong = {
        "not_a_pseudonym": (~well_formed, Message("not a pseudonym of A-Z, a-z, 0-9, _ and -")),
        "real_id": (well_formed & real, Message("the id of a customer, not a pseudonym")),
        "several_pseudonyms": (
            differs_from_first(spell, names, kept),
            Message("the customer has another pseudonym above in the same month"),
        ),
        "shared_pseudonym": (
            differs_from_first(names, spell, kept),
            Message("the pseudonym stands above for another customer or month"),
        ),
    }
    for code, (bad, what) in wrong.items():
        problems.add_rows(bad & kept, "customer", code, what, cells=ids)


def differs_from_first(groups: IntArray, values: IntArray, kept: BoolArray) -> BoolArray:
    """Which kept rows have another value than the first kept row of their group, (rows,)."""
    rows = np.flatnonzero(kept)
    _, first, group_of = np.unique(groups[rows], return_index=True, return_inverse=True)
    found = np.zeros(len(groups), dtype=bool)
    found[rows] = values[rows] != values[rows][first][group_of]
    return found
