"""Uploaded tables: what is read back exactly, what is refused and where, and that nothing else can happen."""

import math
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from anoncup.errors import LISTED, InvalidUpload, Problem
from anoncup.messages import Message
from anoncup.rules.settings import Columns
from anoncup.tables.csv_text import table_csv
from anoncup.tables.files import MAX_CELL, MAX_ROWS
from anoncup.tracks.microdata.tables import parse_original, parse_release
from tests.scoring.table_files import (
    COLUMNS,
    FLOATS,
    HEADER,
    NAMES,
    NOT_NUMBERS,
    ONE,
    SMALL,
    SPELLINGS,
    TEXTS,
    Written,
    as_rows,
    cell_texts,
    check_list,
    expected_rows,
    files,
    frames,
    hostile,
    original,
    places,
    quoted,
    refusal,
)
from tests.support.hypothesis_profiles import examples
from tests.support.step_counter import steps_of

# What goes in comes out.


@hostile
@given(table=frames())
@example(table=pd.DataFrame(dict.fromkeys(NAMES[:2], TEXTS) | {name: [*FLOATS, 0.0] for name in NAMES[2:]}))
def test_a_written_table_reads_back_to_the_same_texts_and_bits(table: pd.DataFrame) -> None:
    content = table_csv(table)
    found, remarks = parse_original(content, COLUMNS)
    assert remarks == []
    assert list(found.columns) == list(NAMES)
    assert as_rows(found) == as_rows(table)
    assert table_csv(found) == content


@hostile
@given(table=frames(), seed=st.integers(0, 9))
def test_a_shuffled_release_of_a_table_reads_back_without_remarks(table: pd.DataFrame, seed: int) -> None:
    kept = np.random.default_rng(seed).permutation(len(table))[: max(1, len(table) - 1)]
    release = table.iloc[kept].reset_index(drop=True)
    found, remarks = parse_release(table_csv(release), table, COLUMNS)
    assert remarks == []
    assert as_rows(found) == as_rows(release)
    assert list(found.dtypes) == list(parse_original(table_csv(table), COLUMNS)[0].dtypes)


@hostile
@given(texts=st.lists(cell_texts, min_size=1, max_size=6))
@example(texts=[""])
@example(texts=["", "", ""])
@example(texts=["x", ""])
def test_a_table_of_one_column_keeps_its_empty_cells_first_middle_and_last(texts: list[str]) -> None:
    found, _ = parse_original(table_csv(pd.DataFrame({"q": texts})), ONE)
    assert found["q"].tolist() == texts


@hostile
@given(file=files())
@example(file=Written(b"q,s\r\nx,1\r\n", SMALL))
@example(file=Written(b'\xef\xbb\xbf"q","s"\n"","1"', SMALL))
@example(file=Written(b"q\r\n\r\nx\r\n\r\n", ONE))
def test_a_valid_file_reads_as_the_standard_library_reads_it(file: Written) -> None:
    found, remarks = parse_original(file.content, file.columns)
    assert remarks == []
    assert as_rows(found) == expected_rows(file.content, file.columns)
    assert found.index.equals(pd.RangeIndex(len(found)))


@pytest.mark.parametrize("text", TEXTS)
def test_a_quasi_identifier_is_text_exactly_as_written(text: str) -> None:
    found, _ = parse_original(HEADER + f"{quoted(text, always=True)},1".encode(), SMALL)
    assert found["q"].tolist() == [text]


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_number_is_read_to_the_nearest_float(spelling: str) -> None:
    found, _ = parse_original(HEADER + f"x,{spelling}".encode(), SMALL)
    assert found["s"][0].hex() == float(spelling).hex()


def test_the_original_may_mix_roles_if_each_keeps_the_order_of_the_file() -> None:
    columns = Columns(("a", "c"), ("b", "d"))
    found, _ = parse_original(b"a,b,c,d\nx,1,y,2\n", columns)
    assert as_rows(found) == [["x", (1.0).hex(), "y", (2.0).hex()]]
    problem = refusal(b"c,b,a,d\nx,1,y,2\n", columns)
    assert places(problem) == [(None, None, "columns_order")]


def test_blank_lines_at_the_very_end_are_no_rows() -> None:
    assert len(parse_original(b"q,s\nx,1\n\n\r\n\n", SMALL)[0]) == 1


def test_quotes_inside_an_unquoted_cell_are_themselves() -> None:
    assert parse_original(b'q,s\n5" disk,1\n', SMALL)[0]["q"].tolist() == ['5" disk']


