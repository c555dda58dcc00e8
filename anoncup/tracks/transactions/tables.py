"""Parse the two tables of the transactions track; InvalidUpload reports file, row, column and code.

Ids, goods, sex and country stay text, exactly as written. Dates become ISO texts (``2011-01-05``), times
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

from anoncup.errors import run_steps
from anoncup.geometry.arrays import IntArray
from anoncup.messages import Message
from anoncup.tables.checks import check_header, check_row_count
from anoncup.tables.csv_text import (
    Problems,
    check_text,
    convert_to_mask,
    decode_upload,
    iterate_text_columns,
    parse_numbers,
    read_cells,
    read_header,
    write_csv,
)
from anoncup.tables.files import MAX_CELL_LENGTH, MAX_ROWS, Remark
from anoncup.tables.line_numbers import add_line_numbers
from anoncup.tables.respelling import find_respelled_columns
from anoncup.tracks.transactions.files import CUSTOMER_COLUMNS, TRANSACTION_COLUMNS

_REQUIRED_COLUMNS = ("customer_id", "receipt_id", "goods")
MAX_QUANTITY = 10**12
"""Sums over the largest possible number of rows stay below 2**63."""
_DATE_PATTERN = re.compile(r"([0-9]{4})([-/])([0-9]{1,2})\2([0-9]{1,2})")
_TIME_PATTERN = re.compile(r"([0-9]{1,2}):([0-5][0-9])")


@dataclass(frozen=True, slots=True)
class TransactionTables:
    """The tables M and T, or M' and T' of a release."""

    customers: pd.DataFrame
    """A row for each individual: customer_id, sex, birthday, country. All texts; birthday is ISO or empty."""
    transactions: pd.DataFrame
    """Any number of rows for each: customer_id, receipt_id, date, time, goods, unit_price, quantity.

    Texts, except unit_price (float64) and quantity (int64). Dates are ISO.
    """


AnonymizedTransactions = tuple[TransactionTables, IntArray]
"""A release M' and T', and for each customer of M' the row of M, counted from 0."""


def parse_original(files: Mapping[str, bytes]) -> tuple[TransactionTables, list[Remark]]:
    """Parse the original M and T; ids must be unique in M, and those of T must occur in M."""
    with add_line_numbers(files):
        return _parse_tables(files, max_customers=MAX_ROWS, min_records=1)


def check_customers(files: Mapping[str, bytes]) -> None:
    """Raise InvalidUpload if M by itself is not well-formed."""
    with add_line_numbers(files):
        problems = Problems("customers")
        _parse_customers(
            read_text_table(files["customers"], CUSTOMER_COLUMNS, problems, 1, MAX_ROWS)[0], problems
        )


def parse_release(
    files: Mapping[str, bytes], original: TransactionTables
) -> tuple[TransactionTables, list[Remark]]:
    """Parse M' with 1 to n customers and T' with any number of rows.

    Remarks describe deviations from the format that were tolerated.
    """
    with add_line_numbers(files):
        tables, remarks = _parse_tables(files, max_customers=len(original.customers), min_records=0)
    remarks += find_respelled_columns(tables.customers, original.customers, ("sex", "country"))
    return tables, remarks + find_respelled_columns(tables.transactions, original.transactions, ("goods",))


def files_of(tables: TransactionTables) -> dict[str, bytes]:
    """Return the tables as CSV files that parse back to the same tables."""
    return {"customers": write_csv(tables.customers), "transactions": write_csv(tables.transactions)}


def write_canonical_files(tables: TransactionTables) -> dict[str, bytes]:
    """Return the CSV files with records sorted by customer and cells, so that their order reveals nothing."""
    records = tables.transactions
    row_by_id = pd.Series(range(len(tables.customers)), index=tables.customers["customer_id"])
    sorted_records = records.assign(customer_id=row_by_id[records["customer_id"]].to_numpy())
    sorted_records = sorted_records.sort_values(
        ["customer_id", "date", "time", *sorted_records.columns], kind="stable"
    )
    return files_of(TransactionTables(tables.customers, records.loc[sorted_records.index]))


