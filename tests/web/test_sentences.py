"""What the service says of files, rules and releases, in both languages: with its values, and once."""

import re
from collections.abc import Callable

import numpy as np
import pytest

from anoncup.competition.parser import parse_competition
from anoncup.errors import DomainError, InvalidUpload
from anoncup.excessive.individual_distances import Distances, excess
from anoncup.geometry.assignment import Matching, note_of
from anoncup.messages import Message
from anoncup.plugins import TRACKS
from anoncup.rules.settings import Columns, Excessive
from anoncup.tables import checks, csv_text
from anoncup.tracks.linkage.permutation import IN_ORDER, guess_from_file, source_from_secret
from anoncup.tracks.microdata import tables
from anoncup.tracks.microdata.column_roles import suggested
from anoncup.tracks.transactions import tables as transaction_tables
from app.locale.language import LANGUAGES
from app.services.contests.revisions import awaited
from app.web.site.language import words_in
from app.web.site.sentences import sentence
from tests.scoring.competition_texts import LEAST
from tests.support.arena import original_table
from tests.support.catalogues import extracted

EN, JA = (words_in(language) for language in LANGUAGES)
ENGLISH = re.compile(r"[A-Za-z]+ [a-z]+ [a-z]+")
"""Three words in a row, as no name or code has them."""
COLUMNS = Columns(("sex", "age"), ("income", "rent"))
ORIGINAL = original_table()
HEAD = b"sex,age,income,rent\n"
SHOP = {
    "customers": b"customer_id,sex,birthday,country\n1,f,1980-01-01,France\n",
    "transactions": b"customer_id,receipt_id,date,time,goods,unit_price,quantity\n"
    b"1,r,2011-01-05,08:45,a,1,1\n",
}


def release(content: bytes) -> object:
    return tables.parse_release(content, ORIGINAL, COLUMNS)


def customers(line: str) -> object:
    return transaction_tables.parse_original(SHOP | {"customers": SHOP["customers"] + line.encode()})


def purchase(line: str) -> object:
    return transaction_tables.parse_original(SHOP | {"transactions": SHOP["transactions"] + line.encode()})


def secret(content: bytes) -> object:
    return source_from_secret(content, originals=3, anonymized=2)


def guess(content: bytes) -> object:
    return guess_from_file(content, originals=3, anonymized=2)


FAULTS: dict[str, Callable[[], object]] = {
    "ragged": lambda: release(HEAD + b"f,20,1\n"),
    "not a number": lambda: release(HEAD + b"f,20,1,1\nf,20,x,1\nf,20,,1\nf,20,1e999,1\n"),
    "control": lambda: release(HEAD + b"f\0,20,1,1\n"),
    "long": lambda: release(HEAD + b"f" * 1001 + b",20,1,1\n"),
    "wrong name": lambda: release(b"sex,Alter,income,rent\nf,20,1,1\n"),
    "too few columns": lambda: release(b"sex,age,income\nf,20,1\n"),
    "unreadable header": lambda: release(b'"sex"x,age,income,rent\nf,20,1,1\n'),
    "no header": lambda: release(b""),
    "no rows": lambda: release(HEAD),
    "too many rows": lambda: release(HEAD + b"f,20,1,1\n" * 41),
    "a million rows": lambda: csv_text.cells(b"a,b\n" * 1_000_003, ["a", "b"], "anonymized"),
    "no text": lambda: release(b"\xff\xfe\x00\x01"),
    "blank line": lambda: release(HEAD + b"f,20,1,1\n\nf,20,1,1\n"),
    "open quote": lambda: release(HEAD + b'"f,20,1,1\n'),
    "text after a quote": lambda: release(HEAD + b'"f"x,20,1,1\n'),
    "a column twice": lambda: tables.parse_original(b"sex,sex,age,income,rent\n", COLUMNS),
    "a column less": lambda: tables.parse_original(b"sex,age,income\n", COLUMNS),
    "a column more": lambda: tables.parse_original(b"sex,age,income,rent,more\n", COLUMNS),
    "another order": lambda: tables.parse_original(b"age,sex,income,rent\n", COLUMNS),
    "a new column twice": lambda: suggested(b"a,a\n1,2\n", COLUMNS),
    "one new column": lambda: suggested(b"a\n1\n", COLUMNS),
    "no numbers": lambda: suggested(b"a,b\nx,y\n", COLUMNS),
    "customer twice": lambda: customers("1,f,1980-01-01,France\n"),
    "no birthday": lambda: customers("2,f,soon,France\n"),
    "no id": lambda: customers(",f,1980-01-01,France\n"),
    "a bad purchase": lambda: purchase("9,r,soon,late,a,-1,0\n1,r,2011-01-05,08:45,a,1,9999999999999\n"),
    "secret header": lambda: secret(b"1\n2\n"),
    "secret bytes": lambda: secret(b"original_row\n\xff\n"),
    "secret NUL": lambda: secret(b"original_row\n\x00\n"),
    "secret length": lambda: secret(b"original_row\n1\n"),
    "secret range": lambda: secret(b"original_row\n1\n4\n"),
    "secret from 0": lambda: secret(b"original_row\n1\n0\n"),
    "secret words": lambda: secret(b"original_row\n1\nx\n"),
    "secret twice": lambda: secret(b"original_row\n1\n1\n"),
    "secret missing": lambda: secret(b"anonymized_row\n1\n0\n0\n"),
    "secret lines": lambda: secret(b"\n" * 5000),
    "secret of a longer original": lambda: secret(b"anonymized_row\n1\n"),
    "secret invisible": lambda: secret("original_row\n1\n\u200b2\n".encode()),
    "secret header invisible": lambda: secret("original_row\u200b\n1\n2\n".encode()),
    "guess header": lambda: guess(b"row\n1\n2\n"),
    "guess length": lambda: guess(b"original_row\n1\n"),
}