# Every refusal says where.


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"x,1\ny\nz,3\n", [(2, None, "ragged_row")]),
        (b"x\ny,2\n", [(1, None, "ragged_row")]),
        (b"x,1\ny,2,\n", [(2, None, "ragged_row")]),
        (b"x,1,1\ny,2\nz\n", [(1, None, "ragged_row"), (3, None, "ragged_row")]),
        (b"x,1\n \ny,2\n", [(2, None, "ragged_row")]),
        (b"x,1\n\ny,2\n", [(2, None, "blank_line")]),
        (b"\nx,1\n", [(1, None, "blank_line")]),
        (b"x,1\r\r\ny,2\n", [(2, None, "blank_line")]),
        (b"x,1\r\n\r\n\r\ny,2", [(2, None, "blank_line"), (3, None, "blank_line")]),
        (b'"x,1\ny,2\nz,3\n', [(1, None, "unclosed_quote")]),
        (b'x,1\n"y,2\nz,3\n', [(2, None, "unclosed_quote")]),
        (b'x,1\ny,2\n"z,3\n', [(3, None, "unclosed_quote")]),
        (b'x,1\ny,2\n"z,3', [(3, None, "unclosed_quote")]),
        (b'x,"1\ny,2\n', [(1, None, "unclosed_quote")]),
        (b'x,1\ny,"2\nz,3\n', [(2, None, "unclosed_quote")]),
        (b'x,1\ny,"2', [(2, None, "unclosed_quote")]),
        (b'x,1\ny,"2\n', [(2, None, "unclosed_quote")]),
        (b'x,1\n"y"y,2\n', [(2, None, "text_after_quote")]),
        (b'x,"1"2\n', [(1, None, "text_after_quote")]),
        (b'x,1\n"y" ,2\n', [(2, None, "text_after_quote")]),
        (b"x,1\ny\x00,2\n", [(2, "q", "control_character")]),
        (b"x,1\ny,2\x1a", [(2, "s", "control_character")]),
        (b"\x7f,1\x0b", [(1, "q", "control_character"), (1, "s", "control_character")]),
        (b'x,1\n"y\nz",2\n', [(2, "q", "control_character")]),
        (b'x,1\n"y\n\nz",2\nw,3\n', [(2, "q", "control_character")]),
        (b'x,1\n"y\rz",2\n', [(2, "q", "control_character")]),
        (b"x,1\n\xef\xbb\xbfy,2\n", [(2, "q", "invisible_character")]),
        ("x,1\ny,\u202e2\n".encode(), [(2, "s", "invisible_character")]),
        ("x,plenty\ny\u200b,2\n".encode(), [(1, "s", "not_a_number"), (2, "q", "invisible_character")]),
        (b"x,1\n" + b"y" * (MAX_CELL + 1) + b",2\n", [(2, "q", "cell_too_long")]),
        (b"x,1\ny," + b"1" * (MAX_CELL + 1) + b"\n", [(2, "s", "cell_too_long")]),
        (b"x,1\ny,\n", [(2, "s", "missing_value")]),
        (b'x,""\ny,2\n', [(1, "s", "missing_value")]),
        (b"x,1e400\ny,2\nz,-1e309\n", [(1, "s", "not_finite"), (3, "s", "not_finite")]),
        (b"x,1e400\ny,two\n", [(1, "s", "not_finite"), (2, "s", "not_a_number")]),
        (b"x,\ny,two\n", [(1, "s", "missing_value"), (2, "s", "not_a_number")]),
        (b"", [(None, None, "no_rows")]),
        (b"\n\n", [(None, None, "no_rows")]),
    ],
)  # fmt: skip
def test_a_bad_body_is_refused_with_row_column_and_code(
    body: bytes, expected: list[tuple[int | None, str | None, str]]
) -> None:
    problem = refusal(HEADER + body)
    assert places(problem) == expected
    assert problem.total == len(expected)
    assert {each.file for each in problem.problems} == {"original"}
    assert places(refusal(HEADER + body, of=original("x", "y", "z", "w"))) == expected


@pytest.mark.parametrize("cell", NOT_NUMBERS)
def test_what_is_no_plain_decimal_number_is_refused(cell: str) -> None:
    content = HEADER + f"x,1\ny,{quoted(cell, always=True)}\n".encode()
    assert places(refusal(content)) == [(2, "s", "not_a_number")]


