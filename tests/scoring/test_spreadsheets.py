"""Tables of other countries' spreadsheets come out as if they had been written here; all others stay."""

import csv
import io
import random

import pytest

from anoncup.tables.profile.locale_formats import MOST_BYTES, in_commas
from anoncup.tables.profile.model import Foreign, Rewritten


def german(number: float) -> str:
    return f"{number:,.2f}".translate(str.maketrans(",.", ".,"))


def french(number: float) -> str:
    return f"{number:,.2f}".replace(",", "\u202f").replace(".", ",")


def american(number: float) -> str:
    return f"{number:,.2f}"


@pytest.mark.parametrize(
    ("separator", "said"), [(";", german), (";", french), ("\t", german), (",", american)]
)
def test_what_a_country_writes_is_the_same_number_here(separator: str, said: object) -> None:
    rng = random.Random(5)
    numbers = [1_234_567.5, -1000.0, *(round(rng.uniform(-9e6, 9e6), 2) for _ in range(200))]
    texts = [rng.choice(["", "a;b", 'a "word"', "x, y", "12.05.2023"]) for _ in numbers]
    sent = io.StringIO()
    rows = [["text", "amount"], *([t, said(n)] for t, n in zip(texts, numbers, strict=True))]  # type: ignore[operator]
    csv.writer(sent, delimiter=separator, lineterminator="\r\n").writerows(rows)
    made, foreign = in_commas(sent.getvalue().encode("utf-8-sig"), "original")
    found = list(csv.reader(io.StringIO(made.decode())))
    assert foreign is not None
    assert (foreign.separator, [one.name for one in foreign.numbers]) == (separator, ["amount"])
    assert [row[0] for row in found[1:]] == texts
    assert [float(row[1]) for row in found[1:]] == numbers


@pytest.mark.parametrize(
    "content",
    [
        b"a,b\n1,2.5\n3,4\n",
        b'a,b\n1,"1,2"\n',  # no thousands: a list, or a decimal comma where points are usual
        b'a,b\n"1,234",x\n"y",2\n',  # not only numbers
        b"a\n1\n",
        b'a;b\n1;"open\n',  # its reader says what is wrong
        b"",
    ],
)
def test_what_is_written_as_here_or_doubtful_stays_byte_by_byte(content: bytes) -> None:
    assert in_commas(content, "original") == (content, None)


def test_a_point_before_three_digits_is_read_as_the_other_columns_say() -> None:
    assert in_commas(b"a;b\n1;1.234\n2;12.500\n", "o") == (
        b"a,b\n1,1.234\n2,12.500\n",
        Foreign(";", ()),
    )
    assert in_commas(b"a;b;c\n1,5;1.234;1.5\n2;12.500;2\n", "o") == (
        b"a,b,c\n1.5,1234,1.5\n2,12500,2\n",
        Foreign(";", (Rewritten("a", "1,5", "1.5"), Rewritten("b", "1.234", "1234"))),
    )


def test_the_line_for_a_spreadsheet_only_says_what_separates() -> None:
    assert in_commas(b"sep=;\r\na;b\r\n1;x,y\r\n", "o") == (b'a,b\n1,"x,y"\n', Foreign(";", ()))


def test_a_ragged_row_stays_one() -> None:
    assert in_commas(b"a;b\n1;2;3\n4\n\n", "o")[0] == b"a,b\n1,2,3\n4\n\n"


def test_a_text_too_large_to_be_taken_apart_stays() -> None:
    content = b"a;b\n" + b"1;2\n" * (MOST_BYTES // 4)
    assert in_commas(content, "o") == (content, None)
