"""Files that are not UTF-8 CSV are recognized, and problems never repeat the content of a secret."""

import bz2
import gzip
import io
import lzma
import zipfile
from collections.abc import Callable

import pytest

from anoncup.errors import FileProblem, InvalidUpload
from anoncup.tables.checks import check_header
from anoncup.tables.csv_text import decode_upload, redact_values
from anoncup.tables.foreign_formats import (
    reject_foreign_formats,
)
from anoncup.tracks.linkage.permutation import parse_guess, parse_secret

pytestmark = pytest.mark.full

TABLE = "name,age\nAna,20\nEva,30\n"


def expect_problem(content: bytes) -> FileProblem:
    with pytest.raises(InvalidUpload) as excinfo:
        decode_upload(content, "anonymized")
    (problem,) = excinfo.value.problems
    return problem


@pytest.mark.parametrize(
    ("encoding", "name"),
    [
        ("utf-16", "UTF-16 (in Excel “Unicode Text”)"),
        ("utf-16-le", "UTF-16 (in Excel “Unicode Text”)"),
        ("utf-16-be", "UTF-16 (in Excel “Unicode Text”)"),
        ("utf-32", "UTF-32"),
    ],
)
@pytest.mark.parametrize("text", [TABLE, TABLE.replace(",", "\t"), "年齢,性別\n20,男\n" * 40])
def test_wide_encodings_are_recognized(encoding: str, name: str, text: str) -> None:
    problem = expect_problem(text.encode(encoding))
    assert (problem.code, problem.row) == ("encoding", None)
    assert str(problem.message) == f"the file was saved as {name}: save it as “CSV UTF-8”"


@pytest.mark.parametrize("content", [b"a,b\n1,\x00\n", b"\x00" * 40, b"a,b\n", b"", b"\x00"])
def test_nul_bytes_alone_are_not_mistaken_for_utf16(content: bytes) -> None:
    assert decode_upload(content, "anonymized") == (content, [])


@pytest.mark.parametrize("magic", [b"PK\x03\x04\x14\x00", b"\xd0\xcf\x11\xe0\xa1"])
def test_spreadsheets_are_recognized_in_every_kind_of_file(magic: bytes) -> None:
    message = "this is a spreadsheet (Excel), not CSV: save it as “CSV UTF-8” and choose that file"
    assert str(expect_problem(magic).message) == message
    with pytest.raises(InvalidUpload, match="spreadsheet"):
        parse_guess(magic, original_count=2, anonymized_count=2)
    with pytest.raises(InvalidUpload, match="spreadsheet"):
        parse_secret(magic, original_count=2, anonymized_count=2)


@pytest.mark.parametrize(
    ("content", "line", "byte", "sign"),
    [
        ("name,age\nAna,20\nZoë,30\n".encode("cp1252"), 3, "0xEB", "ë"),
        ("name,note\nA,“x”\n".encode("cp1252"), 2, "0x94", "”"),
        ("é,age\n".encode("latin-1"), 1, "0xE9", "é"),
        (("日本,1\n" * 9).encode() + b"\xff\n", 10, "0xFF", "ÿ"),
        (("日本,1\n" * 9).encode("cp932") + b"\xa0,\n", 10, "0xA0", None),
        (b"a,b\n\x81,1\n", 2, "0x81", None),
    ],
)  # fmt: skip
def test_other_code_pages_are_reported_with_line_and_character(
    content: bytes, line: int, byte: str, sign: str | None
) -> None:
    problem = expect_problem(content)
    assert (problem.code, problem.line, problem.row) == ("encoding", line, line - 1 or None)
    assert problem.message.values.get("byte") == byte
    assert problem.message.values.get("sign") == sign
    assert f"line {line} holds the byte {byte}" in str(problem.message)


def test_bytes_of_secrets_are_not_reported() -> None:
    with pytest.raises(InvalidUpload) as excinfo, redact_values():
        decode_upload("a\nZoë\n".encode("cp1252"), "secret")
    (problem,) = excinfo.value.problems
    assert (str(problem.message), problem.line, problem.value) == ("the file is not UTF-8 text", 2, None)
    assert problem.describe()["values"] == {}


