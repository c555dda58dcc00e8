"""Messages about files, rules and releases are translated, with their values."""

import re
from collections.abc import Callable

import pytest

from anoncup.errors import InvalidUpload
from anoncup.messages import Message
from anoncup.rules.settings import Columns
from anoncup.tracks.linkage.permutation import parse_guess, parse_secret
from anoncup.tracks.microdata import tables
from app.core.locale.language import LANGUAGES, load_translator
from app.core.pages.language import translate_sentence
from tests.support.arena import build_original_table

EN, JA = (load_translator(language) for language in LANGUAGES)
ENGLISH_PHRASE = re.compile(r"[A-Za-z]+ [a-z]+ [a-z]+")
"""Three English words in a row, which no name or code contains."""
COLUMNS = Columns(("sex", "age"), ("income", "rent"))
ORIGINAL = build_original_table()
HEADER = b"sex,age,income,rent\n"
UPLOAD_ERRORS: dict[str, Callable[[], object]] = {
    "ragged": lambda: parse_release(HEADER + b"f,20,1\n"),
    "not a number": lambda: parse_release(HEADER + b"f,20,1,1\nf,20,x,1\nf,20,,1\nf,20,1e999,1\n"),
    "wrong name": lambda: parse_release(b"sex,Alter,income,rent\nf,20,1,1\n"),
    "no rows": lambda: parse_release(HEADER),
    "open quote": lambda: parse_release(HEADER + b'"f,20,1,1\n'),
    "secret range": lambda: parse_secret(b"original_row\n1\n4\n", original_count=3, anonymized_count=2),
    "guess length": lambda: parse_guess(b"original_row\n1\n", original_count=3, anonymized_count=2),
}
"""Errors of each kind. That all messages are translated is tested in ``test_messages`` and ``make check``."""


def parse_release(content: bytes) -> object:
    return tables.parse_release(content, ORIGINAL, COLUMNS)


@pytest.mark.parametrize("case", UPLOAD_ERRORS)
def test_file_errors_are_translated_and_name_the_row(case: str) -> None:
    with pytest.raises(InvalidUpload) as excinfo:
        UPLOAD_ERRORS[case]()
    for problem in excinfo.value.problems:
        japanese, english = translate_sentence(problem.message, JA), translate_sentence(problem.message, EN)
        assert not ENGLISH_PHRASE.search(japanese), japanese
        assert japanese.endswith("。")
        assert english[0].isupper() or problem.message.template.startswith("{")
        assert english.endswith(".")
        if problem.row:
            assert japanese.startswith(f"{problem.row} 行目")
            assert f"{problem.row}" in english


def test_file_errors_keep_their_values() -> None:
    with pytest.raises(InvalidUpload) as excinfo:
        UPLOAD_ERRORS["not a number"]()
    first = excinfo.value.problems[0].message
    assert translate_sentence(first, JA) == "2 行目、income 列：10 進数ではありません。"
    assert translate_sentence(first, EN) == "income, row 2: not a decimal number."
    header = Message("column {place} is {found!r}; it must be {name!r}", place=2, found='年"齢', name="it's")
    assert translate_sentence(header, JA) == "ヘッダー行の 2 列目は「年\"齢」です（「it's」としてください）。"
    assert translate_sentence(header, EN) == "Column 2 is '年\"齢'; it must be \"it's\"."


def test_message_without_translation_stays_english() -> None:
    unknown = Message("something went wrong")
    assert translate_sentence(unknown, EN) == "Something went wrong."
    assert translate_sentence(unknown, JA) == "something went wrong"
    assert translate_sentence(Message("{name}: new", name="x"), EN) == "x: new."


def test_library_messages_are_omitted_in_other_languages() -> None:
    for source in ("header line", "request"):
        message = Message(f"the {source} cannot be read: {{reason}}", reason="unexpected end of data")
        assert "unexpected" in translate_sentence(message, EN)
        assert not ENGLISH_PHRASE.search(translate_sentence(message, JA))


def test_control_characters_in_values_are_made_visible() -> None:
    message = Message(
        "column {place} is {found!r}; it must be {name!r}", place=1, found="a\0\x1b\x7f", name="b"
    )
    assert "a␀␛␡" in translate_sentence(message, JA)
