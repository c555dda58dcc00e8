"""What programs save that is no CSV in UTF-8: each is told by what it is, and nothing of a secret with it."""

import codecs
import io
import zipfile

import pytest

from anoncup.errors import InvalidUpload, Problem
from anoncup.tables.csv_text import decoded, unrepeated
from anoncup.tables.foreign_formats import PIECE, first_foreign, is_no_text, refuse_foreign
from anoncup.tables.header import check_header
from anoncup.tracks.linkage.permutation import guess_from_file, source_from_secret

pytestmark = pytest.mark.full

TABLE = "name,age\nAna,20\nEva,30\n"


def refusal(content: bytes) -> Problem:
    with pytest.raises(InvalidUpload) as caught:
        decoded(content, "anonymized")
    (problem,) = caught.value.problems
    return problem


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("text", [TABLE, TABLE.replace(",", "\t"), "年齢,性別\n20,男\n" * 40])
def test_unicode_text_of_a_spreadsheet_is_called_so(encoding: str, text: str) -> None:
    problem = refusal(text.encode(encoding))
    assert (problem.code, problem.row) == ("encoding", None)
    assert str(problem.message) == (
        "the file was saved as UTF-16 (in Excel “Unicode Text”): save it as “CSV UTF-8”"
    )


def test_a_file_in_utf32_is_called_so() -> None:
    problem = refusal(TABLE.encode("utf-32"))
    assert (problem.code, str(problem.message)) == (
        "encoding",
        "the file was saved as UTF-32: save it as “CSV UTF-8”",
    )


@pytest.mark.parametrize("content", [b"a,b\n1,\x00\n", b"\x00" * 40, b"a,b\n", b"", b"\x00"])
def test_other_nuls_are_not_taken_for_it(content: bytes) -> None:
    assert decoded(content, "anonymized") == (content, [])


@pytest.mark.parametrize("begun", [b"PK\x03\x04\x14\x00", b"\xd0\xcf\x11\xe0\xa1"])
def test_a_spreadsheet_is_called_so_in_every_file(begun: bytes) -> None:
    said = "this is a spreadsheet (Excel), not CSV: save it as “CSV UTF-8” and choose that file"
    assert str(refusal(begun).message) == said
    with pytest.raises(InvalidUpload, match="spreadsheet"):
        guess_from_file(begun, originals=2, anonymized=2)
    with pytest.raises(InvalidUpload, match="spreadsheet"):
        source_from_secret(begun, originals=2, anonymized=2)


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
def test_another_code_page_is_told_with_line_byte_and_sign(
    content: bytes, line: int, byte: str, sign: str | None
) -> None:
    problem = refusal(content)
    assert (problem.code, problem.line, problem.row) == ("encoding", line, line - 1 or None)
    assert problem.message.values.get("byte") == byte
    assert problem.message.values.get("sign") == sign
    assert f"line {line} holds the byte {byte}" in str(problem.message)


def test_of_a_secret_no_byte_is_told() -> None:
    with pytest.raises(InvalidUpload) as caught, unrepeated():
        decoded("a\nZoë\n".encode("cp1252"), "secret")
    (problem,) = caught.value.problems
    assert (str(problem.message), problem.line, problem.value) == ("the file is not UTF-8 text", 2, None)
    assert problem.told()["values"] == {}


@pytest.mark.parametrize("at", [0, PIECE - 2, PIECE - 1, PIECE, 2 * PIECE])
@pytest.mark.parametrize("bad", [b"\xff", b"\xe6\x97x", b"\xed\xa0\x80", b"\xe6\x97"])
def test_the_first_foreign_byte_is_found_wherever_pieces_end(at: int, bad: bytes) -> None:
    content = b"a" * at + bad
    with pytest.raises(UnicodeDecodeError) as caught:
        content.decode()
    assert first_foreign(content) == caught.value.start
    assert first_foreign(b"a" * at + "日".encode()) is None
    assert first_foreign(codecs.BOM_UTF8) is None


def said_of(header: list[str], expected: list[str]) -> list[str]:
    with pytest.raises(InvalidUpload) as caught:
        check_header(header, expected, "anonymized")
    assert {each.line for each in caught.value.problems} == {1}
    assert {each.code for each in caught.value.problems} == {"header"}
    return [str(each.message) for each in caught.value.problems]


def test_what_programs_write_unasked_is_called_by_its_name() -> None:
    labels = (
        "the first column holds row labels: write the file without them; in pandas use to_csv(…, index=False)"
    )
    for name in ("", "index", "Unnamed: 0"):
        assert said_of([name, "a", "b"], ["a", "b"]) == [labels]
    assert said_of(["a;b"], ["a", "b"]) == ["the cells are separated by semicolons; use commas instead"]
    assert said_of(["a\tb"], ["a", "b"]) == ["the cells are separated by tabs; use commas instead"]


def test_a_file_without_its_header_line_is_told_the_line_and_not_each_cell() -> None:
    assert said_of(["1", "x"], ["a", "b"]) == ["the first line names none of the columns: it must be a,b"]
    many = [f"c{place}" for place in range(10)]
    told = "the first line names none of the columns: it must be c0,c1,c2,c3,c4,c5,c6,c7,… (+2)"
    assert said_of(["7"] * 10, many) == [told]


def archive(name: str) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as written:
        written.writestr(name, "a,b\n1,2\n")
    return content.getvalue()


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("release/Y.CSV", "this is a ZIP archive: unpack it and choose the CSV file in it"),
        (
            "[Content_Types].xml",
            "this is a spreadsheet (Excel), not CSV: save it as “CSV UTF-8” and choose that file",
        ),
    ],
)
def test_an_archive_of_a_table_is_no_spreadsheet(name: str, told: str) -> None:
    with pytest.raises(InvalidUpload) as caught:
        refuse_foreign(archive(name), "anonymized")
    assert [(each.code, str(each.message)) for each in caught.value.problems] == [("encoding", told)]
    assert is_no_text(archive(name))


@pytest.mark.parametrize(
    ("header", "told"),
    [
        (",original_row", "the first column holds row labels"),
        ('"","anonymized_row"', "the first column holds row labels"),
        ("id;original_row", "the file has 2 columns; it must have one"),
        ("a,b,original_row", "the file has 3 columns; it must have one"),
    ],
)
def test_columns_beside_the_one_of_a_secret_or_guess_are_told(header: str, told: str) -> None:
    content = f"{header}\n0,1\n1,2\n".encode()
    for read, code in ((source_from_secret, "secret_header"), (guess_from_file, "guess_header")):
        with pytest.raises(InvalidUpload) as caught:
            read(content, originals=2, anonymized=2)
        (problem,) = caught.value.problems
        assert problem.code == code
        assert problem.line == 1
        assert str(problem.message).startswith(told)


def test_what_is_no_such_habit_is_told_column_by_column() -> None:
    assert said_of(["id", "a", "b"], ["a", "b"])[0] == "the header has 3 columns instead of 2"
    assert said_of(["B", "c"], ["a", "b"]) == [
        "column 1 is 'B'; it must be 'a'",
        "column 2 is 'c'; it must be 'b'",
    ]
    assert said_of(["a;b"], ["a"]) == ["column 1 is 'a;b'; it must be 'a'"]
    assert said_of(["a"], ["a", "b"]) == ["the header has 1 column instead of 2"]
