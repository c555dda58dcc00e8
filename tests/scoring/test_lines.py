"""What is wrong in a file is told with the line on which an editor finds it, and with what stands there."""

import pytest

from anoncup.errors import LISTED, LONGEST_VALUE, InvalidUpload, Problem
from anoncup.messages import Message
from anoncup.tables.line_numbers import lines_of, located
from anoncup.tracks.linkage.permutation import guess_from_file, source_from_secret
from anoncup.tracks.transactions import tables
from tests.scoring.table_files import refusal
from tests.support.step_counter import steps_of

CUSTOMERS = b"customer_id,sex,birthday,country\nc1,f,,Japan\n"
TRANSACTIONS = b"customer_id,receipt_id,date,time,goods,unit_price,quantity\n"


def told(problem: InvalidUpload) -> list[tuple[str, int | None, int | None, str | None]]:
    return [(each.file, each.row, each.line, each.value) for each in problem.problems]


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
def test_a_row_begins_where_an_editor_counts(content: bytes, row: int, line: int | None) -> None:
    assert lines_of([row], content).get(row) == line


def test_the_file_is_read_once_for_all_that_is_wrong_in_it() -> None:
    content = b"q,s\n" + b'"a\nb",1\n' * 3000

    def refuse(rows: int) -> None:
        problems = [Problem("t", 3000 - place, None, "code", Message("m")) for place in range(rows)]
        with pytest.raises(InvalidUpload) as caught, located({"t": content}):
            raise InvalidUpload(problems)
        assert [each.line for each in caught.value.problems] == [6000 - 2 * place for place in range(rows)]

    assert steps_of(lambda: refuse(LISTED)) < 2 * steps_of(lambda: refuse(1))


def test_a_cell_is_refused_with_its_line_and_its_text() -> None:
    assert told(refusal(b'q,s\na,1\nb,"x"\nc,2\n')) == [("original", 2, 3, "x")]
    assert told(refusal(b"q,s\na,\n")) == [("original", 1, 2, "")]
    assert told(refusal(b'q,s\n"a\nb",1\nc,1\nd,2,3\n')) == [("original", 3, 5, None)]
    assert told(refusal(b"q,s\n" + b"a" * 2000 + b",1\n"))[0][2:] == (2, "a" * LONGEST_VALUE)
    assert told(refusal(b'q,s\n"a\nb",1\n')) == [("original", 1, 2, "a\nb")]


def test_a_header_and_a_foreign_character_have_their_line() -> None:
    assert told(refusal(b"q,t\na,1\n"))[0][1:3] == (None, 1)
    assert told(refusal(b"q,s\na,1\r\n\xff\xff,1\n"))[0][1:3] == (2, 3)


def test_both_tables_of_transactions_say_lines_and_texts() -> None:
    with pytest.raises(InvalidUpload) as caught:
        tables.check_customers({"customers": CUSTOMERS + b'"c1",f,,Japan\nc2,f,May,Japan\n'})
    assert told(caught.value) == [("customers", 2, 3, "c1"), ("customers", 3, 4, "May")]
    bad = b'c9,r,2011-01-05,8:60,"tea\ncups",1,1\n'
    with pytest.raises(InvalidUpload) as caught:
        tables.parse_original({"customers": CUSTOMERS, "transactions": TRANSACTIONS + bad})
    assert told(caught.value) == [("transactions", 1, 2, value) for value in ("tea\ncups", "c9", "8:60")]
    row = b"c1,r,2011-01-05,8:%d,tea,%s,%s\n"
    rows = TRANSACTIONS + b"\n".join([(row % (10, b"1", b"1"))[:-1], row % (60, b"-1", b"0.5")])
    with pytest.raises(InvalidUpload) as caught:
        tables.parse_original({"customers": CUSTOMERS, "transactions": rows})
    assert told(caught.value) == [("transactions", 2, 3, value) for value in ("8:60", "-1", "0.5")]


@pytest.mark.parametrize(
    "content", [b"original_row\n2\n7\n", b"original_row\n2\nseven\n", b"original_row\n2\n2\n"]
)
def test_a_secret_is_never_repeated_but_has_its_line(content: bytes) -> None:
    with pytest.raises(InvalidUpload) as caught:
        source_from_secret(content, originals=2, anonymized=2)
    assert told(caught.value) == [("secret", 2, 3, None)]
    assert "7" not in str(caught.value.problems)
    assert "seven" not in str(caught.value.problems)


@pytest.mark.parametrize(
    ("text", "value"), [(b"7", "7"), (b" 1.5 ", "1.5"), (b"9" * 200, "9" * LONGEST_VALUE)]
)
def test_a_guess_is_refused_with_its_line_and_its_text(text: bytes, value: str) -> None:
    with pytest.raises(InvalidUpload) as caught:
        guess_from_file(b"original_row\n2\n" + text + b"\n", originals=2, anonymized=2)
    assert told(caught.value) == [("guess", 2, 3, value)]
    assert isinstance(caught.value.problems[0], Problem)
