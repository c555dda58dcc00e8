"""The tables of all tracks are read alike, and refused alike with file, row, column, line and code."""

import csv
import io
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anoncup.competition.parser import parse_competition
from anoncup.competition.templates import template
from anoncup.errors import MAX_LISTED_PROBLEMS, InvalidUpload
from anoncup.rules.settings import Columns
from anoncup.tables.csv_text import decode_upload, write_csv
from anoncup.tables.files import MAX_CELL_LENGTH
from anoncup.tracks.membership.settings import CategoricalColumn, NumericColumn, TableSchema
from anoncup.tracks.membership.tables import parse_candidates, parse_rows, write_table
from anoncup.tracks.microdata import tables as microdata
from anoncup.tracks.monthly import MONTHLY
from anoncup.tracks.monthly.answer import read_answer, read_guess
from anoncup.tracks.monthly.knowledge import parse_knowledge
from anoncup.tracks.monthly.original import parse_original as parse_monthly_original
from anoncup.tracks.monthly.release import parse_release as parse_monthly_release
from anoncup.tracks.transactions import tables as transactions
from tests.support.hypothesis_profiles import limit_examples
from tests.support.table_files import check_problem_list

CELL_CODES = ("control_character", "invisible_character", "cell_too_long")
COLUMNS = Columns(("sex", "age"), ("income",))
TABLE = b"sex,age,income\nf,20,1\nm,30,2\nf,,3\nm,40,4\n"
MASTERS = b"customer_id,sex,birthday,country\nc1,f,,France\nc2,m,,\nc3,,,\nc4,,,\n"
RECORDS = b"customer_id,receipt_id,date,time,goods,unit_price,quantity\n" + b"".join(
    b"c%d,r,2011-01-05,08:45,A,2.5,3\n" % number for number in range(1, 5)
)
CUSTOMERS = b"customer,sex,birth,country\nc1,f,,France\nc2,m,,\nc3,,,\nc4,,,\n"
PURCHASES = b"customer,invoice,date,time,good,price,quantity\n" + b"".join(
    b"c%d,i,2011-01-05,8:45,A1,2.5,3\n" % number for number in range(1, 5)
)
PSEUDONYMS = b"customer,2011-01\nc1,p1\nc2,p2\nc3,p3\nc4,p4\n"
SCHEMA = TableSchema((CategoricalColumn("sex", ("f", "m")), NumericColumn("age", 0, 120)))
CANDIDATES = b"sex,age\nf,20\nm,30\nf,40\nm,50\n"

MICRODATA_ORIGINAL = microdata.parse_original(TABLE, COLUMNS)[0]
TRANSACTIONS_ORIGINAL = transactions.parse_original({"customers": MASTERS, "transactions": RECORDS})[0]
MONTHLY_ORIGINAL = parse_monthly_original({"customers": CUSTOMERS, "transactions": PURCHASES})[0]
MONTHLY_RELEASE = parse_monthly_release(PURCHASES.replace(b"\nc", b"\np"), MONTHLY_ORIGINAL)[0]
MONTHLY_CONTEXT = MONTHLY.build_context(parse_competition(template(2017)), MONTHLY_ORIGINAL, MONTHLY_RELEASE)


@dataclass(frozen=True)
class TableFile:
    """A file of a track: its name in problems, a valid example of four rows, and a function that reads it."""

    name: str
    content: bytes
    read: Callable[[bytes, str], object]

    def parse(self, content: bytes) -> object:
        return self.read(content, self.name)

    @property
    def first_column(self) -> str:
        return self.content.partition(b",")[0].decode()

    def expect_problems(self, content: bytes) -> InvalidUpload:
        with pytest.raises(InvalidUpload) as excinfo:
            self.parse(content)
        assert {problem.file for problem in excinfo.value.problems} == {self.name}
        return excinfo.value


def read_transactions(content: bytes, file: str) -> object:
    files = {"customers": MASTERS, "transactions": RECORDS, file: content}
    return transactions.files_of(transactions.parse_original(files)[0])


def read_transactions_release(content: bytes, file: str) -> object:
    files = {"customers": MASTERS, "transactions": RECORDS, file: content}
    return transactions.files_of(transactions.parse_release(files, TRANSACTIONS_ORIGINAL)[0])


def read_monthly(content: bytes, file: str) -> object:
    original, _ = parse_monthly_original({"customers": CUSTOMERS, "transactions": PURCHASES, file: content})
    return original.customers.to_csv(), original.records.cells.to_csv()


def read_monthly_release(content: bytes, _: str) -> object:
    return parse_monthly_release(content, MONTHLY_ORIGINAL)[0].records.cells.to_csv()


