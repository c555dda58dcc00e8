"""Laws over the registries of microdata: a new measure, attacker or method is tested by being registered."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anoncup.plugins import TRACKS
from anoncup.tracks import memo
from anoncup.tracks.linkage import attackers as linkage_attackers
from anoncup.tracks.linkage.attack_rates import Answer, Candidates
from anoncup.tracks.microdata import distances
from anoncup.tracks.microdata import methods as microdata_methods
from anoncup.tracks.microdata import permutations as permutation_methods
from anoncup.tracks.microdata import utility as microdata_utilities
from anoncup.tracks.microdata.attackers import assignment, euclidean, gower, quasi_identifiers, ranks
from anoncup.tracks.microdata.registry import ANONYMITY, ATTACKERS, METHODS, UTILITIES
from anoncup.tracks.microdata.release import Target, prepare, release_of, target_of
from anoncup.tracks.parts import Attacker, Measure, Method
from tests.scoring.tables_to_break import Case, cases
from tests.support.hypothesis_profiles import examples
from tests.support.public_functions import public_functions

MEASURES = UTILITIES | ANONYMITY
ALL_AT_ONCE = {"sort", "sa_rank", "own_row", "euc2_assignment", "gower_assignment"}
"""Attackers whose guess for a row depends on the other rows of Y, or on where it stands."""
hostile = examples(40)
every_measure = pytest.mark.parametrize("measure", MEASURES.values(), ids=MEASURES)
every_attacker = pytest.mark.parametrize("attacker", ATTACKERS.values(), ids=ATTACKERS)
every_method = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)


def moved(table: pd.DataFrame, order: np.ndarray) -> pd.DataFrame:
    return table.iloc[order].reset_index(drop=True)


def applied(method: Method, case: Case, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    original = case.release.original
    return method.apply(original.table, original.columns, rng=np.random.default_rng(seed))


def chosen_of(answer: Answer) -> np.ndarray:
    if isinstance(answer, Candidates):
        return answer.chosen
    assert isinstance(answer, np.ndarray)
    return answer


def test_every_function_of_the_registered_files_has_its_entry() -> None:
    assert set(UTILITIES) == public_functions(microdata_utilities) - {
        "cells_of_loss", "correlations", "mean_deviation", "original_rows"
    }  # fmt: skip
    files = (linkage_attackers, quasi_identifiers, ranks, euclidean, gower, assignment)
    found = set().union(*map(public_functions, files))
    assert set(ATTACKERS) == found - {
        "nearest_matching",
        "nearest_in_class",
        "nearest_of_all",
        "row_sums",
        "Rows",
    }
    methods = public_functions(microdata_methods) | public_functions(permutation_methods)
    assert set(METHODS) == methods - {
        "equivalence_classes", "shuffled_within", "shuffler", "ordered_within", "commonest", "derangement",
        "shuffle_rows"
    }  # fmt: skip


def test_the_track_holds_all_of_them() -> None:
    track = TRACKS["microdata"]
    assert (set(track.measures), set(track.attackers), set(track.methods)) == (
        set(MEASURES), set(ATTACKERS), set(METHODS)
    )  # fmt: skip


def test_a_target_has_no_field_for_the_answer() -> None:
    assert set(Target.__dataclass_fields__) == {"original", "anonymized", "codes", "values", "widths", "kept"}


@hostile
@given(case=cases())
def test_measuring_leaves_no_trace_of_the_answer_with_the_target(case: Case) -> None:
    for measure in MEASURES.values():
        measure.compute(case.release)
    kept = [key[0] for key in case.release.target.kept]
    assert set(kept) <= {"canonical", "ordered", "matches"}


@every_measure
@hostile
@given(case=cases())
def test_many_rows_have_the_values_that_few_have_and_keep_less(measure: Measure, case: Case) -> None:
    original, few = case.release.original, measure.compute(case.release)
    anew = prepare(original.table, original.columns)
    again = release_of(anew, case.release.target.anonymized, case.release.source)
    with pytest.MonkeyPatch.context() as few_is:
        few_is.setattr(memo, "FEW", 0)
        few_is.setattr(distances, "PART", 2)
        assert measure.compute(again) == few
    kept = {key[0] for each in (again, again.target, again.original) for key in each.kept}
    assert not kept & {"ordered", "differences", "ranks", "steps"}


@every_measure
@hostile
@given(case=cases(), seed=st.integers(0, 99))
def test_the_order_of_rows_does_not_matter(measure: Measure, case: Case, seed: int) -> None:
    rng = np.random.default_rng(seed)
    original, release = case.release.original, case.release
    x_order, y_order = rng.permutation(original.rows), rng.permutation(release.target.rows)
    back = np.argsort(x_order)
    other = release_of(
        prepare(moved(original.table, x_order), original.columns),
        moved(release.target.anonymized, y_order),
        back[release.source[y_order]],
    )
    assert measure.compute(other) == pytest.approx(measure.compute(release), rel=1e-12)


@every_attacker
@hostile
@given(case=cases(), seed=st.integers(0, 99))
def test_row_by_row_attackers_do_not_heed_the_order_of_the_anonymized_rows(
    attacker: Attacker, case: Case, seed: int
) -> None:
    target = case.release.target
    order = np.random.default_rng(seed).permutation(target.rows)
    other = target_of(target.original, moved(target.anonymized, order))
    answers = [attacker.attack(each) for each in (target, other)]
    if attacker.name not in ALL_AT_ONCE:
        before, after = map(chosen_of, answers)
        assert after.tolist() == before[order].tolist()


@every_method
@hostile
@given(case=cases(), seed=st.integers(0, 9))
def test_methods_return_a_release_and_leave_their_input_alone(method: Method, case: Case, seed: int) -> None:
    table = case.release.original.table
    before = table.copy(deep=True)
    anonymized, source = applied(method, case, seed)
    pd.testing.assert_frame_equal(table, before)
    assert list(anonymized.columns) == list(table.columns)
    assert list(anonymized.dtypes) == list(table.dtypes)
    assert anonymized.index.equals(pd.RangeIndex(len(source)))
    assert np.isfinite(anonymized[list(case.release.original.columns.sensitive)].to_numpy()).all()
    assert (np.diff(source) > 0).all()
    assert set(source.tolist()) <= set(range(len(table)))


@every_method
@hostile
@given(case=cases())
def test_methods_repeat_themselves_under_the_same_seed(method: Method, case: Case) -> None:
    (first, s), (second, t) = applied(method, case, 3), applied(method, case, 3)
    pd.testing.assert_frame_equal(first, second)
    assert (s == t).all()