LIST = "quasi_identifiers = ['a', 'b']"
TABLES = {
    "[measures.mean_mae]\nweight = -1": "measures.mean_mae",
    "[measures.nothing]": "nothing",
    "[measures.k_min]\nweight = 1": "k_min",
    "[measures.cross_mean]\ncolumns = ['z']": "z",
    "[measures.cross_mean]\ncolumns = ['a', 'a']": "columns",
    "[measures.cross_mean]\ncolumns = 'a'": "columns",
    "[attackers.nobody]": "nobody",
    "[attackers.euc1]\ngive_up = 'never'": "abstain",
    "[attackers.euc1]\ncounts = 1": "counts",
    "[publication]\nfrozen_from = 1": "frozen_from",
    "[publication]\nreveal_notice_hours = -1": "reveal_notice_hours",
    "[limits]\nmin_rows_kept = 2": "min_rows_kept",
    "[limits]\nfile_mb = 0": "file_mb",
    "[limits]\nmiles = 0": "limits.miles",
    "measures = 1": "measures",
    "= 1": "1 行目",
    "[": "11 行目",
    "phases = 1": "phases",
    "[[phases]]\nname = 'anonymization'\nstart = 2027-01-02T00:00:00Z\nend = 2027-01-01T00:00:00Z": "phases",
}
ROOTS = {
    'slug = "Demo"': ("slug", "slug"),
    'title = ""': ("title", "title"),
    "": ("slug", "slug"),
    'timezone = "Tokyo"': ("timezone", "timezone"),
}


def refusals() -> list[tuple[DomainError, str]]:
    """What is really said of such competition files, and the value that has to be in it."""
    texts = [
        (f"{LEAST}\n{more}\n" if "[" in more else f"{more}\n{LEAST}", name) for more, name in TABLES.items()
    ]
    texts += [(re.sub(rf"(?m)^{key} = .*$", line, LEAST), name) for line, (key, name) in ROOTS.items()]
    texts.append((LEAST.replace('["x", "y"]', '["x", "a"]'), "a"))
    found = []
    for text, name in texts:
        with pytest.raises(DomainError) as caught:
            parse_competition(text)
        found.append((caught.value, name))
    return found


@pytest.mark.parametrize("case", FAULTS)
def test_a_fault_is_said_in_the_readers_language_with_its_place(case: str) -> None:
    with pytest.raises(InvalidUpload) as caught:
        FAULTS[case]()
    for problem in caught.value.problems:
        japanese, english = sentence(problem.message, JA), sentence(problem.message, EN)
        assert not ENGLISH.search(japanese), japanese
        assert japanese.endswith("。")
        assert english[0].isupper() or problem.message.template.startswith("{")
        assert english.endswith(".")
        if problem.row:
            assert japanese.startswith(f"{problem.row} 行目")
            assert f"{problem.row}" in english


def test_a_fault_keeps_its_values() -> None:
    with pytest.raises(InvalidUpload) as caught:
        FAULTS["not a number"]()
    first = caught.value.problems[0].message
    assert sentence(first, JA) == "2 行目、income 列：10 進数の数値ではありません。"
    assert sentence(first, EN) == "income, row 2: not a decimal number."
    header = Message("column {place} is {found!r}; it must be {name!r}", place=2, found='年"齢', name="it's")
    assert sentence(header, JA) == "ヘッダー行の 2 列目は「年\"齢」です（「it's」としてください）。"
    assert sentence(header, EN) == "Column 2 is '年\"齢'; it must be \"it's\"."


