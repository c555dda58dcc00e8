"""Parsing the secret in both directions, refusing every malformed one, and never repeating its values."""

import itertools
from collections.abc import Sequence
from contextlib import nullcontext

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from anoncup.errors import InvalidInput, InvalidUpload
from anoncup.tracks.linkage.permutation import (
    check_source,
    is_in_original_order,
    parse_guess,
    parse_secret,
    write_secret,
)
from tests.support.hypothesis_profiles import limit_examples

hostile_examples = limit_examples(200)
CANARY = "271828182"


def parse_lines(lines: Sequence[int], header: str, *, originals: int, anonymized: int) -> list[int]:
    content = "\n".join([header, *map(str, lines)]).encode()
    rows: list[int] = parse_secret(content, original_count=originals, anonymized_count=anonymized).tolist()
    return rows


def expect_refusal(content: bytes, *, originals: int = 4, anonymized: int = 3) -> InvalidUpload:
    with pytest.raises(InvalidUpload) as excinfo:
        parse_secret(content, original_count=originals, anonymized_count=anonymized)
    return excinfo.value


# Both directions.


def test_exactly_the_valid_anonymized_row_secrets_are_accepted() -> None:
    for originals, anonymized in itertools.product(range(1, 5), range(1, 4)):
        for lines in itertools.product(range(anonymized + 2), repeat=originals):
            is_valid = sorted(filter(None, lines)) == list(range(1, anonymized + 1))
            with nullcontext() if is_valid else pytest.raises(InvalidUpload):
                source = parse_lines(lines, "anonymized_row", originals=originals, anonymized=anonymized)
                assert all(lines[i] == j + 1 for j, i in enumerate(source))


def test_exactly_the_valid_original_row_secrets_are_accepted() -> None:
    for originals, anonymized in itertools.product(range(1, 5), range(1, 4)):
        for lines in itertools.product(range(originals + 2), repeat=anonymized):
            is_valid = len(set(lines)) == anonymized and 0 not in lines and max(lines) <= originals
            with nullcontext() if is_valid else pytest.raises(InvalidUpload):
                source = parse_lines(lines, "original_row", originals=originals, anonymized=anonymized)
                assert source == [line - 1 for line in lines]
                assert write_secret(np.array(source)).split() == [b"original_row", *map(b"%d".__mod__, lines)]


def test_answer_names_distinct_rows_of_the_original() -> None:
    check_source(np.array([4, 0, 2]), original_count=5, anonymized_count=3)
    for wrong_source in ([4, 0], [5, 1, 3], [0, 0, 0], [-1, 0, 1]):
        with pytest.raises(InvalidInput):
            check_source(np.array(wrong_source), original_count=5, anonymized_count=3)


# Accepted spellings.


@pytest.mark.parametrize(
    "content",
    [
        b"original_row\n3\n1\n2\n",
        b"original_row\n3\n1\n2",
        b"original_row\r\n3\r\n1\r\n2\r\n",
        b"original_row\r3\r1\r2\r",
        b"\xef\xbb\xbforiginal_row\n3\n1\n2\n",
        b'"original_row"\n3\n1\n2\n',
        b" original_row \n 3\n1 \n\t2\n",
        b"original_row\n03\n001\n2\n",
        b"original_row\n3\n1\n2\n\n\r\n",
        b'"original_row"\r\n"3"\r\n"1"\r\n"2"\r\n',
    ],
)
def test_equivalent_spellings_of_a_secret_are_accepted(content: bytes) -> None:
    assert parse_secret(content, original_count=4, anonymized_count=3).tolist() == [2, 0, 1]


# Refused secrets.


