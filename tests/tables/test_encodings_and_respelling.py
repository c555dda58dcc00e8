"""Uploaded tables in other encodings and numbers in other spellings."""

import pytest

from anoncup.rules.settings import Columns
from anoncup.tables.csv_text import write_csv
from anoncup.tables.files import Remark
from anoncup.tracks.microdata.tables import parse_original, parse_release
from tests.support.table_files import HEADER, SMALL_COLUMNS, build_original, expect_refusal, list_problems


def test_shift_jis_is_read_with_a_remark() -> None:
    table, remarks = parse_original("q,s\n表ソ①ﾊﾝ髙,1\n".encode("cp932"), SMALL_COLUMNS, file="a.csv")
    assert table["q"].tolist() == ["表ソ①ﾊﾝ髙"]
    assert [remark.code for remark in remarks] == ["read_as_cp932"]
    assert "a.csv" in str(remarks[0].message)
    release, release_remarks = parse_release("q,s\n表,1\n".encode("cp932"), table, SMALL_COLUMNS)
    assert release["q"].tolist() == ["表"]
    assert [remark.code for remark in release_remarks] == ["read_as_cp932"]


@pytest.mark.parametrize(
    "invalid_bytes", [b"\xff", b"\xa0", b"\x80", b"\xfd\xfe", b"\x81\x20", b"\xf0\x40", b"\x85\x9f"]
)
def test_undecodable_bytes_are_refused_with_their_row(invalid_bytes: bytes) -> None:
    assert list_problems(expect_refusal(HEADER + b"x,1\ny" + invalid_bytes + b",2\n")) == [
        (2, None, "encoding")
    ]


def test_undecodable_bytes_in_the_header_have_no_row() -> None:
    assert list_problems(expect_refusal(b"\xffq,s\nx,1\n")) == [(None, None, "encoding")]
    (problem,) = expect_refusal(b"a,b,x\n1,q,1\r1,q,2\r\n1,\xff\xfe,3\n").problems
    assert (problem.row, problem.line) == (3, 4)


@pytest.mark.parametrize(
    ("original_texts", "released_texts", "is_remarked"),
    [
        (["1", "2"], ["1.0"], True),
        (["1.50"], ["1.5"], True),
        (["1000"], ["1e3"], True),
        (["0"], ["-0"], True),
        (["1", "2"], ["1", "2"], False),
        (["1", "1.0"], ["1.0"], False),
        (["1", "2"], ["3.0"], False),
        (["a", "b"], ["A"], True),
        (["1"], [" 1"], True),
        (["東京都"], ["東京都\u3000"], True),
        (["カナ", "１０代"], ["ｶﾅ"], True),
        (["１０代"], ["10代"], True),
        (["10–19"], ["10-19"], True),
        (["3〜4"], ["3～4"], True),
        (["", "1"], ["NA"], True),
        (["NA"], [""], True),
        (["", "1"], ["NaN"], True),
        (["NA", "nan"], ["NaN"], True),
        ([""], ["0"], False),
        (["f", "m"], ["NA"], False),
        *((["5-9", "10-14"], [date], True) for date in ("5/9", "05-09")),
        (["2011-05-09"], ["2011/5/9"], True),
        (["09:05"], ["9:05"], True),
        (["5-9", "10-14"], ["9-5"], False),
        (["10-19", "20-29"], ["10-29"], False),
    ],
)
def test_respelled_cell_is_accepted_with_a_remark(
    original_texts: list[str], released_texts: list[str], is_remarked: bool
) -> None:
    content = write_csv(build_original(*released_texts))
    release, remarks = parse_release(content, build_original(*original_texts), SMALL_COLUMNS)
    assert release["q"].tolist() == released_texts
    assert [remark.code for remark in remarks] == ["respelled"] * is_remarked
    assert all(str(remark.message).startswith("q:") for remark in remarks)


def test_remark_gives_an_example() -> None:
    (remark,) = parse_release(
        write_csv(build_original("10-14", "5.0")), build_original("5", "10-14"), SMALL_COLUMNS
    )[1]
    assert str(remark.message) == (
        "q: some cells are spelled differently from the original's, such as '5.0' for '5'; they are "
        "compared as text, so these cells count as changed"
    )


def test_each_respelled_column_has_a_remark() -> None:
    columns = Columns(("a", "b", "c"), ("s",))
    table, _ = parse_original(b"a,b,c,s\n1,1,x,1\n", columns)
    remarks: list[Remark] = parse_release(b"a,b,c,s\n1.0,1e0,y,1.0\n", table, columns)[1]
    assert [str(remark.message).split(":")[0] for remark in remarks] == ["a", "b"]
