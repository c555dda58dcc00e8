"""What the service says of files, rules and releases, in both languages: with its values, and once."""

import re
from collections.abc import Callable, Mapping

import numpy as np
import pytest

from app.api.documentation.codes import ERRORS, IN_FILES, REJECTIONS, WARNINGS
from app.errors import DomainError, InvalidUpload, Problem
from app.language import LANGUAGES
from app.messages import Message
from app.scoring import csv_text, tables, transaction_tables
from app.scoring.assignment import Matching, note_of
from app.scoring.column_roles import suggested
from app.scoring.competition_file import parse_competition
from app.scoring.permutation import IN_ORDER, guess_from_file, source_from_secret
from app.scoring.rules import Columns
from app.services.revisions import awaited
from app.web import sentence_forms
from app.web.labels import LABELS
from app.web.languages import in_language
from app.web.sentences import COMPILED, fault, note, said, with_values
from tests.arena import original_table
from tests.scoring.competition_texts import LEAST

EN, JA = (in_language(language) for language in LANGUAGES)
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
    "secret words": lambda: secret(b"original_row\n1\nx\n"),
    "secret twice": lambda: secret(b"original_row\n1\n1\n"),
    "secret missing": lambda: secret(b"anonymized_row\n1\n0\n0\n"),
    "secret lines": lambda: secret(b"\n" * 5000),
    "guess header": lambda: guess(b"row\n1\n2\n"),
    "guess length": lambda: guess(b"original_row\n1\n"),
}


def problems() -> list[Problem]:
    """What is really said of such files."""
    found = [
        Problem(
            "request", None, None, "encoding", Message("names and texts of a multipart request are UTF-8")
        ),
        Problem("secret", None, None, "missing_file", Message("secret")),
    ]
    for broken in FAULTS.values():
        with pytest.raises(InvalidUpload) as caught:
            broken()
        found += caught.value.problems
    return found


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


def test_every_code_has_words() -> None:
    assert {code for code in IN_FILES if f"bad_{code}" not in LABELS} == set()
    assert {code for code in REJECTIONS | WARNINGS if f"said_{code}" not in LABELS} == set()


def test_every_form_has_its_word_and_takes_its_values() -> None:
    for key, forms in COMPILED.items():
        for variant, form in forms:
            values = dict.fromkeys(form.groupindex, "x")
            for t in (EN, JA):
                assert t.label(f"{key}_{variant}").format(**values)
    for ending in sentence_forms.EXPECTED.values():
        assert JA.label(f"expected_{ending}")


@pytest.mark.parametrize("case", FAULTS)
def test_a_fault_is_said_in_the_readers_language_with_its_place(case: str) -> None:
    with pytest.raises(InvalidUpload) as caught:
        FAULTS[case]()
    for problem in caught.value.problems:
        japanese, english = fault(problem, JA), fault(problem, EN)
        assert not ENGLISH.search(japanese), japanese
        assert japanese.endswith("。")
        assert english[0].isupper() or problem.column
        assert english.endswith(".")
        if problem.row:
            assert japanese.startswith(f"{problem.row} 行目")
            assert english.startswith(f"Row {problem.row}")


def test_every_form_of_a_fault_is_one_that_the_service_uses() -> None:
    found = [(f"bad_{one.code}", str(one.message)) for one in problems()]
    assert matched(found) == {
        (key, variant) for key, forms in sentence_forms.IN_FILES.items() for variant in forms
    }


def matched(found: list[tuple[str, str]]) -> set[tuple[str, str]]:
    """The first form that each sentence has."""
    return {
        next((key, variant) for variant, form in COMPILED[key] if form.fullmatch(sentence))
        for key, sentence in found
        if any(form.fullmatch(sentence) for _, form in COMPILED.get(key, ()))
    }


def test_a_fault_keeps_its_values() -> None:
    name = Problem(
        "anonymized", 4, "Youto038", "not_a_number", Message("Youto038, row 4: not a decimal number")
    )
    assert fault(name, JA) == "4 行目、Youto038 列：10 進数の数値ではありません。"
    assert fault(name, EN) == "Row 4, Youto038: Not a decimal number."
    header = "column 2 is '年\"齢'; it must be \"it's\""
    assert fault(Problem("anonymized", None, "it's", "header", Message(header)), JA) == (
        "ヘッダー行の 2 列目は「年\"齢」です（「it's」としてください）。"
    )


@pytest.mark.parametrize(("problem", "value"), refusals())
def test_what_is_wrong_in_a_competition_file_is_said_with_its_key(problem: DomainError, value: str) -> None:
    japanese = said("invalid", problem.code, str(problem), JA)
    assert with_values("invalid", problem.code, str(problem), JA) == japanese
    assert value in japanese
    assert not ENGLISH.search(japanese), japanese
    assert value.split(maxsplit=1)[0] in said("invalid", problem.code, str(problem), EN)


def test_an_attackers_note_is_said_in_numbers() -> None:
    nobody = np.full(3, -1)
    for late in (0, 17):
        sentence = note_of(Matching(nobody, late), rows=8333, dense_limit=1000)
        japanese = note(str(sentence), JA)
        assert "8,333 行（1,000 行超）" in japanese
        assert not ENGLISH.search(japanese)
        assert ("17 行" in japanese) == bool(late)


def test_a_rejection_says_the_measured_and_the_allowed() -> None:
    sentence = "the mean gower distance of individuals is 0.0798; at most 0.07 is allowed"
    japanese = said("said", "excessive_anonymization", sentence, JA)
    assert all(part in japanese for part in ("Gower 距離", "平均", "0.0798", "0.07"))
    assert said("said", "excessive_anonymization", sentence, EN) == (
        "The mean distance of individuals to their own originals (Gower’s distance) is 0.0798; "
        "at most 0.07 is allowed."
    )


def test_a_warning_is_said_without_english() -> None:
    remarks = [
        IN_ORDER,
        awaited("transactions"),
        tables.respelled("age"),
        *csv_text.decoded(b"\x93\xfa", "a")[1],
    ]
    for remark in remarks:
        assert not ENGLISH.search(said("said", remark.code, str(remark.message), JA))
    assert "transactions.csv" in said("said", remarks[1].code, str(remarks[1].message), JA)
    assert "age" in said("said", remarks[2].code, str(remarks[2].message), JA)


@pytest.mark.parametrize(
    ("times", "ending"), [("once", "before."), ("1 times", "before."), ("2 times", "2 times before.")]
)
def test_how_often_a_release_was_sent_before_is_counted_from_two_on(times: str, ending: str) -> None:
    sentence = f"your team has sent this very table {times} before"
    assert said("said", "sent_before", sentence, EN).endswith(ending)
    assert "1 times" not in said("said", "sent_before", sentence, EN)


def test_an_unknown_sentence_is_kept_for_english_readers_only() -> None:
    assert said("invalid", "new_code", "something new", EN) == "Something new."
    assert not ENGLISH.search(said("invalid", "new_code", "it is something new", JA))


SPOKEN: Mapping[str, str] = {
    code: sentence for code, sentence in ERRORS.items() if code.startswith("rescore")
}


@pytest.mark.parametrize("code", SPOKEN)
def test_the_end_of_a_re_score_set_is_refused_in_words(code: str) -> None:
    assert f"problem_{code}" in LABELS