def read_microdata(content: bytes, file: str) -> object:
    return write_csv(microdata.parse_original(content, COLUMNS, file=file)[0])


def read_microdata_release(content: bytes, file: str) -> object:
    return write_csv(microdata.parse_release(content, MICRODATA_ORIGINAL, COLUMNS, file=file)[0])


TABLE_FILES = {
    "microdata": TableFile("original", TABLE, read_microdata),
    "microdata release": TableFile("anonymized", TABLE, read_microdata_release),
    "customers": TableFile("customers", MASTERS, read_transactions),
    "transactions": TableFile("transactions", RECORDS, read_transactions),
    "released customers": TableFile("customers", MASTERS, read_transactions_release),
    "released transactions": TableFile("transactions", RECORDS, read_transactions_release),
    "monthly customers": TableFile("customers", CUSTOMERS, read_monthly),
    "purchases": TableFile("transactions", PURCHASES, read_monthly),
    "monthly release": TableFile("transactions", PURCHASES.replace(b"\nc", b"\np"), read_monthly_release),
    "knowledge": TableFile(
        "knowledge_100",
        PURCHASES,
        lambda content, file: parse_knowledge(content, MONTHLY_ORIGINAL, file)[0].tolist(),
    ),
    "pseudonyms": TableFile(
        "secret",
        PSEUDONYMS,
        lambda content, _: read_answer(content, MONTHLY_CONTEXT).pseudonyms.tolist(),
    ),
    "guessed pseudonyms": TableFile(
        "guess", PSEUDONYMS, lambda content, _: read_guess(content, MONTHLY_CONTEXT).pseudonyms.tolist()
    ),
    "members": TableFile(
        "candidates", CANDIDATES, lambda content, _: write_table(parse_candidates(content, SCHEMA)[0])
    ),
    "membership release": TableFile(
        "released",
        CANDIDATES,
        lambda content, file: write_table(parse_rows(content, SCHEMA, file=file, max_rows=4)[0]),
    ),
}
each_file = pytest.mark.parametrize("file", TABLE_FILES.values(), ids=TABLE_FILES)

SPELLINGS: dict[str, Callable[[bytes], bytes]] = {
    "\\n": lambda content: content,
    "\\r\\n": lambda content: content.replace(b"\n", b"\r\n"),
    "\\r": lambda content: content.replace(b"\n", b"\r"),
    "byte order mark": lambda content: b"\xef\xbb\xbf" + content,
    "last line without end": lambda content: content.rstrip(b"\n"),
}
"""Ways to write the same file."""


@pytest.mark.parametrize("spell", SPELLINGS.values(), ids=SPELLINGS)
@each_file
def test_byte_order_marks_line_ends_and_quotes_change_nothing(
    file: TableFile, spell: Callable[[bytes], bytes]
) -> None:
    quoted = b"".join(
        b",".join(b'"%b"' % cell for cell in line.split(b",")) + b"\n" for line in file.content.splitlines()
    )
    for content in (file.content, quoted, file.content + b"\n\n"):
        assert file.parse(spell(content)) == file.parse(file.content)


WRONG_HEADERS: dict[str, tuple[Callable[[list[bytes]], list[bytes]], list[int | None]]] = {
    "one column less": (lambda names: names[:-1], [None]),
    "one column more": (lambda names: [*names, b"more"], [None]),
    "other letter case": (lambda names: [names[0].title(), *names[1:]], [0]),
    "repeated column": (lambda names: [names[0], names[0], *names[2:]], [1]),
    "other order": (lambda names: [names[1], names[0], *names[2:]], [0, 1]),
    "none": (lambda names: [b"1" for _ in names], [None]),
    "space": (lambda names: [b" " + names[0], *names[1:]], [0]),
}
"""Changes of a header, and the places of the columns that the problems name, or None for the whole line."""


@pytest.mark.parametrize(("change", "places"), WRONG_HEADERS.values(), ids=WRONG_HEADERS)
@each_file
def test_other_header_is_refused_with_its_line_and_columns(
    file: TableFile, change: Callable[[list[bytes]], list[bytes]], places: list[int | None]
) -> None:
    header, rows = file.content.split(b"\n", 1)
    names = header.split(b",")
    problems = file.expect_problems(b",".join(change(names)) + b"\n" + rows).problems
    assert {(problem.row, problem.line) for problem in problems} == {(None, 1)}
    assert {problem.code for problem in problems} <= {"header", "column_without_role", "columns_order"}
    if file is not TABLE_FILES["microdata"]:  # its columns are named by their roles: test_tables of microdata
        hides_names = file.name == "secret"
        assert [problem.column for problem in problems] == [
            None if place is None or hides_names else names[place].decode() for place in places
        ]


