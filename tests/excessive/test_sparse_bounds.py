"""Bounds from lists of nearest others equal brute force, the dense bounds and sums of prices in fractions."""

from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anoncup.excessive import sparse_bounds
from anoncup.excessive.certified_bounds import bounds_meet, certified_bounds
from anoncup.excessive.cheapest_choices import permutation_costs
from anoncup.excessive.sparse_bounds import (
    EPSILON,
    BoundIntervals,
    ListNeighbours,
    PairDistances,
    compute_sparse_bounds,
)
from anoncup.geometry.arrays import FloatArray, IntArray
from anoncup.geometry.assignment import CandidateLists
from anoncup.geometry.kernels.pairing import find_largest_violation
from anoncup.plugins import TRACKS
from anoncup.rules.settings import Columns
from anoncup.tracks.microdata import MICRODATA
from anoncup.tracks.microdata.release import MicrodataOriginal
from anoncup.tracks.parts import AnyDistance
from tests.support import microdata_cases, transactions_cases
from tests.support.bound_checks import (
    build_random_distances,
    check_bounds,
    compute_exact_s,
    distance_matrices,
)
from tests.support.hypothesis_profiles import limit_examples

pytestmark = pytest.mark.full

hostile_examples = limit_examples(150)
CASES: dict[str, st.SearchStrategy[Any]] = {
    "microdata": microdata_cases.cases(),
    "transactions": transactions_cases.cases(),
}
DISTANCE_CASES = [(track, distance) for track in CASES for distance in TRACKS[track].distances.values()]


each_length = pytest.mark.parametrize("lengths", [(1, 2**22), (2, 0), (8, 2**22)], ids=["1", "2", "8"])
"""Lists that are too short at first, lists that stay too short because they may not grow, and usual ones."""


def build_list_functions(matrix: FloatArray) -> tuple[ListNeighbours, PairDistances]:
    def list_others(rows: IntArray, length: int) -> CandidateLists:
        costs = matrix[rows]
        costs[np.arange(len(rows)), rows] = np.inf
        order = np.argsort(costs, axis=1, kind="stable")
        ranked = np.take_along_axis(costs, order, axis=1)
        columns = np.where(np.isfinite(ranked), order, -1)
        return CandidateLists(columns[:, :length], ranked[:, :length], ranked[:, length])

    return list_others, lambda rows, other_rows: matrix[rows, other_rows]


def compute_bounds(matrix: FloatArray, lengths: tuple[int, int] = (8, 2**22)) -> BoundIntervals:
    n = len(matrix)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sparse_bounds, "INITIAL_LENGTH", lengths[0])
        patch.setattr(sparse_bounds, "MAX_PAIRS", lengths[1])
        return compute_sparse_bounds(n, *build_list_functions(matrix), np.arange(n + 1))


def prove_lower_bound(matrix: FloatArray, bounds: BoundIntervals, fixed_count: int) -> Fraction:
    """Return the lower bound that the prices prove for ``fixed_count`` fixed rows, recomputed in fractions.

    The prices must be low enough for every pair, listed or not.
    """
    n, stay_price = len(matrix), float(bounds.stay_prices[fixed_count])
    margin = Fraction(bounds.price_path.excess) / 2 + 4 * Fraction(EPSILON) * Fraction(stay_price)
    prices = [Fraction(price) - margin for price in bounds.price_path.prices_at(stay_price).tolist()]
    for i in range(n):
        assert 2 * prices[i] <= Fraction(stay_price)
        for j in range(i):
            assert prices[i] + prices[j] <= Fraction(float(matrix[i, j])), (i, j)
    return 2 * sum(prices) - Fraction(stay_price) * fixed_count


@each_length
@hostile_examples
@given(distance_matrices(symmetric=True).filter(lambda matrix: len(matrix) >= 2))
def test_bounds_enclose_the_exact_costs(lengths: tuple[int, int], matrix: FloatArray) -> None:
    bounds, exact_costs = compute_bounds(matrix, lengths), compute_exact_s(matrix)
    assert (bounds.lower <= exact_costs + 1e-9).all()
    assert (exact_costs <= bounds.upper + 1e-9).all()
    check_bounds(matrix, bounds.requested, exact_costs)
    assert (np.diff(bounds.lower) <= 0).all()
    if lengths[0] == 8:
        dense_bounds = certified_bounds(matrix)
        assert bounds.lower == pytest.approx(dense_bounds.lower, rel=1e-9, abs=1e-9)
        assert (bounds.upper[1:] <= bounds.lower[:-1] + 1e-9).all()


@each_length
@hostile_examples
@given(distance_matrices(symmetric=True).filter(lambda matrix: len(matrix) >= 2))
def test_dual_prices_prove_every_lower_bound(lengths: tuple[int, int], matrix: FloatArray) -> None:
    bounds, n = compute_bounds(matrix, lengths), len(matrix)
    proved_bounds = [prove_lower_bound(matrix, bounds, fixed_count) for fixed_count in range(n + 1)]
    proved_bounds[n - 1], proved_bounds[n] = proved_bounds[n - 2], max(proved_bounds[n], Fraction(0))
    for fixed_count in range(n + 1):
        assert Fraction(float(bounds.lower[fixed_count])) <= max(*proved_bounds[fixed_count:], Fraction(0))