def test_an_unclosed_quote_in_a_table_of_one_column_is_found() -> None:
    assert places(refusal(b'q\nx\n"y\nz\n', ONE)) == [(2, None, "unclosed_quote")]
    assert places(refusal(b'q\n"', ONE)) == [(1, None, "unclosed_quote")]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_rows_are_counted_alike_under_every_line_end(end: bytes) -> None:
    for bad, place in [
        (b"y", (3, None, "ragged_row")),
        (b"", (3, None, "blank_line")),
        (b"y,z", (3, "s", "not_a_number")),
        (b'y,"1', (3, None, "unclosed_quote")),
    ]:
        content = b"\xef\xbb\xbf" + end.join([b"q,s", b"x,1", b"x,2", bad, b"x,4"]) + end
        assert places(refusal(content)) == [place]


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (b"", [(None, None, "no_header")]),
        (b"\nq,s\nx,1\n", [(None, None, "no_header")]),
        (b"\xef\xbb\xbf\nx,1\n", [(None, None, "no_header")]),
        (b'"q,s\nx,1\n', [(None, None, "header")]),
        (b"q\nx\n", [(None, "s", "header")]),
        (b"q,q,s\nx,x,1\n", [(None, "q", "header")]),
        (b"q,s,t\nx,1,2\n", [(None, "t", "column_without_role")]),
        (b"q;s\nx;1\n", [(None, "q", "header"), (None, "s", "header"), (None, "q;s", "column_without_role")]),
        (b"Q,s\nx,1\n", [(None, "q", "header"), (None, "Q", "column_without_role")]),
        (b" q,s\nx,1\n", [(None, "q", "header"), (None, " q", "column_without_role")]),
        (b'q"",s\nx,1\n', [(None, "q", "header"), (None, 'q""', "column_without_role")]),
        (b'"q""",s\nx,1\n', [(None, "q", "header"), (None, 'q"', "column_without_role")]),
        (b'q","s\nx,1\n', [(None, None, "header")]),
        (b'""q"",s\nx,1\n', [(None, None, "header")]),
        (b'"q" ,s\nx,1\n', [(None, None, "header")]),
        (
            b"x,1\ny,2\n",
            [(None, n, "header") for n in "qs"] + [(None, n, "column_without_role") for n in "x1"],
        ),
    ],
)  # fmt: skip
def test_an_original_needs_exactly_the_columns_of_the_competition(
    header: bytes, expected: list[tuple[int | None, str | None, str]]
) -> None:
    problem = refusal(header)
    assert places(problem) == expected
    assert problem.total == len(expected)


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (b"", [(None, None, "no_header")]),
        (b"s,q\n1,x\n", [(None, "q", "header"), (None, "s", "header")]),
        (b"q\nx\n", [(None, None, "header")]),
        (b"q,s,s\nx,1,1\n", [(None, None, "header")]),
        (b"q,q\nx,1\n", [(None, "s", "header")]),
        (b"q,S\nx,1\n", [(None, "s", "header")]),
        (b"x,1\n", [(None, None, "header")]),
    ],
)
def test_a_release_needs_exactly_the_header_of_the_original(
    header: bytes, expected: list[tuple[int | None, str | None, str]]
) -> None:
    assert places(refusal(header, of=original("x", "y"))) == expected


def test_a_release_may_not_have_more_rows_than_the_original() -> None:
    content = HEADER + b"x,1\n" * 3
    assert len(parse_release(content, original("x", "x", "x"), SMALL)[0]) == 3
    assert places(refusal(content, of=original("x", "x"))) == [(None, None, "too_many_rows")]


def test_at_most_twenty_problems_are_listed_and_all_are_counted() -> None:
    problem = refusal(HEADER + b"x\n" * 37 + b"y,1\n")
    assert places(problem) == [(row, None, "ragged_row") for row in range(1, LISTED + 1)]
    assert problem.total == 37
    problem = refusal(HEADER + b"x,\n" * 30 + b"y,z\n" * 33)
    assert len(problem.problems) == LISTED
    assert problem.total == 63
    assert refusal(HEADER + b"\n" * 25 + b"x,1").total == 25
    assert refusal(",".join(f"c{i}" for i in range(60)).encode() + b"\n").total == 62
    assert refusal(b"q,s" + b",t" * 60 + b"\n", of=original("x")).total == 1


def test_listed_problems_stand_in_the_order_of_the_rows() -> None:
    wide = Columns(("q",), ("a", "b"))
    problem = refusal(b"q,a,b\nx,1,two\ny,one,2\nz,,\n", wide)
    assert [(row, code) for row, _, code in places(problem)] == [
        (1, "not_a_number"), (2, "not_a_number"), (3, "missing_value"), (3, "missing_value")
    ]  # fmt: skip