def select_customers(tables: TransactionTables, rows: IntArray) -> TransactionTables:
    """Return the customers ``rows``, renamed p1, p2, … in this order, with all their records.

    ``rows`` must be distinct.
    """
    customers, records = tables.customers.iloc[rows].reset_index(drop=True), tables.transactions
    pseudonyms = pd.Series([f"p{row + 1}" for row in range(len(rows))], dtype=customers["customer_id"].dtype)
    pseudonym_of = dict(zip(customers["customer_id"], pseudonyms, strict=True))
    new_ids = records["customer_id"].map(pseudonym_of).astype(pseudonyms.dtype)
    selected_records = records.assign(customer_id=new_ids)[new_ids.notna()].reset_index(drop=True)
    return TransactionTables(customers.assign(customer_id=pseudonyms), selected_records)


def _parse_tables(
    files: Mapping[str, bytes], *, max_customers: int, min_records: int
) -> tuple[TransactionTables, list[Remark]]:
    customer_problems, transaction_problems = Problems("customers"), Problems("transactions")
    (customer_texts, remarks), (transaction_texts, transaction_remarks) = run_steps(
        lambda: read_text_table(files["customers"], CUSTOMER_COLUMNS, customer_problems, 1, max_customers),
        lambda: read_text_table(
            files["transactions"], TRANSACTION_COLUMNS, transaction_problems, min_records, MAX_ROWS
        ),
    )
    known_ids = None if customer_problems.total else customer_texts["customer_id"].to_pandas()
    customers, transactions = run_steps(
        lambda: _parse_customers(customer_texts, customer_problems),
        lambda: _parse_transactions(transaction_texts, known_ids, transaction_problems),
    )
    return TransactionTables(customers, transactions), remarks + transaction_remarks


def parse_text_table(
    content: bytes,
    columns: Sequence[str],
    file: str,
    min_rows: int,
    max_rows: int,
    *,
    required: Collection[str] = _REQUIRED_COLUMNS,
) -> tuple[pa.Table, list[Remark]]:
    """Parse a table of texts with exactly this header; the ``required`` columns may not have empty cells."""
    problems = Problems(file)
    result = read_text_table(content, columns, problems, min_rows, max_rows, required=required)
    problems.raise_if_any()
    return result


def read_text_table(
    content: bytes,
    columns: Sequence[str],
    problems: Problems,
    min_rows: int,
    max_rows: int,
    *,
    required: Collection[str] = _REQUIRED_COLUMNS,
) -> tuple[pa.Table, list[Remark]]:
    """Parse a table like ``parse_text_table``, but add errors in cells to ``problems``."""
    file = problems.file
    text, remarks = decode_upload(content, file)
    check_header(read_header(text, file), columns, file)
    table = read_cells(text, columns, file, max_rows=max_rows)
    check_row_count(table, problems, minimum=min_rows, maximum=max_rows)
    for name, column in iterate_text_columns(table):
        check_text(column, name, problems)
        if name in required:
            is_empty = convert_to_mask(pc.equal(column, ""))
            problems.add_rows(is_empty, name, "missing_value", Message("the cell is empty"), cells=column)
    return table, remarks


def _parse_customers(table: pa.Table, problems: Problems) -> pd.DataFrame:
    columns = dict(iterate_text_columns(table))
    frame = {name: column.to_pandas() for name, column in columns.items()}
    add_repeated_ids(columns["customer_id"], "customer_id", problems)
    date_message = Message("not a date such as 2011-01-05, and not empty")
    frame["birthday"] = _parse_column(
        columns["birthday"],
        "birthday",
        _parse_optional_date,
        problems,
        code="not_a_date",
        message=date_message,
    )
    problems.raise_if_any()
    return pd.DataFrame(frame)


def add_repeated_ids(ids: pa.Array, column: str, problems: Problems) -> None:
    """Add a problem for each id that is already used in a row above."""
    is_repeated = ids.to_pandas().duplicated().to_numpy()
    message = Message("the id is already used in a row above")
    problems.add_rows(is_repeated, column, "duplicate_customer", message, cells=ids)


def add_unknown_ids(ids: pa.Array, known_ids: pd.Series, column: str, problems: Problems) -> None:
    """Add a problem for each id that is not one of the customers'."""
    is_unknown = ~ids.to_pandas().isin(known_ids).to_numpy()
    message = Message("this id is not in the customers table")
    problems.add_rows(is_unknown, column, "unknown_customer", message, cells=ids)


