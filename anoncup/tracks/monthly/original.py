"""Bytes to the customers M and the transactions T, or InvalidUpload with file, row, column and code.

Cells stay text exactly as written, since attackers compare them so; what is measured is kept beside them as
numbers.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from anoncup.geometry.arrays import BoolArray, FloatArray, IntArray
from anoncup.geometry.encoding import encode, numbered, texts
from anoncup.messages import Message
from anoncup.tables.csv_text import Problems, marks, text_columns
from anoncup.tables.files import MAX_ROWS, Remark
from anoncup.tables.line_numbers import located
from anoncup.tracks.memo import Memo
from anoncup.tracks.monthly.files import CUSTOMER_COLUMNS, DELETED, MOST_MONTHS, TRANSACTION_COLUMNS
from anoncup.tracks.transactions.tables import iso_date, prices, quantities, text_table

EPOCH = date(1970, 1, 1).toordinal()


@dataclass(frozen=True, slots=True)
class Records:
    """A table of transactions as written, (rows, 7), and as numbers, each (rows,).

    ``day``: counted from 1970; ``kept``: whether the row is not deleted. The numbers of a deleted row are
    those of the original's.
    """

    cells: pd.DataFrame
    kept: BoolArray
    day: IntArray
    price: FloatArray
    quantity: IntArray

    @property
    def rows(self) -> int:
        return len(self.kept)


@dataclass(frozen=True, slots=True)
class Original:
    """M and T. ``months``: the calendar months of T as ``YYYY-MM``, ascending.

    ``person``, ``month`` (rows,): of every row of T the customer's row in M and the month's place.
    ``knowledge`` (rows,): which rows each table of partial knowledge keeps, of those that are there.
    """

    customers: pd.DataFrame
    records: Records
    months: tuple[str, ...]
    person: IntArray
    month: IntArray
    knowledge: Mapping[str, BoolArray] = field(default_factory=dict)
    memo: Memo = field(default_factory=dict, compare=False, repr=False)

    @property
    def rows(self) -> int:
        """The customers: they are the individuals."""
        return len(self.customers)

    @property
    def spell(self) -> IntArray:
        """Of every row of T one number for its customer and month, (rows,)."""
        return self.person * len(self.months) + self.month


def parse_original(files: Mapping[str, bytes]) -> tuple[Original, list[Remark]]:
    """M and T: ids are unique in M, those of T occur in M, T has rows of at most twelve calendar months."""
    with located(files):
        people, remarks = text_table(
            files["customers"], CUSTOMER_COLUMNS, "customers", 1, MAX_ROWS, required=("customer",)
        )
        rows, more = text_table(
            files["transactions"],
            TRANSACTION_COLUMNS,
            "transactions",
            1,
            MAX_ROWS,
            required=("customer", "good"),
        )
        customers = _customers(people)
        return _original(customers, rows), remarks + more


def check_customers(files: Mapping[str, bytes]) -> None:
    """InvalidUpload if ``customers`` could belong to no original."""
    with located(files):
        people, _ = text_table(
            files["customers"], CUSTOMER_COLUMNS, "customers", 1, MAX_ROWS, required=("customer",)
        )
        _customers(people)


def read_records(table: pa.Table, kept: BoolArray, problems: Problems) -> Records:
    """The numbers of a table whose deleted rows were filled in with the original's cells."""
    columns = dict(text_columns(table))
    return Records(
        cells=pd.DataFrame({name: column.to_pandas() for name, column in columns.items()}),
        kept=kept,
        day=days(columns["date"], problems),
        price=prices(columns["price"], "price", problems),
        quantity=quantities(columns["quantity"], problems),
    )


def days(column: pa.Array, problems: Problems) -> IntArray:
    """The dates as days counted from 1970, (rows,)."""
    codes, distinct = numbered(column.to_pandas())
    spelled = [iso_date(cell) for cell in distinct]
    wrong = np.array([each is None for each in spelled], dtype=bool)[codes]
    what = Message("not a date such as 2011-01-05")
    problems.add_rows(wrong, "date", "not_a_date", what, cells=column)
    counted = [date.fromisoformat(each).toordinal() - EPOCH if each else 0 for each in spelled]
    return np.array(counted, dtype=np.int64)[codes]


def calendar_months(day: IntArray) -> IntArray:
    """The calendar month of every day, counted from January 1970, (rows,)."""
    return day.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64)


def _customers(table: pa.Table) -> pd.DataFrame:
    problems, columns = Problems("customers"), dict(text_columns(table))
    ids = columns["customer"]
    frame = pd.DataFrame({name: column.to_pandas() for name, column in columns.items()})
    above = Message("the id is already used in a row above")
    repeated = frame["customer"].duplicated().to_numpy()
    problems.add_rows(repeated, "customer", "duplicate_customer", above, cells=ids)
    reserved = Message("DEL marks deleted rows and cannot be the id of a customer")
    problems.add_rows(marks(pc.equal(ids, DELETED)), "customer", "reserved_id", reserved, cells=ids)
    problems.check()
    return frame


def _original(customers: pd.DataFrame, table: pa.Table) -> Original:
    problems = Problems("transactions")
    records = read_records(table, np.ones(table.num_rows, dtype=bool), problems)
    unknown = ~records.cells["customer"].isin(customers["customer"]).to_numpy()
    no_such, ids = Message("this id is not in the customers table"), dict(text_columns(table))["customer"]
    problems.add_rows(unknown, "customer", "unknown_customer", no_such, cells=ids)
    problems.check()
    months, month = np.unique(calendar_months(records.day), return_inverse=True)
    if len(months) > MOST_MONTHS:
        sizes = {"found": len(months), "most": MOST_MONTHS}
        message = Message("the dates lie in {found} calendar months; at most {most} are possible", **sizes)
        problems.add("too_many_months", message, column="date")
    problems.check()
    places = {name: row for row, name in enumerate(texts(customers, "customer"))}
    person = encode(texts(records.cells, "customer"), places)
    return Original(customers, records, _spelled(months), person, month.astype(np.int64))


def _spelled(months: IntArray) -> tuple[str, ...]:
    return tuple(map(str, months.astype("datetime64[M]")))
