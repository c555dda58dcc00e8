"""Tables from spreadsheets in foreign formats are converted; all other files stay unchanged."""

import csv
import io
import random

import pytest

from anoncup.tables.profile.locale_formats import MAX_BYTES, convert_locale_format
from anoncup.tables.profile.model import LocaleFormat, RewrittenColumn


def format_german(number: float) -> str:
    return f"{number:,.2f}".translate(str.maketrans(",.", ".,"))


def format_french(number: float) -> str:
    return f"{number:,.2f}".replace(",", "\u202f").replace(".", ",")


def format_american(number: float) -> str:
    return f"{number:,.2f}"


@pytest.mark.parametrize(
    ("separator", "format_number"),
    [(";", format_german), (";", format_french), ("\t", format_german), (",", format_american)],
)
def test_numbers_in_foreign_formats_are_converted(separator: str, format_number: object) -> None:
    rng = random.Random(5)
    numbers = [1_234_567.5, -1000.0, *(round(rng.uniform(-9e6, 9e6), 2) for _ in range(200))]
    texts = [rng.choice(["", "a;b", 'a "word"', "x, y", "12.05.2023"]) for _ in numbers]
    csv_buffer = io.StringIO()
    rows = [
        ["text", "amount"],
        *(
            [text, format_number(number)]  # type: ignore[operator]
            for text, number in zip(texts, numbers, strict=True)
        ),
    ]
    csv.writer(csv_buffer, delimiter=separator, lineterminator="\r\n").writerows(rows)
    content, locale_format = convert_locale_format(csv_buffer.getvalue().encode("utf-8-sig"), "original")
    parsed_rows = list(csv.reader(io.StringIO(content.decode())))
    assert locale_format is not None
    assert (locale_format.separator, [column.name for column in locale_format.numbers]) == (
        separator,
        ["amount"],
    )
    assert [row[0] for row in parsed_rows[1:]] == texts
    assert [float(row[1]) for row in parsed_rows[1:]] == numbers


@pytest.mark.parametrize(
    "content",
    [
        b"a,b\n1,2.5\n3,4\n",
        b'a,b\n1,"1,2"\n',  # no thousands separator: a list, or a decimal comma where points are usual
        b'a,b\n"1,234",x\n"y",2\n',  # a column with texts and numbers
        b"a\n1\n",
        b'a;b\n1;"open\n',  # left to the parser, which reports the problem
        b"",
    ],
)
def test_plain_and_ambiguous_files_stay_unchanged(content: bytes) -> None:
    assert convert_locale_format(content, "original") == (content, None)


def test_ambiguous_points_are_read_as_in_other_columns() -> None:
    assert convert_locale_format(b"a;b\n1;1.234\n2;12.500\n", "o") == (
        b"a,b\n1,1.234\n2,12.500\n",
        LocaleFormat(";", ()),
    )
    assert convert_locale_format(b"a;b;c\n1,5;1.234;1.5\n2;12.500;2\n", "o") == (
        b"a,b,c\n1.5,1234,1.5\n2,12500,2\n",
        LocaleFormat(";", (RewrittenColumn("a", "1,5", "1.5"), RewrittenColumn("b", "1.234", "1234"))),
    )


def test_separator_line_of_a_spreadsheet_is_removed() -> None:
    assert convert_locale_format(b"sep=;\r\na;b\r\n1;x,y\r\n", "o") == (
        b'a,b\n1,"x,y"\n',
        LocaleFormat(";", ()),
    )


def test_ragged_rows_are_kept() -> None:
    assert convert_locale_format(b"a;b\n1;2;3\n4\n\n", "o")[0] == b"a,b\n1,2,3\n4\n\n"


def test_too_large_files_stay_unchanged() -> None:
    content = b"a;b\n" + b"1;2\n" * (MAX_BYTES // 4)
    assert convert_locale_format(content, "o") == (content, None)
