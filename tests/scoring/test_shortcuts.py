"""Files that need no second look: what is read at once is what is read cell by cell and line by line."""

import re
import string
from itertools import product

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from anoncup.errors import InvalidUpload, Problem
from anoncup.rules.settings import Columns
from anoncup.tables import csv_text
from anoncup.tables.csv_text import Problems, check_text, numbers
from anoncup.tables.files import MAX_CELL
from anoncup.tracks.microdata.tables import parse_original
from tests.scoring.table_files import (
    HEADER,
    NOT_NUMBERS,
    ONE,
    SMALL,
    SPELLINGS,
    hostile,
    original,
    places,
    refusal,
    spellings,
)

pytestmark = pytest.mark.full

NUMERIC = "01+-.eE"
HOSTILE = [
    "\n",
    "\r",
    "\r\n",
    "\n\n",
    ",",
    '"',
    '""',
    "\x00",
    "\t",
    "\x7f",
    "\ufeff",
    "日",
    "a",
    "1",
    "1,2\n",
]
Outcome = tuple[list[list[object]], list[Problem], int]


def outcome(content: bytes, columns: Columns) -> Outcome:
    """The table's columns, numbers as bits; or all that is wrong with it."""
    try:
        table, _ = parse_original(content, columns)
    except InvalidUpload as refused:
        return [], list(refused.problems), refused.total
    hexed = [[value.hex() if isinstance(value, float) else value for value in table[name]] for name in table]
    return hexed, [], 0


def slowly(content: bytes, columns: Columns) -> Outcome:
    with pytest.MonkeyPatch.context() as without:
        without.setattr(csv_text, "may_have_blank_lines", lambda _: True)
        without.setattr(csv_text, "has_control", lambda _: True)
        without.setattr(csv_text, "has_long", lambda _: True)
        without.setattr(csv_text, "plain_numbers", lambda _: None)
        without.setattr(csv_text, "PIECE", 1)
        return outcome(content, columns)


@hostile
@given(parts=st.lists(st.sampled_from([*HOSTILE, *NOT_NUMBERS, *SPELLINGS]) | spellings, max_size=12))
@example(parts=["a,1\n", "\r", "a,1"])
@example(parts=["a,1\r\n", "\r\n", "a,1", "\n\n"])
@example(parts=['"a"', 'b,1\n"'])
@example(parts=["a" * (MAX_CELL + 1), ",1\n"])
@example(parts=["日" * MAX_CELL, ",1\n"])
@example(parts=["\x00,1\n"])
@example(parts=[])
def test_a_hostile_text_is_refused_or_read_the_same_with_and_without_shortcuts(parts: list[str]) -> None:
    for header, columns in (("q,s\n", SMALL), ("q,s\r", SMALL), ('"q",s\n', SMALL), ("q\n", ONE)):
        content = (header + "".join(parts)).encode()
        assert outcome(content, columns) == slowly(content, columns)


@hostile
@given(rows=st.lists(st.tuples(st.sampled_from(["a", "", "日"]), spellings | st.sampled_from(NOT_NUMBERS))))
def test_a_regular_table_is_refused_or_read_the_same_with_and_without_shortcuts(
    rows: list[tuple[str, str]],
) -> None:
    content = "\r\n".join(["q,s", *(f"{text},{number}" for text, number in rows)]).encode()
    assert outcome(content, SMALL) == slowly(content, SMALL)


def test_no_short_text_of_a_numbers_signs_is_read_at_once_and_refused_by_itself() -> None:
    for length in range(6):
        for signs in product(NUMERIC, repeat=length):
            same_alone("".join(signs))


def test_no_word_or_other_sign_is_read_at_once_as_a_number() -> None:
    for length, signs in ((2, string.printable), (4, "01.-eEnaifxp_ ")):
        for text in map("".join, product(signs, repeat=length)):
            same_alone(text)
    for word in ("nan", "inf", "-inf", "Infinity", "NaN", "nan(1)", "0x1p4", "1e5f", "1\0"):
        same_alone(word)


@hostile
@given(text=st.text(NUMERIC + "23456789", max_size=40) | spellings | st.sampled_from(SPELLINGS))
def test_a_text_of_a_numbers_signs_has_the_same_bits_with_and_without_shortcuts(text: str) -> None:
    same_alone(text)


def same_alone(text: str) -> None:
    at_once = csv_text.plain_numbers(pa.array([text]))
    if at_once is not None:
        assert re.fullmatch(csv_text.NUMBER, text), text
        assert at_once[0].hex() == float(text).hex()


@pytest.mark.parametrize("mark", [chr(code) for code in [*range(33), 127, 128, 0x85, 0x3042]])
def test_a_control_character_is_found_wherever_it_stands(mark: str) -> None:
    for cells in (["", f"a{mark}"], [mark], ["日本", f"{mark}日", ""]):
        problems = Problems("a")
        check_text(pa.array(cells), "q", problems)
        expected = mark != "\t" and (mark < " " or mark == "\x7f")
        assert (problems.total > 0) == expected


INVISIBLE = [
    0x200B, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2060, 0x2065), *range(0x2066, 0x206A), 0xFEFF,
]  # fmt: skip


@pytest.mark.parametrize("code", INVISIBLE)
def test_an_invisible_character_is_found_wherever_it_stands_and_named_by_its_number(code: int) -> None:
    for cells in (["", f"a{chr(code)}"], [chr(code)], ["日本", f"{chr(code)}日", ""]):
        problems = Problems("a")
        check_text(pa.array(cells), "q", problems)
        (found,) = problems.listed
        row = next(row for row, cell in enumerate(cells, 1) if chr(code) in cell)
        assert (found.row, found.column, found.code) == (row, "q", "invisible_character")
        assert str(found.message) == f"q, row {row}: invisible characters in a cell: U+{code:04X}"
        assert found.told()["values"]["codes"] == [f"U+{code:04X}"]


def test_several_invisible_characters_are_named_once_each_in_their_order() -> None:
    problems = Problems("a")
    check_text(pa.array(["\ufeffa\u200bb\ufeff", "\u2066c"]), "q", problems)
    codes = [each.told()["values"]["codes"] for each in problems.listed]
    assert codes == [["U+FEFF", "U+200B"], ["U+2066"]]


@pytest.mark.parametrize("text", ["👩‍🔬", "می‌خواهم", "日本", "é", "\u2010\u2014", "", "ﬁ", "a b"])
def test_letters_that_only_look_unusual_are_no_invisible_characters(text: str) -> None:
    problems = Problems("a")
    check_text(pa.array([text]), "q", problems)
    assert not problems.total


def test_plain_columns_of_no_rows_hold_no_numbers() -> None:
    problems = Problems("a")
    check_text(pa.array([], pa.string()), "q", problems)
    assert len(numbers(pa.array([], pa.string()), "q", problems)) == 0
    assert not problems.total


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
def test_a_file_with_far_more_lines_than_rows_are_possible_is_not_read_any_further(end: str) -> None:
    rows = [HEADER.decode().rstrip(), *["x,no number"] * 2005]
    problem = refusal(end.join(rows).encode(), of=original("x", "x"))
    assert places(problem) == [(None, None, "too_many_rows")]
    assert "more than 2 lines" in str(problem.problems[0].message)


def test_line_breaks_in_cells_are_no_rows() -> None:
    content = HEADER + b'"x\n\n\n\n\n",1\n' * 3
    found = places(refusal(content, of=original("x", "x", "x")))
    assert {code for _, _, code in found} == {"control_character"}
