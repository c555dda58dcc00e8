"""Laws that every registered measure, attacker and method of all tracks keeps on hostile tables."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anoncup.competition.parser import parse_competition
from anoncup.competition.templates import template
from anoncup.plugins import TRACKS
from anoncup.rules.model import Rules
from anoncup.testing.parts import TrackCase, check_attacker, check_measure, check_method
from anoncup.tracks.model import AnyTrack
from anoncup.tracks.monthly.answer import extract_answer
from anoncup.tracks.parts import AnyMeasure
from tests.support import membership_cases, microdata_cases, monthly_cases, transactions_cases
from tests.support.hypothesis_profiles import limit_examples
from tests.support.microdata_cases import MicrodataCase
from tests.support.monthly_cases import MonthlyCase
from tests.support.transactions_cases import TransactionCase


def build_microdata_case(case: MicrodataCase) -> TrackCase:
    original = case.release.original
    rules = Rules("small", {}, "microdata", "UTC", columns=original.columns)
    return TrackCase(rules, original, case.release.target.anonymized, case.release.answer)


def build_transactions_case(case: TransactionCase) -> TrackCase:
    release = case.release
    return TrackCase(
        parse_competition(template(2016)), release.original, release.target.tables, release.answer
    )


def build_monthly_case(case: MonthlyCase) -> TrackCase:
    release = monthly_cases.attach_knowledge(case.release, b"seed")
    answer = extract_answer(release)
    return TrackCase(parse_competition(template(2017)), release.original, release, answer)


CASES: dict[str, st.SearchStrategy[TrackCase]] = {
    "microdata": microdata_cases.cases().map(build_microdata_case),
    "transactions": transactions_cases.cases().map(build_transactions_case),
    "membership": membership_cases.allocated_cases(),
    "monthly": monthly_cases.cases().map(build_monthly_case),
}


def check_unscaled_measure(measure: AnyMeasure, track: AnyTrack, cases: list[TrackCase]) -> None:
    """Check a measure without its scale, which may be 0 on hostile tables."""
    check_measure(replace(measure, scale=1e45), track, cases)


CHECKS: dict[str, Callable[[Any, AnyTrack, list[TrackCase]], None]] = {
    "measures": check_unscaled_measure,
    "attackers": check_attacker,
    "methods": check_method,
}


@pytest.mark.parametrize("kind", CHECKS)
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.full] * (name in ("monthly", "transactions"))) for name in TRACKS],
)
def test_parts_keep_their_laws_on_hostile_tables(name: str, kind: str) -> None:
    track = TRACKS[name]

    @limit_examples(25)
    @given(case=CASES[name])
    def check_laws(case: TrackCase) -> None:
        for part in getattr(track, kind).values():
            CHECKS[kind](part, track, [case])

    check_laws()


@limit_examples(40)
@given(case=microdata_cases.cases())
def test_measuring_caches_no_answer_in_the_target(case: MicrodataCase) -> None:
    for measure in TRACKS["microdata"].measures.values():
        measure.compute(case.release)
    cached_names = {key[0].rpartition(".")[2] for key in case.release.target.memo}
    assert cached_names <= {"match_classes"}