@pytest.mark.parametrize(
    ("content", "code", "rows"),
    [
        (b"", "secret_header", [None]),
        (b"\n3\n1\n2\n", "secret_header", [None]),
        (b"Original_Row\n3\n1\n2\n", "secret_header", [None]),
        (b'"original_row\n3\n1\n2\n', "secret_header", [None]),
        (b"original_row,anonymized_row\n3,1\n1,2\n2,3\n", "secret_header", [None]),
        (b"original_row\n3\n1\n\xff\n", "encoding", [3]),
        (b"original_row\n3\n1\n2\x00\n", "control_character", [3]),
        (b"original_row\n", "wrong_length", [None]),
        (b"original_row\n3\n1\n2\n4\n", "wrong_length", [None]),
        (b"anonymized_row\n3\n1\n2\n", "wrong_length", [None]),
        (b"original_row\n3\n1,\n2\n", "ragged_row", [2]),
        (b'original_row\n"3\n1\n2\n', "unclosed_quote", [1]),
        (b"original_row\n3\n\n2\n", "not_a_row_number", [2]),
        (b"original_row\n0x3\n1e0\n2_0\n", "not_a_row_number", [1, 2, 3]),
        ("original_row\n３\n1\n²\n".encode(), "not_a_row_number", [1, 3]),
        (b"original_row\n3\n1\n9999999999\n", "not_a_row_number", [3]),
        (b"original_row\n3\n0\n2\n", "out_of_range", [2]),
        (b"original_row\n3\n1\n5\n", "out_of_range", [3]),
        (b"anonymized_row\n2\n0\n1\n4\n", "out_of_range", [4]),
        (b"anonymized_row\n2\n3\n1\n5\n", "out_of_range", [4]),
        (b"original_row\n3\n3\n3\n", "duplicate_row", [2, 3]),
        (b"anonymized_row\n2\n0\n1\n2\n", "duplicate_row", [4]),
        ("original_row\n\ufeff3\n1\n2\u200e\n".encode(), "invisible_character", [1, 3]),
        (b"anonymized_row\n2\n0\n1\n0\n", "missing_row", [None]),
        (b"anonymized_row\n2\n3\n1\n4\n", "missing_row", [None]),
    ],
)
def test_invalid_secret_is_refused_with_code_and_rows(
    content: bytes, code: str, rows: list[int | None]
) -> None:
    error = expect_refusal(content)
    assert [problem.row for problem in error.problems] == rows
    assert {problem.code for problem in error.problems} == {code}
    assert {problem.file for problem in error.problems} == {"secret"}
    assert error.total == len(rows)


def test_all_problems_of_a_secret_are_reported() -> None:
    (problem,) = expect_refusal(b"original_row\n2\n0\n1\n").problems
    assert (problem.code, problem.line, problem.column) == ("out_of_range", 3, "original_row")
    assert str(problem.message) == "original_row, row 2: 0, but rows are counted from 1"
    problems = expect_refusal(b"original_row\n7\nx\n").problems
    assert [(problem.code, problem.row, problem.line, problem.value) for problem in problems] == [
        ("wrong_length", None, None, None),
        ("out_of_range", 1, 2, None),
        ("not_a_row_number", 2, 3, None),
    ]


@pytest.mark.parametrize(
    ("content", "codes"),
    [
        (b"original_row\n3\n1\n3\n5\n", ["duplicate_row", "out_of_range"]),
        (b"original_row\n1\n2\n3\n4\n1\n", ["wrong_length", "duplicate_row"]),
        (b"anonymized_row\n2\n1\n", ["wrong_length"]),
    ],
)
def test_secret_without_release_is_checked_for_general_problems(content: bytes, codes: list[str]) -> None:
    with pytest.raises(InvalidUpload) as excinfo:
        parse_secret(content, original_count=4, anonymized_count=None)
    assert [problem.code for problem in excinfo.value.problems] == codes


@pytest.mark.parametrize("content", ["\ufeff\ufefforiginal_row\n3\n1\n2\n", "original\u202e_row\n3\n1\n2\n"])
def test_invisible_character_in_the_first_line_is_named(content: str) -> None:
    message = str(expect_refusal(content.encode()).problems[0].message)
    code = "U+202E" if "\u202e" in content else "U+FEFF"
    assert message == f"the first line has invisible characters: {code}"


# Messages never repeat the secret.