@pytest.mark.parametrize("content", [b"", b"\n", b"\xef\xbb\xbf", b"\n%b"])
@each_file
def test_file_without_header_is_refused(file: TableFile, content: bytes) -> None:
    error = file.expect_problems(content.replace(b"%b", file.content))
    assert [(problem.line, problem.code) for problem in error.problems] == [(1, "no_header")]


@each_file
def test_file_without_rows_is_refused(file: TableFile) -> None:
    header = file.content.split(b"\n", 1)[0]
    if file is TABLE_FILES["released transactions"]:
        assert file.parse(header) == file.parse(header + b"\n\n")
        return
    for content in (header, header + b"\n\n"):
        assert [problem.code for problem in file.expect_problems(content).problems] == ["no_rows"]


ROW_DAMAGES = {
    "cell less": (b"FIRST", "ragged_row"),
    "cell more": (b"FIRST,OTHERS,", "ragged_row"),
    "blank line": (b"\nFIRST,OTHERS", "blank_line"),
    "open quote": (b'"FIRST,OTHERS', "unclosed_quote"),
    "text after a quote": (b'"FIRST"x,OTHERS', "text_after_quote"),
    "not UTF-8": (b"FIRST\xff,OTHERS", "encoding"),
    "null byte": (b"FIRST\x00,OTHERS", "control_character"),
    "line break": (b'"FIRST\n",OTHERS', "control_character"),
    "invisible character": (b"\xef\xbb\xbfFIRST,OTHERS", "invisible_character"),
    "long cell": (b"x" * (MAX_CELL_LENGTH + 1) + b",OTHERS", "cell_too_long"),
}
"""Damaged rows, written with their first cell and the others, and the code of the problem."""


@pytest.mark.parametrize("spell", SPELLINGS.values(), ids=SPELLINGS)
@pytest.mark.parametrize(("damaged_row", "code"), ROW_DAMAGES.values(), ids=ROW_DAMAGES)
@each_file
def test_damaged_row_is_refused_with_row_line_column_and_code(
    file: TableFile, damaged_row: bytes, code: str, spell: Callable[[bytes], bytes]
) -> None:
    lines = file.content.splitlines()
    first_cell, _, other_cells = lines[2].partition(b",")
    lines[2] = damaged_row.replace(b"FIRST", first_cell).replace(b"OTHERS", other_cells)
    error = file.expect_problems(spell(b"\n".join([*lines, b""])))
    (problem,) = error.problems
    column = file.first_column if code in CELL_CODES else None
    assert (problem.row, problem.line, problem.column, problem.code) == (2, 3, column, code)
    assert error.total == 1
    is_secret = file.name == "secret" or file is TABLE_FILES["monthly release"]
    assert (problem.value is not None) == (column is not None and not is_secret)


@each_file
def test_twenty_problems_are_listed_in_order_and_all_are_counted(file: TableFile) -> None:
    header = file.content.split(b"\n", 1)[0]
    error = file.expect_problems(header + b"\nx" * 30)
    assert [problem.row for problem in error.problems] == list(range(1, MAX_LISTED_PROBLEMS + 1))
    assert error.total == 30


def quote_cells(content: bytes) -> bytes:
    """Return the cells that Python's csv module reads, each in quotes."""
    text, _ = decode_upload(content, "file")
    rows = csv.reader(io.StringIO(text.decode().rstrip("\r\n"), newline=""), strict=True)
    quoted = io.StringIO(newline="")
    csv.writer(quoted, quoting=csv.QUOTE_ALL).writerows(rows)
    return quoted.getvalue().encode()


pieces = st.sampled_from([b'"', b",", b"\n", b"\r", b"\x00", b"\xff", b"\x81", b"-", b"0", b"c1", b"/", b""])


@each_file
@limit_examples(200)
@given(
    cuts=st.lists(st.tuples(st.floats(0, 1), st.integers(0, 2), pieces), max_size=4),
    tail=st.binary(max_size=40),
)
def test_damaged_files_are_refused_or_read_like_the_csv_module(
    file: TableFile, cuts: list[tuple[float, int, bytes]], tail: bytes
) -> None:
    content = file.content
    for share, length, piece in cuts:
        start = int(share * len(content))
        content = content[:start] + piece + content[start + length :]
    try:
        parsed = file.parse(content + tail)
    except InvalidUpload as error:
        check_problem_list(error)
    else:
        assert parsed == file.parse(quote_cells(content + tail))