@each_length
@pytest.mark.parametrize(
    "matrix",
    [
        build_random_distances(150, 3),
        np.round(build_random_distances(150, 4), 1),
        1.0 - np.eye(41),
        np.kron(1.0 - np.eye(20), np.ones((3, 3))),
        np.zeros((30, 30)),
        build_random_distances(60, 5) * 1e-200,
        build_random_distances(60, 6) * 1e200,
    ],
    ids=["points", "ties", "constant", "triplets", "equal", "tiny", "huge"],
)
def test_sparse_bounds_agree_with_dense_bounds_and_fractions(
    lengths: tuple[int, int], matrix: FloatArray
) -> None:
    bounds, dense_bounds = compute_bounds(matrix, lengths), certified_bounds(matrix)
    unit = matrix.max() or 1.0
    assert (bounds.lower <= dense_bounds.upper + 1e-9 * unit).all()
    assert (bounds.upper >= dense_bounds.lower - 1e-9 * unit).all()
    if lengths[1]:
        assert bounds.lower == pytest.approx(dense_bounds.lower, rel=1e-9)
        assert (bounds.upper[1:] <= bounds.lower[:-1] + 1e-9 * unit).all()
    for fixed_count in range(0, len(matrix) - 1, 17):
        assert Fraction(float(bounds.lower[fixed_count])) <= prove_lower_bound(matrix, bounds, fixed_count)
    assert permutation_costs(matrix, bounds.requested.permutations) == pytest.approx(
        bounds.requested.upper, rel=1e-12
    )


def test_gaps_are_at_most_one_price_step() -> None:
    bounds = compute_bounds(build_random_distances(200, 7))
    gaps = bounds.upper - bounds.lower
    assert (gaps[:-2] <= bounds.stay_prices[:-2] * (1 + 1e-9)).all()
    assert bounds_meet(bounds.lower, bounds.upper).mean() > 0.5


def test_prices_that_are_too_high_are_detected() -> None:
    pair_lists = np.arange(3), np.array([1, 0]), np.ones(2), np.full(2, np.inf)
    price_steps = np.array([[0.0, 0.0], [1.0, 0.5], [0.0, 0.0], [1.0, 0.75], [2.0, 0.25]])
    assert find_largest_violation(*pair_lists, np.array([0, 2, 5]), price_steps) == 0.5
    assert find_largest_violation(*pair_lists[:3], np.full(2, 0.25), np.array([0, 2, 5]), price_steps) == 1.25


@pytest.mark.parametrize(
    ("track", "distance"), DISTANCE_CASES, ids=[distance.name for _, distance in DISTANCE_CASES]
)
@limit_examples(40)
@given(data=st.data())
def test_lists_contain_the_nearest_others(track: str, distance: AnyDistance, data: st.DataObject) -> None:
    case = data.draw(CASES[track])
    check_lists_against_matrix(distance, case.release.original, data.draw(st.integers(1, 10)))


@pytest.mark.parametrize("track", CASES)
@limit_examples(60)
@given(data=st.data())
def test_bounds_from_neighbour_lists_agree_with_dense_bounds(track: str, data: st.DataObject) -> None:
    """The cases include baskets that share nothing with any other and thus have empty lists."""
    original = data.draw(CASES[track]).release.original
    for distance in TRACKS[track].distances.values():
        matrix = distance.matrix(original)
        n, unit = len(matrix), matrix.max() or 1.0
        if n < 2 or unit > 1e300:
            continue
        assert distance.nearest_others is not None
        counts = np.arange(n + 1)
        bounds = compute_sparse_bounds(
            n, partial(distance.nearest_others, original), partial(distance.pairs, original), counts
        )
        dense_bounds = certified_bounds(matrix)
        assert bounds.requested.s_lower == pytest.approx(dense_bounds.s_lower, rel=1e-9, abs=1e-9 * unit)
        assert (bounds.lower <= dense_bounds.upper + 1e-9 * unit).all()
        assert (bounds.upper >= dense_bounds.lower - 1e-9 * unit).all()


@pytest.mark.parametrize("length", [1, 30, 1001])
@pytest.mark.parametrize("rows", [1, 2, 40])
@pytest.mark.parametrize("distance", MICRODATA.distances.values(), ids=MICRODATA.distances)
def test_lists_of_equal_or_few_rows_are_correct(distance: AnyDistance, rows: int, length: int) -> None:
    table = pd.DataFrame({"q": ["a"] * rows, "s": [1.0] * (rows - 1) + [3.0]})
    check_lists_against_matrix(distance, MicrodataOriginal(table, Columns(("q",), ("s",))), length)


def check_lists_against_matrix(distance: AnyDistance, original: object, length: int) -> None:
    assert distance.nearest_others is not None
    matrix = distance.matrix(original)
    n, unit = len(matrix), matrix.max() or 1.0
    lists = distance.nearest_others(original, np.arange(n), length)
    assert lists.columns.shape == lists.costs.shape == (n, min(length, lists.columns.shape[1]))
    for i in range(n):
        listed_columns = lists.columns[i][lists.columns[i] >= 0]
        assert len({i, *listed_columns.tolist()}) == len(listed_columns) + 1
        assert lists.costs[i, : len(listed_columns)] == pytest.approx(matrix[i, listed_columns], rel=1e-12)
        unlisted_costs = np.delete(matrix[i], [i, *listed_columns])
        assert (lists.unlisted_bounds[i] * (1 - 1e-12) - 1e-150 * unit <= unlisted_costs).all()
        assert unlisted_costs.size or lists.unlisted_bounds[i] == np.inf