@pytest.mark.parametrize(
    "header", ["original_row", "anonymized_row", CANARY, f'"{CANARY}', f"original_row,{CANARY}"]
)
@pytest.mark.parametrize(
    "lines",
    [
        [CANARY] * 3,
        [CANARY, "1", "2"],
        ["1", f"{CANARY}.0", "x"],
        [CANARY, CANARY, "", "", ""],
        [f"{CANARY},1", "1", "2"],
        [f"{CANARY}\x00", "1", "2"],
        [f"{CANARY}\udcff", "1", "2"],
    ],
)  # fmt: skip
def test_messages_do_not_repeat_values_of_the_secret(header: str, lines: list[str]) -> None:
    content = "\n".join([header, *lines]).encode(errors="surrogateescape")
    error = expect_refusal(content, originals=3)
    assert CANARY not in repr(error.problems)
    assert CANARY not in str(error)
    assert error.__cause__ is None
    assert error.__suppress_context__ or error.__context__ is None


def test_messages_do_not_repeat_duplicate_rows() -> None:
    originals = int(CANARY)
    error = expect_refusal(f"original_row\n{CANARY}\n1\n{CANARY}\n".encode(), originals=originals)
    assert [(problem.row, problem.code) for problem in error.problems] == [(3, "duplicate_row")]
    assert CANARY not in repr(error.problems)


@hostile_examples
@given(
    content=st.binary(max_size=40),
    prefix=st.sampled_from(
        [b"", b"original_row\n", b"anonymized_row\r\n1\r\n", b"\xef\xbb\xbforiginal_row\n"]
    ),
    shape=st.tuples(st.integers(1, 3), st.integers(1, 3)),
)
@example(content="1\n²\n".encode(), prefix=b"original_row\n", shape=(2, 2))
@example(content="\x1c1\n\x852".encode(), prefix=b"original_row\n", shape=(2, 2))
def test_random_bytes_are_read_or_refused(content: bytes, prefix: bytes, shape: tuple[int, int]) -> None:
    originals, anonymized = shape
    try:
        source = parse_secret(prefix + content, original_count=originals, anonymized_count=anonymized)
    except InvalidUpload:
        return
    assert len(set(source.tolist())) == anonymized == len(source)
    assert set(source.tolist()) <= set(range(originals))


def test_huge_secret_is_refused() -> None:
    for body in (b"1\n" * 60_000_000, b"1" * 60_000_000):
        assert expect_refusal(b"original_row\n1\n" + body).problems


# Releases in the original's order.


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ([], False),
        ([0, 1], True),
        ([1, 0], False),
        ([1, 2, 3, 0], False),
        ([2, 3, 4, 5], True),
        ([0, 1, 2, 5, 4, 3], True),
        ([0, 1, 5, 2, 4, 3], False),
        ([0, 1, 3, 4, 6, 7, 9], True),
        ([5, 1, 2, 3, 4, 0], True),
    ],
)
def test_release_in_almost_original_order_is_detected(source: list[int], expected: bool) -> None:
    assert is_in_original_order(np.array(source, dtype=np.int64)) is expected


def test_all_problems_of_a_guess_are_reported() -> None:
    with pytest.raises(InvalidUpload) as excinfo:
        parse_guess("original_row\n7\nx\n\u202e1\n0\n".encode(), original_count=4, anonymized_count=3)
    assert [
        (problem.code, problem.row, problem.line, problem.value) for problem in excinfo.value.problems
    ] == [
        ("wrong_length", None, None, None),
        ("out_of_range", 1, 2, "7"),
        ("not_a_row_number", 2, 3, "x"),
        ("invisible_character", 3, 4, "\u202e1"),
    ]
    for content in (b"guess\n1\n2\n0\n", b"3\nx\n1\n", b"anonymized_row\n1\n2\n0\n"):
        with pytest.raises(InvalidUpload) as excinfo:
            parse_guess(content, original_count=4, anonymized_count=3)
        assert [(problem.code, problem.line) for problem in excinfo.value.problems] == [("guess_header", 1)]
