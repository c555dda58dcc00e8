"""What a scoring child may answer: the form of what is really found, and no other."""

import copy
import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import pytest

from anoncup.competition.parser import parse_competition
from anoncup.competition.templates import template
from anoncup.plugins import TRACKS
from anoncup.tables.csv_text import table_csv
from tests.support.arena import competition_file, noisy_release, original_table
from tests.support.shop_files import CUSTOMERS, RELEASED_CUSTOMERS, RELEASED_TRANSACTIONS, TRANSACTIONS
from workers.jobs import Inquiry, Request, Rewriting, Trial
from workers.scorer import Desk, judge, rewrite, score

Json = dict[str, Any]


def found(request: Request) -> Json:
    """What the child would say of it; files are named by themselves."""

    def original(digests: Any, file: str) -> Any:
        competition = parse_competition(file)
        track = TRACKS[competition.track]
        tables, _ = track.parse_original({name: text.encode() for name, text in digests}, competition)
        return competition, tables, track.prepare(tables, competition)

    content = score(asdict(request), Desk(str.encode, original), lambda *_: None)
    answered: Json = json.loads(json.dumps(content))
    return answered


@pytest.fixture(scope="module")
def microdata() -> tuple[Request, Json]:
    table = original_table()
    anonymized, secret = noisy_release(1, table)
    files = {"anonymized": anonymized.decode()}
    request = Request(competition_file(), {"original": table_csv(table).decode()}, files, secret.decode())
    return request, found(request)


@pytest.fixture(scope="module")
def transactions() -> tuple[Request, Json]:
    file = template(2016).replace("min_rows_kept", "# min_rows_kept")
    original = {"customers": CUSTOMERS, "transactions": TRANSACTIONS}
    files = {"customers": RELEASED_CUSTOMERS, "transactions": RELEASED_TRANSACTIONS}
    request = Request(file, original, files, "original_row\n3\n1\n2\n")
    return request, found(request)


@pytest.mark.parametrize("track", ["microdata", "transactions"])
def test_a_verdict_that_was_computed_is_admitted(track: str, request: pytest.FixtureRequest) -> None:
    asked, verdict = request.getfixturevalue(track)
    assert asked.admits(verdict)


def changed(verdict: Json, *path: str | int, to: Any) -> Json:
    made = copy.deepcopy(verdict)
    place: Any = made
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = to
    return made


@pytest.mark.parametrize(
    ("path", "to"),
    [
        (("overall",), float("nan")),
        (("overall",), -0.1),
        (("utility",), "0"),
        (("security",), 2),
        (("verdict",), "rejected"),
        (("verdict",), "best"),
        (("violations",), [{"code": "x"}]),
        (("violations",), [{"code": "x", "message": "a rule is broken"}]),
        (("more",), "another team's secret"),
        (("measures",), {}),
        (("measures", "mean_mae"), 0.5),
        (("measures", "mean_mae", "value"), float("inf")),
        (("measures", "mean_mae", "version"), 99),
        (("measures", "mean_mae", "details"), {"\0": 1.0}),
        (("measures", "mean_mae", "details"), dict.fromkeys(map(str, range(1001)), 1.0)),
        (("measures", "another"), {"value": 0.0, "version": 1, "rounding": 0.0}),
        (("attackers", "euc1", "rate"), 1.5),
        (("attackers", "euc1", "version"), 99),
        (("attackers", "euc1", "trials"), 10**400),
        (("attackers", "euc1", "trials"), -1),
        (("attackers", "euc1", "interval"), [0.0]),
        (("attackers", "euc1", "note"), "a note without a template"),
        (("excessive", "histogram", "counts"), [0] * 1001),
        (("excessive", "histogram", "counts"), [2**63]),
        (("excessive", "histogram", "counts"), [-1]),
        (("resembles",), [{"methods": []}]),
        (("resembles", 0, "methods"), ["x"] * 11),
    ],
)
def test_another_form_is_not(microdata: tuple[Request, Json], path: tuple[str | int, ...], to: Any) -> None:
    request, verdict = microdata
    assert not request.admits(changed(verdict, *path, to=to))


def places(found: Any, *path: str | int) -> Iterator[tuple[str | int, ...]]:
    """Every field of a verdict, at any depth; of a list the first entry."""
    parts = (
        found.items() if isinstance(found, dict) else enumerate(found[:1]) if isinstance(found, list) else ()
    )
    for name, part in parts:
        yield (*path, name)
        yield from places(part, *path, name)


def test_nothing_of_a_verdict_may_be_null_nor_of_another_kind_and_no_part_says_more(
    microdata: tuple[Request, Json],
) -> None:
    request, verdict = microdata
    found = [*places(verdict)]
    assert len(found) > 100
    admitted = [path for path in found if request.admits(changed(verdict, *path, to=None))]
    assert admitted == [("excessive", "threshold")]
    for path in found:
        assert not request.admits(changed(verdict, *path, to={"more": "x"})), path
        if isinstance(path[-1], str):
            assert not request.admits(changed(verdict, *path[:-1], "more", to="x")), path


def test_a_verdict_leaves_out_only_what_not_every_release_has(microdata: tuple[Request, Json]) -> None:
    request, verdict = microdata
    optional = set()
    for *path, name in places(verdict):
        made = copy.deepcopy(verdict)
        place: Any = made
        for step in path:
            place = place[step]
        if isinstance(place, dict) and "details" not in path:
            del place[name]
            optional |= {name} if request.admits(made) else set()
    assert optional == {"correct", "trials", "details", "interval", "sd", "evidence"}


