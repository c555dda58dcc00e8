"""Parse the customers M and the transactions T; InvalidUpload reports file, row, column and code.

Cells stay text exactly as written, because attackers compare texts; numbers for the measures are stored next
to them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from anoncup.geometry.arrays import BoolArray, FloatArray, IntArray
from anoncup.geometry.encoding import factorize, get_column_texts
from anoncup.messages import Message
from anoncup.tables.csv_text import Problems, convert_to_mask, iterate_text_columns
from anoncup.tables.files import MAX_ROWS, Remark
from anoncup.tables.line_numbers import add_line_numbers
from anoncup.tracks.memo import Memo
from anoncup.tracks.monthly.files import CUSTOMER_COLUMNS, DELETED_MARK, MAX_MONTHS, TRANSACTION_COLUMNS
from anoncup.tracks.transactions.tables import (
    add_repeated_ids,
    add_unknown_ids,
    normalize_date,
    parse_prices,
    parse_quantities,
    parse_text_table,
)

EPOCH_ORDINAL = date(1970, 1, 1).toordinal()


@dataclass(frozen=True, slots=True)
class PurchaseRecords:
    """A table of transactions as texts and as numbers. Deleted rows have the cells of the original."""

    cells: pd.DataFrame
    """The texts as written, (rows, 7): customer, invoice, date, time, good, price, quantity."""
    is_kept: BoolArray
    """False for deleted rows, (rows,)."""
    day: IntArray
    """The number of days since 1970-01-01, (rows,)."""
    price: FloatArray
    """The price of one piece, (rows,)."""
    quantity: IntArray
    """The number of pieces, (rows,)."""

    @property
    def rows(self) -> int:
        return len(self.is_kept)


@dataclass(frozen=True, slots=True)
class MonthlyOriginal:
    """The customers M and the transactions T."""

    customers: pd.DataFrame
    """M: customer, sex, birth, country."""
    records: PurchaseRecords
    """T."""
    months: tuple[str, ...]
    """The calendar months of T as ``YYYY-MM``, ascending."""
    customer_row: IntArray
    """The row in M of each row's customer, (rows of T,)."""
    month_index: IntArray
    """The position in ``months`` of each row's date, (rows of T,)."""
    knowledge: Mapping[str, BoolArray] = field(default_factory=dict)
    """For each table of partial knowledge that exists, the rows of T that it keeps, (rows of T,)."""
    memo: Memo = field(default_factory=dict, compare=False, repr=False)

    @property
    def rows(self) -> int:
        """Number of customers, who are the individuals."""
        return len(self.customers)

    @property
    def customer_month(self) -> IntArray:
        """Number of the customer and month of every row of T, (rows,)."""
        return self.customer_row * len(self.months) + self.month_index


def parse_original(files: Mapping[str, bytes]) -> tuple[MonthlyOriginal, list[Remark]]:
    """Parse M and T.

    Ids must be unique in M, and those of T must occur in M. T may cover at most twelve calendar months.
    """
    with add_line_numbers(files):
        customers, remarks = _parse_customers(files["customers"])
        transaction_texts, transaction_remarks = parse_text_table(
            files["transactions"],
            TRANSACTION_COLUMNS,
            "transactions",
            1,
            MAX_ROWS,
            required=("customer", "good"),
        )
        return _build_original(customers, transaction_texts), remarks + transaction_remarks


def check_customers(files: Mapping[str, bytes]) -> None:
    """Raise InvalidUpload if ``customers`` cannot belong to any original."""
    with add_line_numbers(files):
        _parse_customers(files["customers"])


def parse_records(table: pa.Table, is_kept: BoolArray, problems: Problems) -> PurchaseRecords:
    """Parse the numbers of a table; deleted rows must already have the cells of the original."""
    columns = dict(iterate_text_columns(table))
    return PurchaseRecords(
        cells=pd.DataFrame({name: column.to_pandas() for name, column in columns.items()}),
        is_kept=is_kept,
        day=_parse_days(columns["date"], problems),
        price=parse_prices(columns["price"], "price", problems),
        quantity=parse_quantities(columns["quantity"], problems),
    )


def _parse_days(column: pa.Array, problems: Problems) -> IntArray:
    """Parse dates as days counted from 1970, (rows,)."""
    codes, distinct_texts = factorize(column.to_pandas())
    iso_dates = [normalize_date(cell) for cell in distinct_texts]
    is_wrong = np.array([text is None for text in iso_dates], dtype=bool)[codes]
    message = Message("not a date such as 2011-01-05")
    problems.add_rows(is_wrong, "date", "not_a_date", message, cells=column)
    day_numbers = [date.fromisoformat(text).toordinal() - EPOCH_ORDINAL if text else 0 for text in iso_dates]
    return np.array(day_numbers, dtype=np.int64)[codes]


def convert_days_to_months(day: IntArray) -> IntArray:
    """Return the calendar month of every day as the number of months since January 1970, (rows,)."""
    return day.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64)


def _parse_customers(content: bytes) -> tuple[pd.DataFrame, list[Remark]]:
    table, remarks = parse_text_table(
        content, CUSTOMER_COLUMNS, "customers", 1, MAX_ROWS, required=("customer",)
    )
    problems, columns = Problems("customers"), dict(iterate_text_columns(table))
    ids = columns["customer"]
    frame = pd.DataFrame({name: column.to_pandas() for name, column in columns.items()})
    add_repeated_ids(ids, "customer", problems)
    reserved_message = Message("DEL marks deleted rows and cannot be the id of a customer")
    problems.add_rows(
        convert_to_mask(pc.equal(ids, DELETED_MARK)), "customer", "reserved_id", reserved_message, cells=ids
    )
    problems.raise_if_any()
    return frame, remarks


def _build_original(customers: pd.DataFrame, table: pa.Table) -> MonthlyOriginal:
    problems = Problems("transactions")
    records = parse_records(table, np.ones(table.num_rows, dtype=bool), problems)
    ids = dict(iterate_text_columns(table))["customer"]
    add_unknown_ids(ids, customers["customer"], "customer", problems)
    problems.raise_if_any()
    months, month_index = np.unique(convert_days_to_months(records.day), return_inverse=True)
    if len(months) > MAX_MONTHS:
        sizes = {"found": len(months), "most": MAX_MONTHS}
        message = Message("the dates lie in {found} calendar months; at most {most} are possible", **sizes)
        problems.add("too_many_months", message, column="date")
    problems.raise_if_any()
    customer_row, _ = factorize(records.cells["customer"], get_column_texts(customers, "customer"))
    return MonthlyOriginal(
        customers,
        records,
        tuple(map(str, months.astype("datetime64[M]"))),
        customer_row,
        month_index.astype(np.int64),
    )
