"""Uploaded tables in other encodings, and numbers that are spelled anew."""

import pytest

from anoncup.rules.settings import Columns
from anoncup.tables.csv_text import table_csv
from anoncup.tables.files import Remark
from anoncup.tracks.microdata.tables import parse_original, parse_release
from tests.scoring.table_files import (
    HEADER,
    SMALL,
    original,
    places,
    refusal,
)

# Text that is not UTF-8.


def test_shift_jis_is_read_and_said() -> None:
    found, remarks = parse_original("q,s\n表ソ①ﾊﾝ髙,1\n".encode("cp932"), SMALL, file="a.csv")
    assert found["q"].tolist() == ["表ソ①ﾊﾝ髙"]
    assert [remark.code for remark in remarks] == ["read_as_cp932"]
    assert "a.csv" in str(remarks[0].message)
    release, more = parse_release("q,s\n表,1\n".encode("cp932"), found, SMALL)
    assert release["q"].tolist() == ["表"]
    assert [remark.code for remark in more] == ["read_as_cp932"]


@pytest.mark.parametrize(
    "bad", [b"\xff", b"\xa0", b"\x80", b"\xfd\xfe", b"\x81\x20", b"\xf0\x40", b"\x85\x9f"]
)
def test_bytes_that_are_neither_utf8_nor_shift_jis_are_refused_with_their_row(bad: bytes) -> None:
    assert places(refusal(HEADER + b"x,1\ny" + bad + b",2\n")) == [(2, None, "encoding")]


def test_undecodable_bytes_in_the_header_have_no_row() -> None:
    assert places(refusal(b"\xffq,s\nx,1\n")) == [(None, None, "encoding")]
    (problem,) = refusal(b"a,b,x\n1,q,1\r1,q,2\r\n1,\xff\xfe,3\n").problems
    assert (problem.row, problem.line) == (3, 4)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32"])
def test_wider_encodings_are_refused(encoding: str) -> None:
    assert refusal("q,s\nx,1\n".encode(encoding)).problems[0].code in {"encoding", "header"}


# Numbers that are spelled anew.


@pytest.mark.parametrize(
    ("known", "released", "is_remarked"),
    [
        (["1", "2"], ["1.0"], True),
        (["1", "2"], ["01"], True),
        (["1.50"], ["1.5"], True),
        (["1000"], ["1e3"], True),
        (["0"], ["-0"], True),
        (["1", "2"], ["1", "2"], False),
        (["1", "1.0"], ["1.0"], False),
        (["1", "2"], ["3.0"], False),
        (["a", "b"], ["A"], False),
        (["1"], [" 1"], False),
        (["one"], ["1"], False),
        (["１"], ["1"], False),
        (["NA", "nan"], ["NaN"], False),
        ([""], ["0"], False),
    ],
)
def test_a_number_spelled_anew_is_accepted_with_a_remark(
    known: list[str], released: list[str], is_remarked: bool
) -> None:
    content = table_csv(original(*released))
    found, remarks = parse_release(content, original(*known), SMALL)
    assert found["q"].tolist() == released
    assert [remark.code for remark in remarks] == ["respelled"] * is_remarked
    assert all(str(remark.message).startswith("q:") for remark in remarks)


def test_every_column_spelled_anew_has_its_own_remark() -> None:
    columns = Columns(("a", "b", "c"), ("s",))
    table, _ = parse_original(b"a,b,c,s\n1,1,x,1\n", columns)
    remarks: list[Remark] = parse_release(b"a,b,c,s\n1.0,1e0,X,1.0\n", table, columns)[1]
    assert [str(remark.message).split(":")[0] for remark in remarks] == ["a", "b"]
