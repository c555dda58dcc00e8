"""Messages about files, rules and releases are translated, with their values."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from anoncup.competition.parser import parse_competition
from anoncup.errors import DomainError, InvalidUpload
from anoncup.excessive.rejection_rule import IndividualDistances, explain_excess
from anoncup.geometry.assignment import Assignment, describe_assignment
from anoncup.messages import Message
from anoncup.plugins import TRACKS
from anoncup.rules.settings import Columns, Excessive
from anoncup.tables import csv_text
from anoncup.tables.respelling import build_respelled_remark
from anoncup.tracks.linkage.permutation import ORIGINAL_ORDER_REMARK, parse_guess, parse_secret
from anoncup.tracks.microdata import tables
from app.locale.language import LANGUAGES, load_translator
from app.services.contests.revisions import build_missing_file_remark
from app.web.site.sentences import translate_sentence
from tests.support.arena import build_original_table
from tests.support.catalogues import extract_template
from tests.support.competition_texts import MINIMAL

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
"""Errors of each kind. That all messages are translated is tested in ``test_messages`` and ``test_wording``."""


def parse_release(content: bytes) -> object:
    return tables.parse_release(content, ORIGINAL, COLUMNS)


INVALID_TABLES = {
    "[measures.mean_mae]\nweight = -1": "measures.mean_mae",
    "[measures.cross_mean]\ncolumns = ['z']": "z",
    "[attackers.euc1]\ngive_up = 'never'": "abstain",
    "[limits]\nmiles = 0": "limits.miles",
    "= 1": "1 行目",
    "[": "11 行目",
    "phases = 1": "phases",
}
INVALID_ROOT_KEYS = {'slug = "Demo"': "slug", 'title = ""': "title", 'timezone = "Tokyo"': "timezone"}


def collect_problems() -> list[tuple[DomainError, str]]:
    """Return the error of each invalid competition file and the value that its message must contain."""
    texts = [
        (f"{MINIMAL}\n{more}\n" if "[" in more else f"{more}\n{MINIMAL}", name)
        for more, name in INVALID_TABLES.items()
    ]
    texts += [(re.sub(rf"(?m)^{key} = .*$", line, MINIMAL), key) for line, key in INVALID_ROOT_KEYS.items()]
    texts.append((MINIMAL.replace('["x", "y"]', '["x", "a"]'), "a"))
    cases = []
    for text, name in texts:
        with pytest.raises(DomainError) as excinfo:
            parse_competition(text)
        cases.append((excinfo.value, name))
    return cases


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
    assert translate_sentence(first, JA) == "2 行目、income 列：10 進数の数値ではありません。"
    assert translate_sentence(first, EN) == "income, row 2: not a decimal number."
    header = Message("column {place} is {found!r}; it must be {name!r}", place=2, found='年"齢', name="it's")
    assert translate_sentence(header, JA) == "ヘッダー行の 2 列目は「年\"齢」です（「it's」としてください）。"
    assert translate_sentence(header, EN) == "Column 2 is '年\"齢'; it must be \"it's\"."


@pytest.mark.parametrize(("problem", "value"), collect_problems())
def test_competition_file_errors_name_the_key(problem: DomainError, value: str) -> None:
    japanese = translate_sentence(problem.message, JA)
    assert value in japanese
    assert not ENGLISH_PHRASE.search(japanese), japanese
    assert value.split(maxsplit=1)[0] in translate_sentence(problem.message, EN)


def test_attacker_notes_are_translated_with_numbers() -> None:
    no_match = np.full(3, -1)
    for rows in (0, 17):
        japanese = translate_sentence(
            describe_assignment(Assignment(no_match, rows), rows=8333, dense_limit=1000), JA
        )
        assert "8,333 行（1,000 行超）" in japanese
        assert not ENGLISH_PHRASE.search(japanese)
        assert ("17 行" in japanese) == bool(rows)


def test_rejection_states_the_distance_and_the_threshold() -> None:
    distances = IndividualDistances("gower", np.array([0.1, 0.0595123456]))
    gower = TRACKS["microdata"].distances["gower"]
    no_release: Any = None  # the average rule does not need it
    rejected = explain_excess(no_release, gower, distances, Excessive(threshold=0.07))
    assert rejected is not None
    japanese = translate_sentence(rejected, JA)
    assert all(part in japanese for part in ("Gower 距離", "平均", "0.0797562", "0.07"))
    english = "The mean Gower distance of individuals is 0.0797562; at most 0.07 is allowed."
    assert translate_sentence(rejected, EN) == english


@pytest.mark.parametrize(
    ("distance", "expected"), [(1234567.8, "1.23457e+06"), (2.0, "2"), (0.1 + 0.2, "0.3"), (1e300, "1e+300")]
)
def test_rejection_shows_six_digits_of_a_distance(distance: float, expected: str) -> None:
    distances = IndividualDistances("euclidean", np.array([distance]))
    no_release: Any = None
    measure = TRACKS["microdata"].distances["euclidean"]
    rejected = explain_excess(no_release, measure, distances, Excessive(threshold=0.07))
    assert rejected is not None
    text = f"the mean euclidean distance of individuals is {expected}; at most 0.07 is allowed"
    assert str(rejected) == text
    assert f"{expected} で" in translate_sentence(rejected, JA)


def test_distances_are_named_in_every_language() -> None:
    for track in TRACKS.values():
        for distance in track.distances.values():
            message = build_deletion_message(distance.name)
            assert distance.name not in translate_sentence(message, EN)
            assert distance.name not in translate_sentence(message, JA)
    assert translate_sentence(build_deletion_message("jaccard_quantity"), EN).startswith(
        "Under the Jaccard (quantities) distance,"
    )


def build_deletion_message(name: str) -> Message:
    return Message(
        "under the {distance} distance, which has no bound, every individual must be kept",
        distance=Message(name),
    )


def test_message_without_translation_is_replaced_by_the_fallback() -> None:
    unknown = Message("something went wrong")
    outer = Message("the competition's file cannot be read: {reason}", reason=unknown)
    for message in (unknown, outer):
        assert translate_sentence(message, JA, "代わり") == "代わり"
        assert translate_sentence(message, EN, "instead").endswith("omething went wrong.")
    assert translate_sentence(unknown, EN) == "Something went wrong."
    assert translate_sentence(unknown, JA) == "something went wrong"
    assert translate_sentence(Message("{name}: new", name="x"), EN) == "x: new."
    name = Message("the {phase} phase is not open", phase=Message("some_phase"))
    assert "some_phase" in translate_sentence(name, JA, "代わり")


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


def test_warnings_are_fully_translated() -> None:
    remarks = [
        ORIGINAL_ORDER_REMARK,
        build_missing_file_remark("transactions"),
        build_respelled_remark("age", "09-May", "5-9"),
        *csv_text.decode_upload("女".encode("cp932"), "a")[1],
    ]
    for remark in remarks:
        assert not ENGLISH_PHRASE.search(translate_sentence(remark.message, JA))
    assert "transactions.csv" in translate_sentence(remarks[1].message, JA)
    assert "age" in translate_sentence(remarks[2].message, JA)


@pytest.mark.full
def test_catalogues_contain_no_command_messages() -> None:
    source_paths = {path for message in extract_template() for path, _ in message.locations}
    assert source_paths
    assert {path.split("/")[1] for path in source_paths} & {"cli", "client", "backup"} == set()
