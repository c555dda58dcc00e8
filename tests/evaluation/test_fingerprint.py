"""Methods are recognized by the measures and attackers that a release changes."""

from functools import cache
from typing import Any

import numpy as np
import pytest

from anoncup.competition.parser import parse_competition
from anoncup.competition.templates import template
from anoncup.evaluation.evaluate import evaluate
from anoncup.evaluation.fingerprint import MethodResemblance, fingerprint
from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules
from anoncup.tracks.microdata.example import generate_households
from anoncup.tracks.transactions.example import load_tc400
from tests.support.originals import make_original

pytestmark = pytest.mark.full


@cache
def load_contest(year: int) -> tuple[Rules, Any]:
    competition = parse_competition(template(year))
    tables = generate_households(2000) if year == 2015 else load_tc400()
    return competition, make_original(tables, competition)


def fingerprint_release(year: int, *methods: tuple[str, dict[str, object]]) -> tuple[MethodResemblance, ...]:
    competition, original = load_contest(year)
    track = TRACKS[competition.track]
    tables = original.table if year == 2015 else original.tables
    source = np.arange(original.rows)
    for name, parameters in methods:
        rng = np.random.default_rng(5)
        changed_original = make_original(tables, competition)
        tables, rows = track.anonymize(track.methods[name], changed_original, competition, rng, parameters)
        source = source[rows]
    return fingerprint(competition, original, evaluate(competition, original, tables, source))


@pytest.mark.parametrize(
    ("name", "parameters", "expected"),
    [
        ("k_anonymize", {"k": 5}, {"k_anonymize"}),
        ("add_noise", {"strength": 0.5}, {"add_noise"}),
        ("cheating_permutation", {}, {"cheating_permutation"}),
        ("unify_columns", {"columns": ["Tatekata"]}, {"unify_columns (in the cross-tables)"}),
        ("unify_columns", {"columns": ["S1_Sangyou"]}, {"unify_columns (others)"}),
        ("microaggregate", {}, {"microaggregate", "swap_within_classes"}),
        ("swap_within_classes", {}, {"microaggregate", "swap_within_classes"}),
        ("delete_rows", {"share": 0.1}, {"delete_rows"}),
    ],
)
def test_methods_of_the_paper_are_recognized(
    name: str, parameters: dict[str, object], expected: set[str]
) -> None:
    resemblances = fingerprint_release(2015, (name, parameters))
    closest = {
        resemblance.methods
        for resemblance in resemblances
        if resemblance.agreement == resemblances[0].agreement
    }
    assert resemblances[0].agreement == 1.0
    assert {methods[0] for methods in closest if len(methods) == 1} == expected


def test_unchanged_table_resembles_no_method() -> None:
    assert fingerprint_release(2015)[0].methods == ()
    assert fingerprint_release(2016)[0].methods == ()


def test_two_methods_are_recognized_together() -> None:
    resemblances = fingerprint_release(2015, ("k_anonymize", {"k": 5}), ("microaggregate", {}))
    assert resemblances[0].agreement == 1.0
    assert "k_anonymize" in resemblances[0].methods


def test_evidence_lists_changed_and_unchanged_parts() -> None:
    evidence = {
        change.name: change
        for change in fingerprint_release(2015, ("delete_rows", {"share": 0.1}))[0].evidence
    }
    assert evidence["row_difference"].after == 200.0
    assert evidence["row_difference"].changed
    assert evidence["id_rand"].expected_to_change is evidence["id_rand"].changed is False


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("cluster_tfidf", "dummies in clusters"),
        ("cheating_permutation", "permutation of customers"),
        ("delete_records", "delete_records"),
    ],
)
def test_transaction_methods_are_recognized(name: str, expected: str) -> None:
    resemblances = fingerprint_release(2016, (name, {"share": 0.2} if name == "delete_records" else {}))
    assert expected in resemblances[0].methods
