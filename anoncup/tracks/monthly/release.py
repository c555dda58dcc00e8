"""Parse a release AT: the rows of T under pseudonyms that change every month, some of them deleted.

InvalidUpload reports file, row, column and code, but never repeats a pseudonym, because the row it belongs to
is secret.
"""

from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.random import Generator

from anoncup.geometry.arrays import BoolArray, IntArray
from anoncup.geometry.encoding import factorize
from anoncup.messages import Message
from anoncup.tables.csv_text import Problems, convert_to_mask, iterate_text_columns, redact_values
from anoncup.tables.files import Remark
from anoncup.tables.line_numbers import add_line_numbers
from anoncup.tables.respelling import find_respelled_columns
from anoncup.tracks.memo import Memo
from anoncup.tracks.monthly.files import DELETED_MARK, TRANSACTION_COLUMNS
from anoncup.tracks.monthly.original import (
    MonthlyOriginal,
    PurchaseRecords,
    convert_days_to_months,
    parse_records,
)
from anoncup.tracks.transactions.tables import parse_text_table, read_text_table

PSEUDONYM_PATTERN = r"\A[A-Za-z0-9_-]+\z"


@dataclass(frozen=True, slots=True)
class MonthlyRelease:
    """AT in the row order of T. That order and the pseudonyms in it are the secret of its team."""

    original: MonthlyOriginal
    records: PurchaseRecords
    """AT, row by row beside T."""
    memo: Memo = field(default_factory=dict, compare=False, repr=False)

    @property
    def rows(self) -> int:
        """Number of customers, who are the individuals; deletions do not change it."""
        return self.original.rows

    @property
    def kept_rows(self) -> pd.DataFrame:
        """The rows that are not deleted, in AT's order."""
        return self.records.cells[self.records.is_kept].reset_index(drop=True)


def parse_release(content: bytes, original: MonthlyOriginal) -> tuple[MonthlyRelease, list[Remark]]:
    """Parse AT, which has the header and the row order of T; a row is deleted or has a pseudonym."""
    rows, file = original.records.rows, "transactions"
    with add_line_numbers({file: content}), redact_values("customer"):
        problems = Problems(file)
        table, remarks = read_text_table(
            content, TRANSACTION_COLUMNS, problems, rows, rows, required=("customer",)
        )
        if table.num_rows != rows:
            problems.raise_if_any()
        is_kept = ~find_deleted_rows(table, problems)
        deleted_count, max_deleted = int(np.count_nonzero(~is_kept)), count_deletable_rows(rows)
        if deleted_count > max_deleted:
            sizes = {"found": deleted_count, "rows": rows, "most": max_deleted}
            message = Message("{found} of {rows} rows are deleted; at most {most} may be", **sizes)
            problems.add("too_many_deleted", message)
        table = _fill_deleted_rows(table, is_kept, original)
        records = parse_records(table, is_kept, problems)
        _check_kept_rows(table, records, original, problems)
        _check_pseudonyms(table, is_kept, original, problems)
        problems.raise_if_any()
    release = MonthlyRelease(original, records)
    compared_columns = [name for name in TRANSACTION_COLUMNS if name != "customer"]
    return release, remarks + find_respelled_columns(
        release.kept_rows, original.records.cells, compared_columns
    )


def count_deletable_rows(rows: int) -> int:
    """Return how many rows may be deleted, so that at least half of the rows, rounded down, are kept."""
    return rows - rows // 2


def parse_kept_rows(content: bytes, original: MonthlyOriginal) -> pd.DataFrame:
    """Parse the kept rows, (kept, 7), from a target's file or from a release; there may be none."""
    rows, file = original.records.rows, "transactions"
    with add_line_numbers({file: content}):
        table, _ = parse_text_table(content, TRANSACTION_COLUMNS, file, 0, rows, required=("customer",))
    cells = pd.DataFrame({name: column.to_pandas() for name, column in iterate_text_columns(table)})
    return cells[cells["customer"] != DELETED_MARK].reset_index(drop=True)


def shuffle_kept_rows(release: MonthlyRelease, rng: Generator) -> pd.DataFrame:
    """Return the kept rows, (kept, 7), in random order, as they are published."""
    rows = release.kept_rows
    return rows.iloc[rng.permutation(len(rows))].reset_index(drop=True)


