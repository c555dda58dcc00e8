"""Reading and writing the files of the transactions track, and refusing malformed ones."""

import pandas as pd
import pytest
from hypothesis import given

from anoncup.errors import InvalidUpload
from anoncup.tables.files import MAX_CELL_LENGTH, Remark
from anoncup.tracks.transactions.files import TRANSACTION_COLUMNS
from anoncup.tracks.transactions.release import TransactionOriginal
from anoncup.tracks.transactions.tables import (
    MAX_QUANTITY,
    TransactionTables,
    files_of,
    parse_original,
    parse_release,
)
from tests.support.hypothesis_profiles import limit_examples
from tests.support.table_files import NOT_NUMBERS, quote
from tests.support.transactions_cases import TransactionCase, build_tables, cases

hostile_examples = limit_examples(60)

Location = tuple[str, int | None, str | None, str]
CUSTOMER_HEADER = b"customer_id,sex,birthday,country\n"
TRANSACTION_HEADER = b"customer_id,receipt_id,date,time,goods,unit_price,quantity\n"
TWO_CUSTOMERS = CUSTOMER_HEADER + b"c1,f,1980-01-01,France\nc2,,,\n"
ONE_RECORD = TRANSACTION_HEADER + b"c1,r1,2011-01-05,08:45,A,2.5,3\n"
VALID_RECORD = ("c1", "r1", "2011-01-05", "08:45", "A", "2.5", "3")


def build_record(**cells: str) -> bytes:
    """Return the line of a valid record with some cells replaced."""
    texts = dict(zip(TRANSACTION_COLUMNS, VALID_RECORD, strict=True)) | cells
    return (",".join(quote(text, always=False) for text in texts.values()) + "\n").encode()


def parse_files(
    customers: bytes = TWO_CUSTOMERS, transactions: bytes = ONE_RECORD
) -> tuple[TransactionTables, list[Remark]]:
    return parse_original({"customers": customers, "transactions": transactions})


def parse_as_release(
    customers: bytes = TWO_CUSTOMERS,
    transactions: bytes = ONE_RECORD,
    *,
    original: TransactionTables | None = None,
) -> tuple[TransactionTables, list[Remark]]:
    files = {"customers": customers, "transactions": transactions}
    return parse_release(files, parse_files()[0] if original is None else original)


def expect_refusal(customers: bytes = TWO_CUSTOMERS, transactions: bytes = ONE_RECORD) -> InvalidUpload:
    """Return the error of an original after checking that the same files fail alike as a release."""
    with pytest.raises(InvalidUpload) as excinfo:
        parse_files(customers, transactions)
    with pytest.raises(InvalidUpload) as release_excinfo:
        parse_as_release(customers, transactions, original=parse_files(TWO_CUSTOMERS + b"c3,,,\n")[0])
    assert list_locations(release_excinfo.value) == list_locations(excinfo.value)
    assert release_excinfo.value.total == excinfo.value.total
    return excinfo.value


def list_locations(error: InvalidUpload) -> list[Location]:
    assert all(problem.message for problem in error.problems)
    return [(problem.file, problem.row, problem.column, problem.code) for problem in error.problems]


def list_rows(table: pd.DataFrame) -> list[list[object]]:
    return [list(row) for row in zip(*(table[name].tolist() for name in table.columns), strict=True)]


# Round trips.


def check_same_tables(parsed: TransactionTables, expected: TransactionTables) -> None:
    pairs = [(parsed.customers, expected.customers), (parsed.transactions, expected.transactions)]
    for table, expected_table in pairs:
        assert list(table.columns) == list(expected_table.columns)
        assert list_rows(table) == list_rows(expected_table)


@hostile_examples
@given(case=cases())
def test_tables_round_trip(case: TransactionCase) -> None:
    original, release = build_tables(case.original), build_tables(case.released)
    parsed, remarks = parse_original(files_of(original))
    assert remarks == []
    check_same_tables(parsed, original)
    check_same_tables(parse_release(files_of(release), parsed)[0], release)


def test_original_does_not_see_later_changes_of_its_tables() -> None:
    tables, _ = parse_files()
    original = TransactionOriginal(tables)
    tables.transactions.loc[0, "unit_price"] = 9.0
    tables.customers.loc[0, "country"] = "Japan"
    assert original.history.price.tolist() == [2.5]
    assert original.tables.customers["country"].tolist() == ["France", ""]


@pytest.mark.parametrize(
    ("column", "cell", "expected"),
    [
        ("date", "2011/1/5", "2011-01-05"),
        ("date", "2011-1-5", "2011-01-05"),
        ("date", "2011/01/05", "2011-01-05"),
        ("date", "2012-02-29", "2012-02-29"),
        ("date", "0001-01-01", "0001-01-01"),
        ("date", "9999/12/31", "9999-12-31"),
        ("time", "8:45", "08:45"),
        ("time", "0:00", "00:00"),
        ("time", "23:59", "23:59"),
        ("unit_price", "0", 0.0),
        ("unit_price", "0e-400", 0.0),
        ("unit_price", "1e-30", 1e-30),
        ("unit_price", "1e30", 1e30),
        ("unit_price", "+.5", 0.5),
        ("quantity", "1", 1),
        ("quantity", "007", 7),
        ("quantity", str(MAX_QUANTITY), 10**12),
        ("unit_price", "-0.0", 0.0),
    ],
)
def test_cell_is_normalized(column: str, cell: str, expected: object) -> None:
    body = TRANSACTION_HEADER + build_record(**{column: cell})
    for parsed, _ in (parse_files(transactions=body), parse_as_release(transactions=body)):
        assert repr(parsed.transactions[column].tolist()) == repr([expected])