def _parse_transactions(table: pa.Table, known_ids: pd.Series | None, problems: Problems) -> pd.DataFrame:
    """Parse the transactions; ``known_ids`` are the ids of the customers, if these could be parsed."""
    columns = dict(iterate_text_columns(table))
    frame = {name: column.to_pandas() for name, column in columns.items()}
    if known_ids is not None:
        add_unknown_ids(columns["customer_id"], known_ids, "customer_id", problems)
    date_message, time_message = Message("not a date such as 2011-01-05"), Message("not a time such as 08:45")
    frame["date"] = _parse_column(
        columns["date"], "date", normalize_date, problems, code="not_a_date", message=date_message
    )
    frame["time"] = _parse_column(
        columns["time"], "time", normalize_time, problems, code="not_a_time", message=time_message
    )
    frame["unit_price"] = parse_prices(columns["unit_price"], "unit_price", problems)
    frame["quantity"] = parse_quantities(columns["quantity"], problems)
    problems.raise_if_any()
    return pd.DataFrame(frame)


def _parse_column(
    cells: pa.Array,
    name: str,
    parse_cell: Callable[[str], str | None],
    problems: Problems,
    *,
    code: str,
    message: Message,
) -> pd.Series:
    """Parse every cell with ``parse_cell``; cells for which it returns None are problems."""
    column: pd.Series = cells.to_pandas()
    parsed = column.map({cell: parse_cell(cell) for cell in column.unique()})
    problems.add_rows(parsed.isna().to_numpy(), name, code, message, cells=cells)
    return parsed.astype(column.dtype)


def parse_prices(column: pa.Array, name: str, problems: Problems) -> NDArray[np.float64]:
    """Parse numbers of 0 or more."""
    values = parse_numbers(column, name, problems)
    message = Message("a price must be 0 or more")
    problems.add_rows(values < 0, name, "negative_price", message, cells=column)
    return np.abs(values)  # turns -0.0 into 0.0


def parse_quantities(column: pa.Array, problems: Problems) -> NDArray[np.int64]:
    """Parse whole numbers of 1 or more."""
    cells = column.dictionary_encode()  # most cells are among a few small numbers
    distinct_values = [_parse_quantity(cell) for cell in cells.dictionary.to_pylist()]
    values: NDArray[np.int64] = np.array(distinct_values, dtype=np.int64)[cells.indices.to_numpy()]
    message = Message("not a positive whole number")
    problems.add_rows(values < 1, "quantity", "not_a_quantity", message, cells=column)
    limit_message = Message("a row may have at most {most:,} of a good", most=MAX_QUANTITY)
    problems.add_rows(values > MAX_QUANTITY, "quantity", "too_large", limit_message, cells=column)
    return values


def _parse_quantity(cell: str) -> int:
    """Return a whole number, at most one more than ``MAX_QUANTITY``; 0 if the cell is no whole number."""
    # int() raises ValueError for very long numbers.
    is_number = cell.isascii() and cell.isdigit() and len(cell) <= MAX_CELL_LENGTH
    return min(int(cell), MAX_QUANTITY + 1) if is_number else 0


def normalize_date(cell: str) -> str | None:
    """Return a date such as ``2011/1/5`` or ``2011-01-05`` as ``2011-01-05``, and None for other texts.

    >>> normalize_date("2011/1/5"), normalize_date("2011-02-29")
    ('2011-01-05', None)
    """
    match = _DATE_PATTERN.fullmatch(cell)
    if not match:
        return None
    try:
        return date(int(match[1]), int(match[3]), int(match[4])).isoformat()
    except ValueError:
        return None


def normalize_time(cell: str) -> str | None:
    """Return a time such as ``8:45`` or ``08:45`` as ``08:45``, and None for other texts."""
    match = _TIME_PATTERN.fullmatch(cell)
    return f"{int(match[1]):02}:{match[2]}" if match and int(match[1]) < 24 else None


def _parse_optional_date(cell: str) -> str | None:
    return normalize_date(cell) if cell else ""
