"""Problems of a file have the line number of an editor and the text of the cell."""

import pytest

from anoncup.errors import MAX_VALUE_LENGTH, InvalidUpload
from anoncup.tables.line_numbers import find_lines
from anoncup.tracks.transactions import tables
from tests.support.table_files import expect_refusal

CUSTOMERS = b"customer_id,sex,birthday,country\nc1,f,,Japan\n"
TRANSACTIONS = b"customer_id,receipt_id,date,time,goods,unit_price,quantity\n"


def list_located_problems(error: InvalidUpload) -> list[tuple[str, int | None, int | None, str | None]]:
    return [(problem.file, problem.row, problem.line, problem.value) for problem in error.problems]


@pytest.mark.parametrize(
    ("content", "row", "line"),
    [
        (b"q,s\na,1\nb,2\n", 2, 3),
        (b"q,s\r\na,1\r\nb,2\r\n", 2, 3),
        (b"q,s\ra,1\rb,2\r", 2, 3),
        (b'q,s\n"a\nb\r\nc",1\nb,2\n', 1, 2),
        (b'q,s\n"a\nb\r\nc",1\nb,2\n', 2, 5),
        (b'q,s\n"a ""\n"" b",1\nb,2\n', 2, 4),
        (b'q,s\n\n"a",1\nb,2\n', 3, 4),
        ('"\u8868",s\n"\u30bd\n",1\nb,2\n'.encode("cp932"), 2, 4),
        (b'q,s\n"never closed\nb,2\n', 1, 2),
        (b'q,s\n"never closed\nb,2\n', 9, None),
    ],
)
def test_rows_are_mapped_to_editor_line_numbers(content: bytes, row: int, line: int | None) -> None:
    assert find_lines([row], content).get(row) == line


def test_invalid_cell_is_reported_with_line_and_text() -> None:
    assert list_located_problems(expect_refusal(b'q,s\na,1\nb,"x"\nc,2\n')) == [("original", 2, 3, "x")]
    assert list_located_problems(expect_refusal(b"q,s\na,\n")) == [("original", 1, 2, "")]
    assert list_located_problems(expect_refusal(b'q,s\n"a\nb",1\nc,1\nd,2,3\n')) == [("original", 3, 5, None)]
    (long_cell,) = list_located_problems(expect_refusal(b"q,s\n" + b"a" * 2000 + b",1\n"))
    assert long_cell[2:] == (2, "a" * MAX_VALUE_LENGTH)
    assert list_located_problems(expect_refusal(b'q,s\n"a\nb",1\n')) == [("original", 1, 2, "a\nb")]


def test_problems_in_transactions_files_have_line_and_text() -> None:
    row = b'c9,r,2011-01-05,8:60,"tea\ncups",-1,0.5\n'
    with pytest.raises(InvalidUpload) as excinfo:
        tables.parse_original({"customers": CUSTOMERS, "transactions": TRANSACTIONS + row})
    assert list_located_problems(excinfo.value) == [
        ("transactions", 1, 2, value) for value in ("tea\ncups", "c9", "8:60", "-1", "0.5")
    ]
