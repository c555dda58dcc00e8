"""Laws over the microdata registries; a new measure, attacker or method is tested once it is registered."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anoncup.plugins import TRACKS
from anoncup.tracks import memo
from anoncup.tracks.linkage import attackers as linkage_attackers
from anoncup.tracks.linkage.attack_rates import GroupPrediction, Prediction
from anoncup.tracks.microdata import distances
from anoncup.tracks.microdata import methods as microdata_methods
from anoncup.tracks.microdata import utility as microdata_utilities
from anoncup.tracks.microdata.attackers import assignment, euclidean, gower, quasi_identifiers, ranks
from anoncup.tracks.microdata.methods import AnonymizedTable
from anoncup.tracks.microdata.registry import ANONYMITY, ATTACKERS, METHODS, UTILITIES
from anoncup.tracks.microdata.release import MicrodataOriginal, MicrodataTarget, build_release, build_target
from anoncup.tracks.parts import AnyAttacker, AnyMeasure, AnyMethod, Method
from tests.support.hypothesis_profiles import limit_examples
from tests.support.microdata_cases import MicrodataCase, cases
from tests.support.public_functions import list_public_functions

MEASURES = UTILITIES | ANONYMITY
ORDER_DEPENDENT_ATTACKERS = {"sort", "sa_rank", "own_row", "euc2_assignment", "gower_assignment"}
"""Attackers whose guess for a row depends on the other rows of Y or on its position."""
hostile_examples = limit_examples(40)
each_measure = pytest.mark.parametrize("measure", MEASURES.values(), ids=MEASURES)
each_attacker = pytest.mark.parametrize("attacker", ATTACKERS.values(), ids=ATTACKERS)
each_method = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)


def reorder_rows(table: pd.DataFrame, order: np.ndarray) -> pd.DataFrame:
    return table.iloc[order].reset_index(drop=True)


def apply_method(
    method: Method[AnonymizedTable], case: MicrodataCase, seed: int = 0
) -> tuple[pd.DataFrame, np.ndarray]:
    original = case.release.original
    return method.apply(original.table, original.columns, rng=np.random.default_rng(seed))


def list_chosen_rows(answer: Prediction) -> np.ndarray:
    if isinstance(answer, GroupPrediction):
        return answer.guessed_group
    assert isinstance(answer, np.ndarray)
    return answer


def test_every_public_function_is_registered() -> None:
    helpers = {"mean_deviation", "count_original_rows"}
    assert set(UTILITIES) == list_public_functions(microdata_utilities) - helpers
    modules = (linkage_attackers, quasi_identifiers, ranks, euclidean, gower, assignment)
    functions = set().union(*map(list_public_functions, modules))
    assert set(ATTACKERS) == functions - {
        "find_nearest_matching",
        "find_nearest_in_class",
        "find_nearest_of_all",
        "sum_rows",
        "HasRows",
    }
    assert set(METHODS) == list_public_functions(microdata_methods) - {"shuffle_rows"}


def test_track_has_all_registered_parts() -> None:
    track = TRACKS["microdata"]
    assert (set(track.measures), set(track.attackers), set(track.methods)) == (
        set(MEASURES), set(ATTACKERS), set(METHODS)
    )  # fmt: skip


def test_target_has_no_field_for_the_answer() -> None:
    assert set(MicrodataTarget.__dataclass_fields__) == {
        "original",
        "anonymized",
        "codes",
        "values",
        "widths",
        "memo",
    }


@hostile_examples
@given(case=cases())
def test_measuring_caches_no_answer_in_the_target(case: MicrodataCase) -> None:
    for measure in MEASURES.values():
        measure.compute(case.release)
    cached_names = [key[0] for key in case.release.target.memo]
    assert set(cached_names) <= {"canonical", "ordered", "matches"}


@each_measure
@hostile_examples
@given(case=cases())
def test_large_tables_get_the_same_values_with_a_small_cache(
    measure: AnyMeasure, case: MicrodataCase
) -> None:
    original, expected = case.release.original, measure.compute(case.release)
    prepared_original = MicrodataOriginal(original.table, original.columns)
    fresh_release = build_release(prepared_original, case.release.target.anonymized, case.release.answer)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memo, "CACHED_ROWS", 0)
        patch.setattr(distances, "ROWS_PER_BLOCK", 2)
        assert measure.compute(fresh_release) == expected
    cached_names = {
        key[0]
        for holder in (fresh_release, fresh_release.target, fresh_release.original)
        for key in holder.memo
    }
    assert not cached_names & {"ordered", "differences", "ranks", "steps"}


@each_measure
@hostile_examples
@given(case=cases(), seed=st.integers(0, 99))
def test_measures_ignore_the_order_of_rows(measure: AnyMeasure, case: MicrodataCase, seed: int) -> None:
    rng = np.random.default_rng(seed)
    original, release = case.release.original, case.release
    x_order, y_order = rng.permutation(original.rows), rng.permutation(release.target.rows)
    x_rank = np.argsort(x_order)
    reordered = build_release(
        MicrodataOriginal(reorder_rows(original.table, x_order), original.columns),
        reorder_rows(release.target.anonymized, y_order),
        x_rank[release.answer[y_order]],
    )
    assert measure.compute(reordered) == pytest.approx(measure.compute(release), rel=1e-12)


@each_attacker
@hostile_examples
@given(case=cases(), seed=st.integers(0, 99))
def test_row_by_row_attackers_ignore_the_order_of_rows(
    attacker: AnyAttacker, case: MicrodataCase, seed: int
) -> None:
    target = case.release.target
    order = np.random.default_rng(seed).permutation(target.rows)
    reordered = build_target(target.original, reorder_rows(target.anonymized, order))
    answers = [attacker.attack(variant) for variant in (target, reordered)]
    if attacker.name not in ORDER_DEPENDENT_ATTACKERS:
        guess, reordered_guess = map(list_chosen_rows, answers)
        assert reordered_guess.tolist() == guess[order].tolist()


@each_method
@hostile_examples
@given(case=cases(), seed=st.integers(0, 9))
def test_methods_return_valid_releases_and_keep_their_input(
    method: AnyMethod, case: MicrodataCase, seed: int
) -> None:
    table = case.release.original.table
    copy = table.copy(deep=True)
    anonymized, source = apply_method(method, case, seed)
    pd.testing.assert_frame_equal(table, copy)
    assert list(anonymized.columns) == list(table.columns)
    assert list(anonymized.dtypes) == list(table.dtypes)
    assert anonymized.index.equals(pd.RangeIndex(len(source)))
    assert np.isfinite(anonymized[list(case.release.original.columns.sensitive)].to_numpy()).all()
    assert (np.diff(source) > 0).all()
    assert set(source.tolist()) <= set(range(len(table)))


@each_method
@hostile_examples
@given(case=cases())
def test_methods_are_reproducible(method: AnyMethod, case: MicrodataCase) -> None:
    (first_release, first_source), (second_release, second_source) = (
        apply_method(method, case, 3),
        apply_method(method, case, 3),
    )
    pd.testing.assert_frame_equal(first_release, second_release)
    assert (first_source == second_source).all()
