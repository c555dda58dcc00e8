"""Bytes to the two tables of the transactions track, or InvalidUpload with file, row, column and code.

Ids, goods, sex and country stay text, exactly as written; dates become ISO texts (``2011-01-05``), times
``HH:MM``, prices float64 and quantities int64.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from anoncup.errors import read_each
from anoncup.messages import Message
from anoncup.tables.checks import check_rows, is_respelled, respelled
from anoncup.tables.csv_text import (
    Problems,
    cells,
    check_text,
    decoded,
    header_of,
    marks,
    numbers,
    table_csv,
    text_columns,
)
from anoncup.tables.files import MAX_CELL, MAX_ROWS, Remark
from anoncup.tables.header import check_header
from anoncup.tables.line_numbers import located
from anoncup.tracks.transactions.files import CUSTOMER_COLUMNS, TRANSACTION_COLUMNS

REQUIRED = ("customer_id", "receipt_id", "goods")
MAX_QUANTITY = 10**12
"""Sums over the most rows a file may have stay below 2**63."""
DATE = re.compile(r"([0-9]{4})([-/])([0-9]{1,2})\2([0-9]{1,2})")
TIME = re.compile(r"([0-9]{1,2}):([0-5][0-9])")
WHOLE = r"^[0-9]+$"


@dataclass(frozen=True, slots=True)
class TransactionTables:
    """M and T: ``customers`` with one row per individual, ``transactions`` with any number for each."""

    customers: pd.DataFrame
    transactions: pd.DataFrame


def parse_original(files: Mapping[str, bytes]) -> tuple[TransactionTables, list[Remark]]:
    """The original M and T; ids are unique in M and those of T occur in M."""
    with located(files):
        return _parsed(files, most_customers=MAX_ROWS, fewest_records=1)


def check_customers(files: Mapping[str, bytes]) -> None:
    """Whether M is well-formed by itself; InvalidUpload says what is wrong."""
    with located(files):
        problems = Problems("customers")
        _customers(read_texts(files["customers"], CUSTOMER_COLUMNS, problems, 1, MAX_ROWS)[0], problems)


def parse_release(
    files: Mapping[str, bytes], original: TransactionTables
) -> tuple[TransactionTables, list[Remark]]:
    """M' with 1 to n customers and T' with any number of rows; remarks say what was read leniently."""
    with located(files):
        tables, remarks = _parsed(files, most_customers=len(original.customers), fewest_records=0)
    compared = [(tables.customers, original.customers, name) for name in ("sex", "country")]
    compared.append((tables.transactions, original.transactions, "goods"))
    return tables, remarks + [respelled(name) for new, old, name in compared if is_respelled(new, old, name)]


def files_of(tables: TransactionTables) -> dict[str, bytes]:
    """The tables as CSV files that parse back to themselves."""
    return {"customers": table_csv(tables.customers), "transactions": table_csv(tables.transactions)}


def canonical_files(tables: TransactionTables) -> dict[str, bytes]:
    """The same with the records sorted by customer, then by every cell: their order tells nothing."""
    records = tables.transactions
    place = pd.Series(range(len(tables.customers)), index=tables.customers["customer_id"])
    order = records.assign(customer_id=place[records["customer_id"]].to_numpy())
    order = order.sort_values(["customer_id", "date", "time", *order.columns], kind="stable")
    return files_of(TransactionTables(tables.customers, records.loc[order.index]))


def _parsed(
    files: Mapping[str, bytes], *, most_customers: int, fewest_records: int
) -> tuple[TransactionTables, list[Remark]]:
    of_people, of_records = Problems("customers"), Problems("transactions")
    (people, remarks), (records, more) = read_each(
        lambda: read_texts(files["customers"], CUSTOMER_COLUMNS, of_people, 1, most_customers),
        lambda: read_texts(files["transactions"], TRANSACTION_COLUMNS, of_records, fewest_records, MAX_ROWS),
    )
    known = None if of_people.total else people["customer_id"].to_pandas()
    customers, transactions = read_each(
        lambda: _customers(people, of_people), lambda: _transactions(records, known, of_records)
    )
    return TransactionTables(customers, transactions), remarks + more


def text_table(
    content: bytes,
    columns: Sequence[str],
    file: str,
    fewest: int,
    most: int,
    *,
    required: Collection[str] = REQUIRED,
) -> tuple[pa.Table, list[Remark]]:
    """Every cell as text below exactly this header; those of the ``required`` columns are not empty."""
    problems = Problems(file)
    found = read_texts(content, columns, problems, fewest, most, required=required)
    problems.check()
    return found


def read_texts(
    content: bytes,
    columns: Sequence[str],
    problems: Problems,
    fewest: int,
    most: int,
    *,
    required: Collection[str] = REQUIRED,
) -> tuple[pa.Table, list[Remark]]:
    """The same; what is wrong is left among the problems, to be told with what else is wrong in cells."""
    file = problems.file
    text, remarks = decoded(content, file)
    check_header(header_of(text, file), columns, file)
    table = cells(text, columns, file, most_rows=most)
    check_rows(table, problems, fewest=fewest, most=most)
    for name, column in text_columns(table):
        check_text(column, name, problems)
        if name in required:
            empty = marks(pc.equal(column, ""))
            problems.add_rows(empty, name, "missing_value", Message("the cell is empty"), cells=column)
    return table, remarks


def _customers(table: pa.Table, problems: Problems) -> pd.DataFrame:
    columns = dict(text_columns(table))
    frame = {name: column.to_pandas() for name, column in columns.items()}
    repeated = frame["customer_id"].duplicated().to_numpy()
    above = Message("the id is already used in a row above")
    ids = columns["customer_id"]
    problems.add_rows(repeated, "customer_id", "duplicate_customer", above, cells=ids)
    no_date = Message("not a date such as 2011-01-05, and not empty")
    frame["birthday"] = _read(columns["birthday"], _date_or_nothing, "birthday", no_date, problems)
    problems.check()
    return pd.DataFrame(frame)


def _transactions(table: pa.Table, customers: pd.Series | None, problems: Problems) -> pd.DataFrame:
    """``customers``: the ids that there are, if that is known."""
    columns = dict(text_columns(table))
    frame = {name: column.to_pandas() for name, column in columns.items()}
    if customers is not None:
        unknown = ~frame["customer_id"].isin(customers).to_numpy()
        no_such = Message("this id is not in the customers table")
        ids = columns["customer_id"]
        problems.add_rows(unknown, "customer_id", "unknown_customer", no_such, cells=ids)
    no_date, no_time = Message("not a date such as 2011-01-05"), Message("not a time such as 08:45")
    frame["date"] = _read(columns["date"], iso_date, "date", no_date, problems)
    frame["time"] = _read(columns["time"], iso_time, "time", no_time, problems)
    frame["unit_price"] = prices(columns["unit_price"], "unit_price", problems)
    frame["quantity"] = quantities(columns["quantity"], problems)
    problems.check()
    return pd.DataFrame(frame)


def _read(
    cells: pa.Array, read: Callable[[str], str | None], name: str, what: Message, problems: Problems
) -> pd.Series:
    """Every cell as ``read`` spells it; a cell it does not know is a problem."""
    column: pd.Series = cells.to_pandas()
    spelled = {cell: read(cell) for cell in column.unique()}
    problems.add_rows(_unknown(column, spelled), name, f"not_a_{_kind(name)}", what, cells=cells)
    return column.map(spelled).astype(column.dtype)


def _unknown(column: pd.Series, spelled: Mapping[str, str | None]) -> NDArray[np.bool_]:
    return column.isin([cell for cell, text in spelled.items() if text is None]).to_numpy()


def _kind(name: str) -> str:
    return "time" if name == "time" else "date"


def prices(column: pa.Array, name: str, problems: Problems) -> NDArray[np.float64]:
    """Numbers of 0 or more."""
    found = numbers(column, name, problems)
    negative = Message("a price must be 0 or more")
    problems.add_rows(found < 0, name, "negative_price", negative, cells=column)
    return np.abs(found)  # -0 is 0


def quantities(column: pa.Array, problems: Problems) -> NDArray[np.int64]:
    """Whole numbers of 1 or more."""
    well_formed = marks(pc.match_substring_regex(column, WHOLE))
    well_formed &= marks(pc.less_equal(pc.binary_length(column), MAX_CELL))  # int() reads no longer ones
    listed = column.to_pylist()
    counts = [
        min(int(cell), MAX_QUANTITY + 1) if ok else 1 for cell, ok in zip(listed, well_formed, strict=True)
    ]
    found = np.array(counts, dtype=np.int64)
    wrong = ~well_formed | (found < 1)
    no_count = Message("not a positive whole number")
    problems.add_rows(wrong, "quantity", "not_a_quantity", no_count, cells=column)
    most = Message("a row may have at most {most:,} of a good", most=MAX_QUANTITY)
    problems.add_rows(found > MAX_QUANTITY, "quantity", "too_large", most, cells=column)
    return found


def iso_date(cell: str) -> str | None:
    """``2011-01-05`` for it or for ``2011/1/5``; None for what is no date.

    >>> iso_date("2011/1/5"), iso_date("2011-02-29")
    ('2011-01-05', None)
    """
    match = DATE.fullmatch(cell)
    if not match:
        return None
    try:
        return date(int(match[1]), int(match[3]), int(match[4])).isoformat()
    except ValueError:
        return None


def iso_time(cell: str) -> str | None:
    """``08:45`` for it or for ``8:45``; None for what is no time of day."""
    match = TIME.fullmatch(cell)
    return f"{int(match[1]):02}:{match[2]}" if match and int(match[1]) < 24 else None


def _date_or_nothing(cell: str) -> str | None:
    return iso_date(cell) if cell else ""
