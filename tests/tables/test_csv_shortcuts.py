"""The shortcuts of the table reader give the same result as reading cell by cell and line by line."""

import re
import string
from itertools import product

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from anoncup.errors import FileProblem, InvalidUpload
from anoncup.rules.settings import Columns
from anoncup.tables import csv_text
from anoncup.tables.csv_text import Problems, check_text
from anoncup.tables.files import MAX_CELL_LENGTH
from anoncup.tracks.microdata.tables import parse_original
from tests.support.table_files import (
    HEADER,
    NOT_NUMBERS,
    NUMBER_SPELLINGS,
    NUMBERS_OUT_OF_RANGE,
    ONE_COLUMN,
    SMALL_COLUMNS,
    build_original,
    expect_refusal,
    hostile_examples,
    list_problems,
    number_spellings,
)

pytestmark = pytest.mark.full

NUMBER_CHARACTERS = "01+-.eE"
HOSTILE_PIECES = [*'\n\r,"\x00\t\x7f\ufeff日a1', "\r\n", "\n\n", '""', "1,2\n", "a,1\r\n"]
ParseOutcome = tuple[list[list[object]], list[FileProblem], int]


def parse(content: bytes, columns: Columns) -> ParseOutcome:
    """Return the columns with numbers in hexadecimal, or the problems and their total."""
    try:
        table, _ = parse_original(content, columns)
    except InvalidUpload as error:
        return [], list(error.problems), error.total
    columns_in_hex = [
        [value.hex() if isinstance(value, float) else value for value in table[name]] for name in table
    ]
    return columns_in_hex, [], 0


def parse_without_shortcuts(content: bytes, columns: Columns) -> ParseOutcome:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_text, "may_have_blank_lines", lambda _: True)
        patch.setattr(csv_text, "parse_plain_numbers", lambda _: None)
        return parse(content, columns)


@hostile_examples
@given(
    parts=st.lists(
        st.sampled_from([*HOSTILE_PIECES, *NOT_NUMBERS, *NUMBER_SPELLINGS, *NUMBERS_OUT_OF_RANGE])
        | number_spellings,
        max_size=12,
    )
)
@example(parts=["a,1\n", "\r", "a,1"])
@example(parts=["a,1\r\n", "\r\n", "a,1", "\n\n"])
@example(parts=['"a"', 'b,1\n"'])
@example(parts=["a" * (MAX_CELL_LENGTH + 1), ",1\n"])
@example(parts=["日" * MAX_CELL_LENGTH, ",1\n"])
@example(parts=["\x00,1\n"])
@example(parts=[])
def test_shortcuts_do_not_change_results_of_hostile_files(parts: list[str]) -> None:
    for header, columns in (
        ("q,s\n", SMALL_COLUMNS),
        ("q,s\r", SMALL_COLUMNS),
        ('"q",s\n', SMALL_COLUMNS),
        ("q\n", ONE_COLUMN),
    ):
        content = (header + "".join(parts)).encode()
        assert parse(content, columns) == parse_without_shortcuts(content, columns)


def test_number_shortcut_is_correct_for_all_short_texts() -> None:
    for length, characters in ((2, string.printable), (3, "01.-eEnaifxp_ "), (4, NUMBER_CHARACTERS)):
        for text in map("".join, product(characters, repeat=length)):
            check_plain_number(text)
    for word in ("", "nan", "inf", "-inf", "Infinity", "NaN", "nan(1)", "0x1p4", "1e5f", "1\0"):
        check_plain_number(word)


@hostile_examples
@given(
    text=st.text(NUMBER_CHARACTERS + "23456789", max_size=40)
    | number_spellings
    | st.sampled_from([*NUMBER_SPELLINGS, *NUMBERS_OUT_OF_RANGE])
)
def test_number_shortcut_reads_exact_floats(text: str) -> None:
    check_plain_number(text)


def check_plain_number(text: str) -> None:
    numbers = csv_text.parse_plain_numbers(pa.array([text]))
    if numbers is not None:
        assert re.fullmatch(csv_text.NUMBER_PATTERN, text), text
        assert numbers[0].hex() == float(text).hex()


@pytest.mark.parametrize("character", [chr(code) for code in [*range(33), 127, 128, 0x85, 0x3042]])
def test_control_characters_are_found_at_any_position(character: str) -> None:
    for cells in (["", f"a{character}"], [character], ["日本", f"{character}日", ""]):
        problems = Problems("a")
        check_text(pa.array(cells), "q", problems)
        expected = character != "\t" and (character < " " or character == "\x7f")
        assert (problems.total > 0) == expected


INVISIBLE_CODES = [
    0x200B, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2060, 0x2065), *range(0x2066, 0x206A), 0xFEFF,
]  # fmt: skip


@pytest.mark.parametrize("code", INVISIBLE_CODES)
def test_invisible_characters_are_reported_with_their_code(code: int) -> None:
    for cells in (["", f"a{chr(code)}"], [chr(code)], ["日本", f"{chr(code)}日", ""]):
        problems = Problems("a")
        check_text(pa.array(cells), "q", problems)
        (problem,) = problems.first_problems
        row = next(row for row, cell in enumerate(cells, 1) if chr(code) in cell)
        assert (problem.row, problem.column, problem.code) == (row, "q", "invisible_character")
        assert str(problem.message) == f"q, row {row}: invisible characters in a cell: U+{code:04X}"
        assert problem.describe()["values"]["codes"] == [f"U+{code:04X}"]


@pytest.mark.parametrize("line_end", ["\n", "\r", "\r\n"])
def test_reading_stops_after_too_many_lines(line_end: str) -> None:
    rows = [HEADER.decode().rstrip(), *["x,no number"] * 2005]
    error = expect_refusal(line_end.join(rows).encode(), original=build_original("x", "x"))
    assert list_problems(error) == [(None, None, "too_many_rows")]
    assert "more than 2 lines" in str(error.problems[0].message)


def test_line_breaks_in_cells_do_not_count_as_rows() -> None:
    content = HEADER + b'"x\n\n\n\n\n",1\n' * 3
    locations = list_problems(expect_refusal(content, original=build_original("x", "x", "x")))
    assert {code for _, _, code in locations} == {"control_character"}