def mark_deleted_rows(cells: pd.DataFrame, is_kept: BoolArray) -> pd.DataFrame:
    """Return a copy of the table in which the rows that are not kept are marked as deleted."""
    marked = cells.reset_index(drop=True)
    marked.loc[~is_kept, :] = ""
    marked.loc[~is_kept, "customer"] = DELETED_MARK
    return marked


def find_deleted_rows(table: pa.Table, problems: Problems) -> BoolArray:
    """Return whether each row is deleted, (rows,); the other cells of a deleted row must be empty."""
    columns = dict(iterate_text_columns(table))
    is_deleted = convert_to_mask(pc.equal(columns.pop("customer"), DELETED_MARK))
    message = Message("in a deleted row all cells after DEL are empty")
    for name, column in columns.items():
        is_not_empty = is_deleted & ~convert_to_mask(pc.equal(column, ""))
        problems.add_rows(is_not_empty, name, "deleted_not_empty", message, cells=column)
    return is_deleted


def _fill_deleted_rows(table: pa.Table, is_kept: BoolArray, original: MonthlyOriginal) -> pa.Table:
    """Fill deleted rows with the original's cells."""
    names, keep_mask, cells = table.column_names, pa.array(is_kept), original.records.cells
    original_columns = [pa.array(cells[name], pa.string()) for name in names]
    release_columns = [column for _, column in iterate_text_columns(table)]
    return pa.table(
        [
            pc.if_else(keep_mask, release_column, original_column)
            for release_column, original_column in zip(release_columns, original_columns, strict=True)
        ],
        names=names,
    )


def _check_kept_rows(
    table: pa.Table, records: PurchaseRecords, original: MonthlyOriginal, problems: Problems
) -> None:
    """Check that dates stay in their month and that goods occur in the original."""
    columns = dict(iterate_text_columns(table))
    is_moved = convert_days_to_months(records.day) != convert_days_to_months(original.records.day)
    message = Message("not in the month of the original's row")
    problems.add_rows(is_moved, "date", "wrong_month", message, cells=columns["date"])
    goods = pa.array(original.records.cells["good"].unique(), pa.string())
    is_unknown = ~convert_to_mask(pc.is_in(columns["good"], goods))
    message = Message("not a good of the original")
    problems.add_rows(is_unknown, "good", "unknown_good", message, cells=columns["good"])


def _check_pseudonyms(
    table: pa.Table, is_kept: BoolArray, original: MonthlyOriginal, problems: Problems
) -> None:
    """Check that each customer has one pseudonym a month, which is no real id and used nowhere else."""
    ids = dict(iterate_text_columns(table))["customer"]
    is_well_formed = convert_to_mask(pc.match_substring_regex(ids, PSEUDONYM_PATTERN))
    is_real_id = convert_to_mask(pc.is_in(ids, pa.array(original.customers["customer"], pa.string())))
    pseudonyms, _ = factorize(ids.to_pandas())
    customer_month = original.customer_month
    checks = {
        "not_a_pseudonym": (~is_well_formed, Message("not a pseudonym of A-Z, a-z, 0-9, _ and -")),
        "real_id": (is_well_formed & is_real_id, Message("the id of a customer, not a pseudonym")),
        "several_pseudonyms": (
            _differs_from_first(customer_month, pseudonyms, is_kept),
            Message("the customer has another pseudonym above in the same month"),
        ),
        "shared_pseudonym": (
            _differs_from_first(pseudonyms, customer_month, is_kept),
            Message("the pseudonym stands above for another customer or month"),
        ),
    }
    for code, (is_wrong, message) in checks.items():
        problems.add_rows(is_wrong & is_kept, "customer", code, message, cells=ids)


def _differs_from_first(groups: IntArray, values: IntArray, is_kept: BoolArray) -> BoolArray:
    """Return whether each kept row has a different value from the first kept row of its group, (rows,)."""
    rows = np.flatnonzero(is_kept)
    _, first_positions, group_of = np.unique(groups[rows], return_index=True, return_inverse=True)
    differs = np.zeros(len(groups), dtype=bool)
    differs[rows] = values[rows] != values[rows][first_positions][group_of]
    return differs
