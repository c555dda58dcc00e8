"""Reading and writing microdata tables, and refusing malformed ones with row, column and code."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given

from anoncup.rules.settings import Columns
from anoncup.tables.csv_text import write_csv
from anoncup.tables.files import MAX_ROWS
from anoncup.tracks.microdata.release import MicrodataOriginal
from anoncup.tracks.microdata.tables import parse_original, parse_release
from tests.support.table_files import (
    COLUMNS,
    FLOATS,
    HEADER,
    NAMES,
    NOT_NUMBERS,
    NUMBER_SPELLINGS,
    NUMBERS_OUT_OF_RANGE,
    SMALL_COLUMNS,
    TEXTS,
    build_original,
    expect_refusal,
    frames,
    hostile_examples,
    list_exact_cells,
    list_problems,
    quote,
)


@hostile_examples
@given(table=frames())
@example(table=pd.DataFrame(dict.fromkeys(NAMES[:2], TEXTS) | {name: [*FLOATS, 0.0] for name in NAMES[2:]}))
def test_tables_round_trip_exactly(table: pd.DataFrame) -> None:
    content = write_csv(table)
    parsed, remarks = parse_original(content, COLUMNS)
    assert remarks == []
    assert list(parsed.columns) == list(NAMES)
    assert list_exact_cells(parsed) == list_exact_cells(table)
    assert write_csv(parsed) == content


def test_original_does_not_see_later_changes_of_its_table() -> None:
    table = build_original("a", "b")
    original, read_original = (MicrodataOriginal(table, SMALL_COLUMNS) for _ in range(2))
    expected = read_original.values.copy(), read_original.codes.copy()
    table["q"], table["s"] = ["b", "b"], [9.0, 8.0]
    for changed_later in (original, read_original):
        assert changed_later.table["q"].tolist() == ["a", "b"]
        np.testing.assert_array_equal(changed_later.values, expected[0])
        np.testing.assert_array_equal(changed_later.codes, expected[1])


def test_column_roles_may_alternate_in_the_file() -> None:
    columns = Columns(("a", "c"), ("b", "d"))
    parsed, _ = parse_original(b"a,b,c,d\nx,1,y,2\n", columns)
    assert list_exact_cells(parsed) == [["x", (1.0).hex(), "y", (2.0).hex()]]
    error = expect_refusal(b"c,b,a,d\nx,1,y,2\n", columns)
    assert list_problems(error) == [(None, None, "columns_order")]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("x,plenty\ny\u200b,2\n".encode(), [(1, "s", "not_a_number"), (2, "q", "invisible_character")]),
        (b'x,""\ny,2\n', [(1, "s", "missing_value")]),
        (b"x,1e400\ny,2\nz,-1e309\n", [(1, "s", "out_of_range"), (3, "s", "out_of_range")]),
        (b"x,1e400\ny,two\n", [(1, "s", "out_of_range"), (2, "s", "not_a_number")]),
        (b"x,\ny,two\n", [(1, "s", "missing_value"), (2, "s", "not_a_number")]),
    ],
)  # fmt: skip
def test_invalid_rows_are_refused_with_row_column_and_code(
    body: bytes, expected: list[tuple[int | None, str | None, str]]
) -> None:
    error = expect_refusal(HEADER + body)
    assert list_problems(error) == expected
    assert error.total == len(expected)
    assert {problem.file for problem in error.problems} == {"original"}
    assert (
        list_problems(expect_refusal(HEADER + body, original=build_original("x", "y", "z", "w"))) == expected
    )


@pytest.mark.parametrize("cell", NOT_NUMBERS)
def test_cells_must_be_plain_decimal_numbers(cell: str) -> None:
    content = HEADER + f"x,1\ny,{quote(cell, always=True)}\n".encode()
    assert list_problems(expect_refusal(content)) == [(2, "s", "not_a_number")]


@pytest.mark.parametrize("cell", NUMBERS_OUT_OF_RANGE)
@pytest.mark.parametrize("other_cell", ["1", "0.000000", "0e-400"])
def test_numbers_that_are_too_large_or_small_are_refused(cell: str, other_cell: str) -> None:
    content = HEADER + f"x,{other_cell}\ny,{cell}\n".encode()
    assert list_problems(expect_refusal(content)) == [(2, "s", "out_of_range")]


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (b"q\nx\n", [(None, "s", "header")]),
        (b"q,q,s\nx,x,1\n", [(None, "q", "header")]),
        (b"q,s,t\nx,1,2\n", [(None, "t", "column_without_role")]),
        (b"q;s\nx;1\n", [(None, "q", "header"), (None, "s", "header"), (None, "q;s", "column_without_role")]),
        (b"Q,s\nx,1\n", [(None, "q", "header"), (None, "Q", "column_without_role")]),
        (b'"q""",s\nx,1\n', [(None, "q", "header"), (None, 'q"', "column_without_role")]),
        (b'q","s\nx,1\n', [(None, None, "header")]),
        (b'"q" ,s\nx,1\n', [(None, None, "header")]),
    ],
)  # fmt: skip
def test_original_has_exactly_the_competitions_columns(
    header: bytes, expected: list[tuple[int | None, str | None, str]]
) -> None:
    error = expect_refusal(header)
    assert list_problems(error) == expected
    assert error.total == len(expected)


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_line_breaks_in_column_names_are_read_as_blanks(line_end: str) -> None:
    columns = Columns(("年齢 （歳）", "sex"), ("s",))
    header = f'"年齢\n（歳）","sex{line_end}",s{line_end}'.encode()
    rows = line_end.join(["20,男,1", "30,女,2", ""]).encode()
    table, _ = parse_original(header + rows, columns)
    assert list_exact_cells(table) == [["20", "男", (1.0).hex()], ["30", "女", (2.0).hex()]]
    other_header = '"年齢\r\n（歳）",sex,s'.encode() + line_end.encode()
    assert parse_release(other_header + rows, table, columns)[0].equals(table)
    (problem,) = expect_refusal(header + rows + b"40,x", columns).problems
    assert (problem.row, problem.code) == (3, "ragged_row")
    (problem,) = expect_refusal(header + rows + b"40,x,y", columns).problems
    assert (problem.row, problem.line) == (3, 6)
    assert list_problems(expect_refusal(header, columns)) == [(None, None, "no_rows")]


def test_release_may_not_have_more_rows_than_the_original() -> None:
    content = HEADER + b"x,1\n" * 3
    assert len(parse_release(content, build_original("x", "x", "x"), SMALL_COLUMNS)[0]) == 3
    assert list_problems(expect_refusal(content, original=build_original("x", "x"))) == [
        (None, None, "too_many_rows")
    ]


@pytest.mark.parametrize("spelling", NUMBER_SPELLINGS)
def test_numbers_are_read_to_the_nearest_float(spelling: str) -> None:
    parsed, _ = parse_original(HEADER + f"x,{spelling}".encode(), SMALL_COLUMNS)
    assert parsed["s"][0].hex() == float(spelling).hex()


@pytest.mark.full
def test_huge_malformed_file_is_refused() -> None:
    size = 60_000_000
    for body in (b"," * size, b'x,"' + b'""' * (size // 2), b"\n" * size, b"x,\n" * MAX_ROWS):
        expect_refusal(b"q,s\n" + body)
    expect_refusal(b"," * size)