def test_the_numbers_of_another_track_are_none_of_this_ones(
    microdata: tuple[Request, Json], transactions: tuple[Request, Json]
) -> None:
    request, verdict = microdata
    assert not request.admits(changed(verdict, "measures", to=transactions[1]["measures"]))


def noted(verdict: Json, text: str, **values: Any) -> Json:
    """The verdict, with that note of an attacker."""
    note = {"note": text, "note_template": "{said}" if values else text, "note_values": values}
    return changed(verdict, "attackers", "euc1", to=verdict["attackers"]["euc1"] | note)


def test_names_and_notes_may_be_in_any_script(microdata: tuple[Request, Json]) -> None:
    request, verdict = microdata
    for text in ("収入\u3000（円）", "a\nb", "💡"):
        assert request.admits(noted(verdict, text))
        assert request.admits(noted(verdict, text, said=text))
        assert request.admits(noted(verdict, text, said={"template": "{a}", "values": {"a": [text]}}))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("another sentence", "this one"),
        ("x" * 10_001, "x" * 10_001),
        ("\ud800", "\ud800"),
        ("nan", float("nan")),
        ("{}", {}),
        ("x", {"template": "x"}),
        ("x", {"template": "x", "values": {}, "more": 1}),
        ("x", {"template": "{a}", "values": {"a": [["x"]]}}),
    ],
)
def test_a_note_is_what_its_template_and_plain_values_make(
    microdata: tuple[Request, Json], text: str, said: Any
) -> None:
    request, verdict = microdata
    assert not request.admits(noted(verdict, text, said=said))


def test_a_violation_is_what_its_template_and_values_make(microdata: tuple[Request, Json]) -> None:
    request, verdict = microdata
    violation = {"code": "x", "message": "3 rows", "template": "{a} rows", "values": {"a": 3}}
    for values, admitted in (({"a": 3}, True), ({"a": 4}, False)):
        rejected = verdict | {"verdict": "rejected", "violations": [violation | {"values": values}]}
        assert request.admits(rejected) is admitted


def test_a_sentence_that_counts_is_what_its_form_for_the_number_makes(
    microdata: tuple[Request, Json],
) -> None:
    request, verdict = microdata
    plural = {"one": "{a} row", "many": "{a} rows", "by": "a"}
    said = {"code": "x", "template": "{a} rows", "values": {"a": 3}}
    for text, forms, admitted in (
        ("3 rows", plural, True),
        ("3 row", plural, False),
        ("3 rows", plural | {"many": "{a} lines"}, False),
        ("3 rows", plural | {"more": "x"}, False),
        ("3 rows", {"one": "{a} row"}, False),
        ("3 rows", None, False),
    ):
        violations = [said | {"message": text, "plural": forms}]
        assert request.admits(verdict | {"verdict": "rejected", "violations": violations}) is admitted
    for forms, admitted in ((plural, True), (plural | {"one": "no row"}, False)):
        note = {"note": "1 row", "note_template": "{a} row", "note_values": {"a": 1}, "note_plural": forms}
        attacker = verdict["attackers"]["euc1"] | note
        assert request.admits(changed(verdict, "attackers", "euc1", to=attacker)) is admitted


def test_a_targets_files_are_texts_by_the_names_of_the_releases(transactions: tuple[Request, Json]) -> None:
    request, _ = transactions
    asked = Rewriting(
        request.competition_file, request.original, request.files, names=tuple(sorted(request.files))
    )
    written = rewrite(
        {"competition_file": asked.competition_file, "original": asked.original, "files": asked.files},
        Desk(str.encode, lambda *_: pytest.fail("nothing is prepared")),
        lambda *_: None,
    )
    assert asked.admits(written)
    for files in (
        {},
        {"customers": "x"},
        {**written["files"], "more": ""},
        {"customers": 1, "transactions": 2},
    ):
        assert not asked.admits({"files": files})


def test_a_guess_is_right_on_no_more_rows_than_there_are() -> None:
    same, file = "original_row\n1\n2\n", template(2015)
    asked = Trial(file, {}, same, same, question="link", sizes={"originals": 2, "rows": 2})
    desk = Desk(str.encode, lambda *_: pytest.fail("nothing is prepared"))
    found = json.loads(json.dumps(judge(asdict(asked), desk, lambda *_: None)))
    assert (found["outcome"]["correct"], found["outcome"]["value"]) == (2, 1.0)
    assert asked.admits(found)
    for correct in (-1, 3, 2.5, "1", True, None, float("nan")):
        assert not asked.admits({"outcome": found["outcome"] | {"correct": correct}})
    assert asked.admits({"outcome": found["outcome"] | {"correct": 1.5}})
    for value in (-0.1, 1.1, "1", True, None, float("nan")):
        assert not asked.admits({"outcome": found["outcome"] | {"value": value}})
    assert not asked.admits({"outcome": found["outcome"] | {"more": 1}})


def nested(depth: int) -> Any:
    return [nested(depth - 1)] if depth else "deep"


@pytest.mark.parametrize(
    ("value", "admitted"),
    [
        ({"a": [1, 2.5, None, True, "…"]}, True),
        ({"a": nested(7)}, True),
        ({"a": nested(8)}, False),
        ({"a": float("nan")}, False),
        ({"a": 10**400}, False),
        ({"a\0": 1}, False),
        ({"a": "x" * 10_001}, False),
    ],
)
def test_a_report_is_of_plain_values(value: Json, admitted: bool) -> None:

    assert Inquiry("", {}, {}).admits(value) is admitted