def test_a_problem_names_the_file_it_is_in() -> None:
    with pytest.raises(InvalidUpload) as caught:
        parse_original(b"q,s\nx,one\n", SMALL, file="my table.csv")
    what = Message("not a decimal number")
    message = Message("{column}, row {row}: {what}", column="s", row=1, what=what)
    assert caught.value.problems == (
        Problem("my table.csv", 1, "s", "not_a_number", message, line=2, value="one"),
    )


# Nothing else can happen.


def outcome(content: bytes, columns: Columns) -> pd.DataFrame | None:
    try:
        return parse_original(content, columns)[0]
    except InvalidUpload as problem:
        check_list(problem)
        return None


@examples(500)
@given(
    content=st.binary(max_size=80),
    prefix=st.sampled_from([b"", b"q,s\n", b"q\n", b"q,s\nx,1\n", b"\xef\xbb\xbf"]),
)
def test_random_bytes_are_read_or_refused(content: bytes, prefix: bytes) -> None:
    for columns in (SMALL, ONE):
        outcome(prefix + content, columns)


pieces = st.sampled_from(
    [b'"', b'""', b",", b"\n", b"\r", b"\r\n", b"\x00", b" ", b"\xff", b"\x81", b"x", b"1", b"\t"]
)


@st.composite
def damaged(draw: st.DrawFn) -> Written:
    file = draw(files())
    content = file.content
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(content)))
        end = start + draw(st.integers(0, 2))
        content = content[:start] + draw(pieces | st.just(b"")) + content[end:]
    return Written(content, file.columns)


@examples(1000)
@given(file=damaged())
@example(file=Written(b'q,s\nx,"1', SMALL))
@example(file=Written(b'q,s\n"x"y,1', SMALL))
def test_a_damaged_file_is_refused_or_reads_as_the_standard_library_reads_it(file: Written) -> None:
    found = outcome(file.content, file.columns)
    try:
        file.content.decode()
    except UnicodeDecodeError:
        return
    if found is not None:
        content = file.content.rstrip(b"\r\n") if file.columns is not ONE else file.content
        assert as_rows(found) == expected_rows(content, file.columns)


LONG = 60_000_000


@pytest.mark.full
@pytest.mark.parametrize(
    "content",
    [
        b"x" * LONG,
        b"," * LONG,
        b"q,s\n" + b"x" * LONG,
        b"q,s\n" + b"," * LONG,
        b"q,s\nx," + b"1" * LONG,
        b'q,s\nx,1\n"' + b"x" * LONG,
        b'q,s\nx,"' + b'""' * (LONG // 2),
        b"q,s\n" + b"\n" * LONG,
        b"q,s\n" + b"x\r\n" * (LONG // 3),
        b"q,s\n" + b"x\n" * MAX_ROWS,
        b"q,s\n" + b"x,\n" * MAX_ROWS,
        b"q,s\n" + b"\n" * (MAX_ROWS - 1) + b"x,1",
        ",".join(f"c{i}" for i in range(150_000)).encode() + b"\n",
    ],
    ids=lambda content: repr(content[:12]),
)
def test_a_file_made_to_keep_the_reader_busy_is_refused(content: bytes) -> None:
    assert outcome(content, SMALL) is None


GROWING: dict[str, Callable[[int], bytes]] = {
    "one cell": lambda count: b"q,s\n" + b"x" * count,
    "commas": lambda count: b"," * count,
    "a row of commas": lambda count: b"q,s\n" + b"," * count,
    "digits": lambda count: b"q,s\nx," + b"1" * count,
    "quotes": lambda count: b'q,s\nx,"' + b'""' * count,
    "an open quote": lambda count: b'q,s\nx,1\n"' + b"x" * count,
    "empty rows": lambda count: b"q,s\n" + b"\n" * count + b"x,1",
    "short rows": lambda count: b"q,s\n" + b"x\n" * count,
    "empty cells": lambda count: b"q,s\n" + b"x,\n" * count,
    "columns": lambda count: ",".join(f"c{i}" for i in range(count)).encode() + b"\n",
    "good rows": lambda count: b"q,s\n" + b"x,1\n" * count,
}


@pytest.mark.parametrize("content", GROWING.values(), ids=GROWING)
def test_twice_as_long_a_table_is_at_most_twice_the_work(content: Callable[[int], bytes]) -> None:
    def work(count: int) -> int:
        made = content(count)
        return steps_of(lambda: outcome(made, SMALL))

    work(10)  # what the first call fetches
    assert work(4_000) < 2.1 * work(2_000) + 1_000


def test_infinity_is_never_read() -> None:
    found = outcome(b"q,s\nx," + b"9" * 308, SMALL)
    assert found is not None
    assert math.isfinite(found["s"][0])
    assert outcome(b"q,s\nx," + b"9" * 309, SMALL) is None