@pytest.mark.parametrize(("cell", "expected"), [("", ""), ("1980/2/9", "1980-02-09")])
def test_birthday_is_a_date_or_empty(cell: str, expected: str) -> None:
    assert parse_files(CUSTOMER_HEADER + f"c1,f,{cell},\n".encode())[0].customers["birthday"].tolist() == [
        expected
    ]


# Releases.


def test_release_may_not_have_more_customers() -> None:
    assert len(parse_as_release(CUSTOMER_HEADER + b"c1,f,,\n")[0].customers) == 1
    with pytest.raises(InvalidUpload) as excinfo:
        parse_as_release(TWO_CUSTOMERS + b"c3,f,,\n")
    assert list_locations(excinfo.value) == [("customers", None, None, "too_many_rows")]


def test_release_may_have_more_transactions_and_new_ids() -> None:
    body = TRANSACTION_HEADER + build_record(customer_id="p1", receipt_id="new", goods="unheard of") * 5
    assert len(parse_as_release(CUSTOMER_HEADER + b"p1,f,,\n", body)[0].transactions) == 5


def test_respelled_cells_are_accepted_with_a_remark_for_each_column() -> None:
    original, _ = parse_files(CUSTOMER_HEADER + b"c1,1,,2\n", TRANSACTION_HEADER + build_record(goods="1"))
    for customers, goods, expected in (
        (b"c1,1.0,,2e0\n", "01", ["sex", "country", "goods"]),
        (b"c1,3,,\n", "4", []),
    ):
        records = TRANSACTION_HEADER + build_record(goods=goods)
        _, remarks = parse_as_release(CUSTOMER_HEADER + customers, records, original=original)
        assert [str(remark.message).split(":")[0] for remark in remarks] == expected


# Refusals name file, row, column and code.


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"c1,,,\nc1,,,\nc1,,,\n", [(row, "customer_id", "duplicate_customer") for row in (2, 3)]),
        (b"c1,f,,\n,f,,\n", [(2, "customer_id", "missing_value")]),
        (b"c1,f,1980-02-30,\n", [(1, "birthday", "not_a_date")]),
        (b"c1,f,,\nc2,f,unknown,\n", [(2, "birthday", "not_a_date")]),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_invalid_customers_are_refused_with_row_column_and_code(
    body: bytes, expected: list[tuple[int | None, str | None, str]]
) -> None:
    error = expect_refusal(CUSTOMER_HEADER + body)
    assert list_locations(error) == [("customers", *location) for location in expected]
    assert error.total == len(expected)


def test_problems_of_both_tables_are_reported_together() -> None:
    header_error = expect_refusal(
        b"id,sex,birthday,country\n", TRANSACTION_HEADER.replace(b"unit_price", b"price")
    )
    assert [location[0] for location in list_locations(header_error)] == ["customers", "transactions"]
    cell_error = expect_refusal(
        CUSTOMER_HEADER + b"c1,f,soon,\n", TRANSACTION_HEADER + build_record(date="soon")
    )
    assert list_locations(cell_error) == [
        ("customers", 1, "birthday", "not_a_date"),
        ("transactions", 1, "date", "not_a_date"),
    ]


INVALID_DATES = [
    "", "2011-02-30", "2011-02-29", "2011/1-5", "2011-1/5", "2011-13-01", "2011-00-10", "2011-01-00",
    "11-01-05", "0000-01-01", "20110105", "5/1/2011", "2011-01-05 ", "2011-01-05T00:00", "2011.1.5",
    "２０１１-01-05", "NaT",
]  # fmt: skip
INVALID_TIMES = ["", "24:00", "8:5", "08:60", "8", "08:45:00", "8:45 ", "-1:00", "0845", "008:45", "８:45"]
INVALID_QUANTITIES = ["", "0", "00", "-1", "+1", "1.5", "1.0", "1e3", " 1", "1_000", "１", "٣", "NaN", "0x1"]


@pytest.mark.parametrize(
    ("column", "cell", "code"),
    [
        *[("date", cell, "not_a_date") for cell in INVALID_DATES],
        *[("time", cell, "not_a_time") for cell in INVALID_TIMES],
        *[("quantity", cell, "not_a_quantity") for cell in INVALID_QUANTITIES],
        *[("quantity", str(cell), "too_large") for cell in (10**12 + 1, 10**13, 2**64 + 1, 10**500)],
        *[("unit_price", cell, "not_a_number") for cell in NOT_NUMBERS],
        ("unit_price", "", "missing_value"),
        ("unit_price", "-0.01", "negative_price"),
        ("unit_price", "-1e-30", "negative_price"),
        *[("unit_price", cell, "out_of_range") for cell in ("1e400", "1.1e30", "9e-31", "1e-400")],
        ("customer_id", "c3", "unknown_customer"),
        ("customer_id", "C1", "unknown_customer"),
        ("customer_id", "c1 ", "unknown_customer"),
        ("customer_id", "", "missing_value"),
        ("receipt_id", "", "missing_value"),
        ("goods", "", "missing_value"),
        ("quantity", "1" * (MAX_CELL_LENGTH + 1), "cell_too_long"),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_invalid_cell_is_refused_with_row_column_and_code(column: str, cell: str, code: str) -> None:
    error = expect_refusal(
        transactions=TRANSACTION_HEADER + build_record() + build_record(**{column: cell}) + build_record()
    )
    assert list_locations(error) == [("transactions", 2, column, code)]
    assert error.total == 1