def list_header_messages(header: list[str], expected: list[str]) -> list[str]:
    with pytest.raises(InvalidUpload) as excinfo:
        check_header(header, expected, "anonymized")
    assert {problem.line for problem in excinfo.value.problems} == {1}
    assert {problem.code for problem in excinfo.value.problems} == {"header"}
    return [str(problem.message) for problem in excinfo.value.problems]


LABELS = (
    "the first column holds row labels: write the file without them; in pandas use to_csv(…, index=False)"
)


@pytest.mark.parametrize(
    ("header", "message"),
    [
        *[([name, "a", "b"], LABELS) for name in ("", "index", "Unnamed: 0")],
        (["a;b"], "the cells are separated by semicolons; use commas instead"),
        (["a\tb"], "the cells are separated by tabs; use commas instead"),
        (["1", "x"], "the first line names none of the columns: it must be a,b"),
        (["a"], "the header lacks these columns: b"),
    ],
)
def test_typical_mistakes_in_a_header_are_explained(header: list[str], message: str) -> None:
    assert list_header_messages(header, ["a", "b"]) == [message]


def build_archive(name: str) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as zip_file:
        zip_file.writestr(name, "a,b\n1,2\n")
    return content.getvalue()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("release/Y.CSV", "this is a ZIP archive: unpack it and choose the CSV file in it"),
        ("release/", "this is a ZIP archive: unpack it and choose the CSV file in it"),
        (
            "[Content_Types].xml",
            "this is a spreadsheet (Excel), not CSV: save it as “CSV UTF-8” and choose that file",
        ),
    ],
)
def test_zip_archives_are_not_mistaken_for_spreadsheets(name: str, message: str) -> None:
    with pytest.raises(InvalidUpload) as excinfo:
        reject_foreign_formats(build_archive(name), "anonymized")
    assert [(problem.code, str(problem.message)) for problem in excinfo.value.problems] == [
        ("encoding", message)
    ]


@pytest.mark.parametrize(
    ("name", "compress"), [("gzip", gzip.compress), ("bzip2", bz2.compress), ("xz", lzma.compress)]
)
def test_compressed_files_are_named_in_every_kind_of_file(
    name: str, compress: Callable[[bytes], bytes]
) -> None:
    message = f"this is a {name} archive: unpack it and choose the CSV file in it"
    assert str(expect_problem(compress(TABLE.encode())).message) == message
    for read in (parse_secret, parse_guess):
        with pytest.raises(InvalidUpload, match=message):
            read(compress(b"original_row\n1\n"), original_count=1, anonymized_count=1)


@pytest.mark.parametrize(
    ("header", "message"),
    [
        (",original_row", "the first column holds row labels"),
        ('"","anonymized_row"', "the first column holds row labels"),
        ("id;original_row", "the file has 2 columns; it must have one"),
        ("a,b,original_row", "the file has 3 columns; it must have one"),
    ],
)
def test_extra_columns_of_a_secret_or_guess_are_reported(header: str, message: str) -> None:
    content = f"{header}\n0,1\n1,2\n".encode()
    for read, code in ((parse_secret, "secret_header"), (parse_guess, "guess_header")):
        with pytest.raises(InvalidUpload) as excinfo:
            read(content, original_count=2, anonymized_count=2)
        (problem,) = excinfo.value.problems
        assert problem.code == code
        assert problem.line == 1
        assert str(problem.message).startswith(message)


def test_header_errors_are_reported_by_column() -> None:
    assert list_header_messages(["id", "a", "b"], ["a", "b"])[0] == "the header has 3 columns instead of 2"
    assert list_header_messages(["B", "c"], ["a", "b"]) == [
        "column 1 is 'B'; it must be 'a'",
        "column 2 is 'c'; it must be 'b'",
    ]
    assert list_header_messages(["a;b"], ["a"]) == ["column 1 is 'a;b'; it must be 'a'"]
