"""Laws over the registries of all tracks: a new measure or attacker is tested here by being registered.

Tracks with other answers than a permutation have their hostile releases in tests of their own.
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
from anoncup.tracks.linkage.attack_rates import Answer, Noted
from anoncup.tracks.microdata.registry import UTILITIES
from anoncup.tracks.model import Track
from anoncup.tracks.parts import Attacker, Measure, Method
from anoncup.tracks.transactions.registry import TRANSACTION_UTILITIES
from tests.scoring import tables_to_break, transactions_to_break
from tests.support.hypothesis_profiles import examples

CASES = {"microdata": tables_to_break.cases(), "transactions": transactions_to_break.cases()}
ZERO: dict[str, Mapping[str, Measure]] = {"microdata": UTILITIES, "transactions": TRANSACTION_UTILITIES}
"""The measures of what is lost, which is nothing where nothing is changed."""
of_every_track = pytest.mark.parametrize("track", TRACKS.values(), ids=TRACKS)
of_tables_and_permutations = pytest.mark.parametrize("track", [TRACKS[name] for name in CASES], ids=CASES)


def holds(track: Track, law: Callable[[Any], None]) -> None:
    """For releases of the track that were made to break numerics."""
    examples(40)(given(case=CASES[track.name])(lambda case: law(case.release)))()


def frames(track: Track, release: Any) -> list[pd.DataFrame]:
    """All tables that a release consists of, the original's first."""
    if track.name == "microdata":
        return [release.original.table, release.target.anonymized]
    sides = release.original.tables, release.target.tables
    return [each for side in sides for each in (side.customers, side.transactions)]


def guess_of(answer: Answer) -> np.ndarray | None:
    """The row that is guessed for each, unless it is candidates or a cluster."""
    guess = answer.guess if isinstance(answer, Noted) else answer
    return guess if isinstance(guess, np.ndarray) else None


@pytest.mark.parametrize("kind", ["measures", "attackers", "methods"])
@of_every_track
def test_entries_stand_under_their_names(track: Track, kind: str) -> None:
    registry: Mapping[str, Measure | Attacker | Method] = getattr(track, kind)
    assert [entry.name for entry in registry.values()] == list(registry)
    assert TRACKS[track.name] is track


@of_tables_and_permutations
def test_an_untouched_table_scores_zero(track: Track) -> None:
    def law(release: Any) -> None:
        assert track.untouched is not None
        untouched = track.untouched(release.original)
        losses = {name: each.compute(untouched) for name, each in ZERO[track.name].items()}
        assert losses == dict.fromkeys(ZERO[track.name], 0.0)

    holds(track, law)


@of_tables_and_permutations
def test_measures_are_finite_builtin_floats_from_zero_up(track: Track) -> None:
    def law(release: Any) -> None:
        for measure in track.measures.values():
            value = measure.compute(release)
            assert type(value) is float, measure.name
            assert math.isfinite(value), measure.name
            assert value >= 0.0, measure.name

    holds(track, law)


@of_tables_and_permutations
def test_rates_lie_between_zero_and_one(track: Track) -> None:
    def law(release: Any) -> None:
        originals, rows = release.original.rows, release.target.rows
        for attacker in track.attackers.values():
            answer = attacker.attack(release.target)
            guess = guess_of(answer)
            assert guess is None or ((guess >= -1) & (guess < originals)).all(), attacker.name
            rate = attack_rates.rate_of(answer, release.source, rows=originals)
            assert type(rate.rate) is float, attacker.name
            assert 0.0 <= rate.rate <= 1.0, attacker.name
            assert rate.trials == rows, attacker.name
            assert rate.trials is not None
            assert rate.correct == pytest.approx(rate.rate * rate.trials), attacker.name
            if rate.interval is not None:
                assert 0.0 <= rate.interval[0] <= rate.rate <= rate.interval[1] <= 1.0, attacker.name

    holds(track, law)


@of_tables_and_permutations
def test_measuring_and_attacking_leave_the_tables_alone(track: Track) -> None:
    def law(release: Any) -> None:
        before = [each.copy(deep=True) for each in frames(track, release)]
        source = release.source.copy()
        for measure in track.measures.values():
            measure.compute(release)
        for attacker in track.attackers.values():
            attacker.attack(release.target)
        for each, kept in zip(frames(track, release), before, strict=True):
            pd.testing.assert_frame_equal(each, kept)
        assert (release.source == source).all()

    holds(track, law)


@of_tables_and_permutations
def test_a_prepared_original_survives_pickling(track: Track) -> None:
    def law(release: Any) -> None:
        found = {name: each.attack(release.target) for name, each in track.attackers.items()}
        tables = release.target.anonymized if track.name == "microdata" else release.target.tables
        again = track.target_of(pickle.loads(pickle.dumps(release.original)), copy.deepcopy(tables))
        guesses = {name: guess for name, each in found.items() if (guess := guess_of(each)) is not None}
        assert len(guesses) > 5
        for name, guess in guesses.items():
            other = guess_of(track.attackers[name].attack(again))
            assert other is not None
            assert other.tolist() == guess.tolist(), name

    holds(track, law)
