"""Laws that every registered measure, attacker and method of all tracks keeps.

Tracks whose answer is not a permutation test their hostile releases in their own modules.
"""

import copy
import math
import pickle
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given

from anoncup.plugins import TRACKS
from anoncup.tracks.linkage import attack_rates
from anoncup.tracks.linkage.attack_rates import AnnotatedGuess, Prediction
from anoncup.tracks.microdata.registry import UTILITIES
from anoncup.tracks.model import AnyTrack
from anoncup.tracks.parts import AnyAttacker, AnyMeasure, AnyMethod
from anoncup.tracks.transactions.registry import TRANSACTION_UTILITIES
from tests.support import microdata_cases, transactions_cases
from tests.support.hypothesis_profiles import limit_examples

CASES = {"microdata": microdata_cases.cases(), "transactions": transactions_cases.cases()}
LOSS_MEASURES: dict[str, Mapping[str, AnyMeasure]] = {
    "microdata": UTILITIES,
    "transactions": TRANSACTION_UTILITIES,
}
"""Measures of information loss; they are 0 for an unchanged table."""
each_track = pytest.mark.parametrize("track", TRACKS.values(), ids=TRACKS)
each_permutation_track = pytest.mark.parametrize("track", [TRACKS[name] for name in CASES], ids=CASES)


def check_releases(track: AnyTrack, check_law: Callable[[Any], None]) -> None:
    """Check a law on hostile releases of the track."""
    limit_examples(40)(given(case=CASES[track.name])(lambda case: check_law(case.release)))()


def list_tables(track: AnyTrack, release: Any) -> list[pd.DataFrame]:
    """Return all tables of a release, those of the original first."""
    if track.name == "microdata":
        return [release.original.table, release.target.anonymized]
    both_sides = release.original.tables, release.target.tables
    return [table for tables in both_sides for table in (tables.customers, tables.transactions)]


def extract_guess(answer: Prediction) -> np.ndarray | None:
    """Return the guessed rows, or None if the answer consists of candidates or clusters."""
    guess = answer.guess if isinstance(answer, AnnotatedGuess) else answer
    return guess if isinstance(guess, np.ndarray) else None


@pytest.mark.parametrize("kind", ["measures", "attackers", "methods"])
@each_track
def test_registry_keys_equal_entry_names(track: AnyTrack, kind: str) -> None:
    registry: Mapping[str, AnyMeasure | AnyAttacker | AnyMethod] = getattr(track, kind)
    assert [entry.name for entry in registry.values()] == list(registry)
    assert TRACKS[track.name] is track


@each_permutation_track
def test_losses_of_an_unchanged_table_are_zero(track: AnyTrack) -> None:
    def check_law(release: Any) -> None:
        assert track.fingerprints is not None
        identity_release = track.fingerprints.identity_release(release.original)
        losses = {
            name: measure.compute(identity_release) for name, measure in LOSS_MEASURES[track.name].items()
        }
        assert losses == dict.fromkeys(LOSS_MEASURES[track.name], 0.0)

    check_releases(track, check_law)


@each_permutation_track
def test_measures_are_finite_nonnegative_builtin_floats(track: AnyTrack) -> None:
    def check_law(release: Any) -> None:
        for measure in track.measures.values():
            value = measure.compute(release)
            assert type(value) is float, measure.name
            assert math.isfinite(value), measure.name
            assert value >= 0.0, measure.name

    check_releases(track, check_law)


@each_permutation_track
def test_attack_rates_lie_between_zero_and_one(track: AnyTrack) -> None:
    def check_law(release: Any) -> None:
        originals, rows = release.original.rows, release.target.rows
        for attacker in track.attackers.values():
            answer = attacker.attack(release.target)
            guess = extract_guess(answer)
            assert guess is None or ((guess >= -1) & (guess < originals)).all(), attacker.name
            rate = attack_rates.rate_prediction(answer, release.answer, rows=originals)
            assert type(rate.rate) is float, attacker.name
            assert 0.0 <= rate.rate <= 1.0, attacker.name
            assert rate.trials == rows, attacker.name
            assert rate.trials is not None
            assert rate.correct == pytest.approx(rate.rate * rate.trials), attacker.name
            if rate.interval is not None:
                assert 0.0 <= rate.interval[0] <= rate.rate <= rate.interval[1] <= 1.0, attacker.name

    check_releases(track, check_law)


@each_permutation_track
def test_measures_and_attackers_do_not_change_the_tables(track: AnyTrack) -> None:
    def check_law(release: Any) -> None:
        copies = [table.copy(deep=True) for table in list_tables(track, release)]
        source = release.answer.copy()
        for measure in track.measures.values():
            measure.compute(release)
        for attacker in track.attackers.values():
            attacker.attack(release.target)
        for table, expected in zip(list_tables(track, release), copies, strict=True):
            pd.testing.assert_frame_equal(table, expected)
        assert (release.answer == source).all()

    check_releases(track, check_law)


@each_permutation_track
def test_attackers_agree_after_pickling_the_original(track: AnyTrack) -> None:
    def check_law(release: Any) -> None:
        answers = {name: entry.attack(release.target) for name, entry in track.attackers.items()}
        tables = release.target.anonymized if track.name == "microdata" else release.target.tables
        assert track.attack_view is not None
        unpickled_target = track.attack_view(
            pickle.loads(pickle.dumps(release.original)), copy.deepcopy(tables)
        )
        guesses = {
            name: guess for name, entry in answers.items() if (guess := extract_guess(entry)) is not None
        }
        assert len(guesses) > 5
        for name, guess in guesses.items():
            repeated_guess = extract_guess(track.attackers[name].attack(unpickled_target))
            assert repeated_guess is not None
            assert repeated_guess.tolist() == guess.tolist(), name

    check_releases(track, check_law)