@pytest.mark.parametrize(("problem", "value"), refusals())
def test_what_is_wrong_in_a_competition_file_is_said_with_its_key(problem: DomainError, value: str) -> None:
    japanese = sentence(problem.message, JA)
    assert value in japanese
    assert not ENGLISH.search(japanese), japanese
    assert value.split(maxsplit=1)[0] in sentence(problem.message, EN)


def test_an_attackers_note_is_said_in_numbers() -> None:
    nobody = np.full(3, -1)
    for late in (0, 17):
        japanese = sentence(note_of(Matching(nobody, late), rows=8333, dense_limit=1000), JA)
        assert "8,333 行（1,000 行超）" in japanese
        assert not ENGLISH.search(japanese)
        assert ("17 行" in japanese) == bool(late)


def test_a_rejection_says_the_measured_and_the_allowed() -> None:
    far = Distances("gower", np.array([0.1, 0.0595123456]))
    gower = TRACKS["microdata"].distances["gower"]
    rejected = excess(None, gower, far, Excessive(threshold=0.07))
    assert rejected is not None
    assert all(part in sentence(rejected, JA) for part in ("Gower 距離", "平均", "0.0797562", "0.07"))
    assert sentence(rejected, EN) == (
        "The mean Gower distance of individuals is 0.0797562; at most 0.07 is allowed."
    )


@pytest.mark.parametrize(
    ("distance", "said"), [(1234567.8, "1.23457e+06"), (2.0, "2"), (0.1 + 0.2, "0.3"), (1e300, "1e+300")]
)
def test_a_rejection_says_six_digits_of_a_distance(distance: float, said: str) -> None:
    far = Distances("euclidean", np.array([distance]))
    rejected = excess(None, TRACKS["microdata"].distances["euclidean"], far, Excessive(threshold=0.07))
    assert str(rejected) == f"the mean euclidean distance of individuals is {said}; at most 0.07 is allowed"
    assert rejected is not None
    assert f"{said} で" in sentence(rejected, JA)


def test_a_page_calls_a_distance_by_its_name_in_every_language() -> None:
    for track in TRACKS.values():
        for distance in track.distances.values():
            needed = deletion_of(distance.name)
            assert distance.name not in sentence(needed, EN)
            assert distance.name not in sentence(needed, JA)
    assert sentence(deletion_of("jaccard_quantity"), EN).startswith(
        "Under the Jaccard (quantities) distance,"
    )


def deletion_of(name: str) -> Message:
    return Message(
        "under the {distance} distance, which has no bound, every individual must be kept",
        distance=Message(name),
    )


def test_a_sentence_that_a_language_does_not_know_has_another_in_its_place() -> None:
    unknown = Message("something went wrong")
    within = Message("the competition's file cannot be read: {reason}", reason=unknown)
    for each in (unknown, within):
        assert sentence(each, JA, "代わり") == "代わり"
        assert sentence(each, EN, "instead").endswith("omething went wrong.")
    name = Message("the {phase} phase is not open", phase=Message("some_phase"))
    assert "some_phase" in sentence(name, JA, "代わり")


def test_what_a_library_says_in_english_is_left_out_in_other_languages() -> None:
    for said in ("header line", "request"):
        message = Message(f"the {said} cannot be read: {{reason}}", reason="unexpected end of data")
        assert "unexpected" in sentence(message, EN)
        assert not ENGLISH.search(sentence(message, JA))


def test_control_characters_of_strangers_are_drawn() -> None:
    message = Message(
        "column {place} is {found!r}; it must be {name!r}", place=1, found="a\0\x1b\x7f", name="b"
    )
    assert "a␀␛␡" in sentence(message, JA)


def test_a_warning_is_said_without_english() -> None:
    remarks = [
        IN_ORDER,
        awaited("transactions"),
        checks.respelled("age"),
        *csv_text.decoded(b"\x93\xfa", "a")[1],
    ]
    for remark in remarks:
        assert not ENGLISH.search(sentence(remark.message, JA))
    assert "transactions.csv" in sentence(remarks[1].message, JA)
    assert "age" in sentence(remarks[2].message, JA)


def test_a_message_of_a_part_from_outside_is_said_as_it_is() -> None:
    assert sentence(Message("something new"), EN) == "Something new."
    assert sentence(Message("something new"), JA) == "something new"
    assert sentence(Message("{name}: new", name="x"), EN) == "x: new."


@pytest.mark.full
def test_what_only_who_runs_commands_reads_is_not_translated() -> None:
    said_by = {place for one in extracted() for place, _ in one.locations}
    assert said_by
    assert {place.split("/")[1] for place in said_by} & {"cli", "client", "backup"} == set()
