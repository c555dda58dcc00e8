"""Laws over the microdata registries; a new measure, attacker or method is tested once it is registered."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anoncup.plugins import TRACKS
from anoncup.tracks import memo
from anoncup.tracks.linkage import attackers as linkage_attackers
from anoncup.tracks.linkage.attack_rates import Candidates, Prediction
from anoncup.tracks.microdata import distances
from anoncup.tracks.microdata import methods as microdata_methods
from anoncup.tracks.microdata import permutations as permutation_methods
from anoncup.tracks.microdata import utility as microdata_utilities
from anoncup.tracks.microdata.attackers import assignment, euclidean, gower, quasi_identifiers, ranks
from anoncup.tracks.microdata.registry import ANONYMITY, ATTACKERS, METHODS, UTILITIES
from anoncup.tracks.microdata.release import MicrodataTarget, prepare, release_of, target_of
from anoncup.tracks.parts import Attacker, Measure, Method
from tests.support.hypothesis_profiles import limit_examples
from tests.support.microdata_cases import MicrodataCase, cases
from tests.support.public_functions import list_public_functions

MEASURES = UTILITIES | ANONYMITY
NOT_ROW_BY_ROW = {"sort", "sa_rank", "own_row", "euc2_assignment", "gower_assignment"}
"""Attackers whose guess for a row depends on the other rows of Y or on its position."""
hostile = limit_examples(40)
every_measure = pytest.mark.parametrize("measure", MEASURES.values(), ids=MEASURES)
every_attacker = pytest.mark.parametrize("attacker", ATTACKERS.values(), ids=ATTACKERS)
every_method = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)


def reorder_rows(table: pd.DataFrame, order: np.ndarray) -> pd.DataFrame:
    return table.iloc[order].reset_index(drop=True)


def apply_method(method: Method, case: MicrodataCase, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    original = case.release.original
    return method.apply(original.table, original.columns, rng=np.random.default_rng(seed))


def chosen_rows(answer: Prediction) -> np.ndarray:
    if isinstance(answer, Candidates):
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
        "row_sums",
        "HasRows",
    }
    methods = list_public_functions(microdata_methods) | list_public_functions(permutation_methods)
    assert set(METHODS) == methods - {"shuffle_rows"}


def test_the_track_has_all_registered_parts() -> None:
    track = TRACKS["microdata"]
    assert (set(track.measures), set(track.attackers), set(track.methods)) == (
        set(MEASURES), set(ATTACKERS), set(METHODS)
    )  # fmt: skip


def test_a_target_has_no_field_for_the_answer() -> None:
    assert set(MicrodataTarget.__dataclass_fields__) == {
        "original",
        "anonymized",
        "codes",
        "values",
        "widths",
        "memo",
    }


@hostile
@given(case=cases())
def test_measuring_caches_nothing_about_the_answer_in_the_target(case: MicrodataCase) -> None:
    for measure in MEASURES.values():
        measure.compute(case.release)
    cached = [key[0] for key in case.release.target.memo]
    assert set(cached) <= {"canonical", "ordered", "matches"}


@every_measure
@hostile
@given(case=cases())
def test_large_tables_get_the_same_values_with_a_smaller_cache(measure: Measure, case: MicrodataCase) -> None:
    original, expected = case.release.original, measure.compute(case.release)
    prepared = prepare(original.table, original.columns)
    recomputed = release_of(prepared, case.release.target.anonymized, case.release.source)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memo, "CACHED_ROWS", 0)
        patch.setattr(distances, "ROWS_PER_PART", 2)
        assert measure.compute(recomputed) == expected
    cached = {
        key[0] for holder in (recomputed, recomputed.target, recomputed.original) for key in holder.memo
    }
    assert not cached & {"ordered", "differences", "ranks", "steps"}


@every_measure
@hostile
@given(case=cases(), seed=st.integers(0, 99))
def test_the_order_of_rows_does_not_matter(measure: Measure, case: MicrodataCase, seed: int) -> None:
    rng = np.random.default_rng(seed)
    original, release = case.release.original, case.release
    x_order, y_order = rng.permutation(original.rows), rng.permutation(release.target.rows)
    x_rank = np.argsort(x_order)
    reordered = release_of(
        prepare(reorder_rows(original.table, x_order), original.columns),
        reorder_rows(release.target.anonymized, y_order),
        x_rank[release.source[y_order]],
    )
    assert measure.compute(reordered) == pytest.approx(measure.compute(release), rel=1e-12)


@every_attacker
@hostile
@given(case=cases(), seed=st.integers(0, 99))
def test_row_by_row_attackers_ignore_the_order_of_the_anonymized_rows(
    attacker: Attacker, case: MicrodataCase, seed: int
) -> None:
    target = case.release.target
    order = np.random.default_rng(seed).permutation(target.rows)
    reordered = target_of(target.original, reorder_rows(target.anonymized, order))
    answers = [attacker.attack(variant) for variant in (target, reordered)]
    if attacker.name not in NOT_ROW_BY_ROW:
        guess, reordered_guess = map(chosen_rows, answers)
        assert reordered_guess.tolist() == guess[order].tolist()


@every_method
@hostile
@given(case=cases(), seed=st.integers(0, 9))
def test_methods_return_a_valid_release_and_leave_their_input_unchanged(
    method: Method, case: MicrodataCase, seed: int
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


@every_method
@hostile
@given(case=cases())
def test_methods_are_reproducible_for_a_seed(method: Method, case: MicrodataCase) -> None:
    (first, first_source), (second, second_source) = (
        apply_method(method, case, 3),
        apply_method(method, case, 3),
    )
    pd.testing.assert_frame_equal(first, second)
    assert (first_source == second_source).all()
