"""Bounds from lists of nearest others: brute force, the dense way, and prices added up in fractions."""

from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anoncup.excessive import sparse_bounds
from anoncup.excessive.certified_bounds import certified_bounds, met
from anoncup.excessive.paths import costs_of
from anoncup.excessive.sparse_bounds import UNIT, Apart, Intervals, ListOthers, intervals
from anoncup.geometry.arrays import FloatArray, IntArray
from anoncup.geometry.assignment import Lists
from anoncup.geometry.kernels.pairing import largest_excess
from anoncup.plugins import TRACKS
from anoncup.rules.settings import Columns
from anoncup.tracks.microdata import MICRODATA
from anoncup.tracks.microdata.release import prepare
from anoncup.tracks.parts import Distance
from tests.scoring import tables_to_break, transactions_to_break
from tests.support.bound_checks import check, distances, random_distances, s_exact
from tests.support.hypothesis_profiles import examples

pytestmark = pytest.mark.full

hostile = examples(150)
CASES: dict[str, st.SearchStrategy[Any]] = {
    "microdata": tables_to_break.cases(),
    "transactions": transactions_to_break.cases(),
}
EVERY_DISTANCE = [(track, each) for track in CASES for each in TRACKS[track].distances.values()]


each_length = pytest.mark.parametrize("lengths", [(1, 2**22), (2, 0), (8, 2**22)], ids=["1", "2", "8"])
"""Lists too short at first; always, as nothing more may be listed; and the usual ones."""


def listed_from(matrix: FloatArray) -> tuple[ListOthers, Apart]:
    def list_others(rows: IntArray, length: int) -> Lists:
        costs = matrix[rows]
        costs[np.arange(len(rows)), rows] = np.inf
        order = np.argsort(costs, axis=1, kind="stable")
        ranked = np.take_along_axis(costs, order, axis=1)
        columns = np.where(np.isfinite(ranked), order, -1)
        return Lists(columns[:, :length], ranked[:, :length], ranked[:, length])

    return list_others, lambda rows, others: matrix[rows, others]


def bounds_of(matrix: FloatArray, lengths: tuple[int, int] = (8, 2**22)) -> Intervals:
    n = len(matrix)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sparse_bounds, "SHORTEST", lengths[0])
        patch.setattr(sparse_bounds, "PAIRS", lengths[1])
        return intervals(n, *listed_from(matrix), np.arange(n + 1))


def proved_in_fractions(matrix: FloatArray, found: Intervals, fixed: int) -> Fraction:
    """What the prices prove at r, recomputed; they must be low enough for every pair, listed or not."""
    n, staying = len(matrix), float(found.staying[fixed])
    less = Fraction(found.prices.excess) / 2 + 4 * Fraction(UNIT) * Fraction(staying)
    prices = [Fraction(price) - less for price in found.prices.at(staying).tolist()]
    for i in range(n):
        assert 2 * prices[i] <= Fraction(staying)
        for j in range(i):
            assert prices[i] + prices[j] <= Fraction(float(matrix[i, j])), (i, j)
    return 2 * sum(prices) - Fraction(staying) * fixed


@each_length
@hostile
@given(distances(symmetric=True).filter(lambda matrix: len(matrix) >= 2))
def test_bounds_enclose_what_all_permutations_cost(lengths: tuple[int, int], matrix: FloatArray) -> None:
    found, true = bounds_of(matrix, lengths), s_exact(matrix)
    assert (found.lower <= true + 1e-9).all()
    assert (true <= found.upper + 1e-9).all()
    check(matrix, found.asked, true)
    assert (np.diff(found.lower) <= 0).all()
    if lengths[0] == 8:
        dense = certified_bounds(matrix)
        assert found.lower == pytest.approx(dense.lower, rel=1e-9, abs=1e-9)
        assert (found.upper[1:] <= found.lower[:-1] + 1e-9).all()


@each_length
@hostile
@given(distances(symmetric=True).filter(lambda matrix: len(matrix) >= 2))
def test_the_prices_prove_every_lower_bound(lengths: tuple[int, int], matrix: FloatArray) -> None:
    found, n = bounds_of(matrix, lengths), len(matrix)
    proved = [proved_in_fractions(matrix, found, fixed) for fixed in range(n + 1)]
    proved[n - 1], proved[n] = proved[n - 2], max(proved[n], Fraction(0))
    for fixed in range(n + 1):
        assert Fraction(float(found.lower[fixed])) <= max(*proved[fixed:], Fraction(0))


@each_length
@pytest.mark.parametrize(
    "matrix",
    [
        random_distances(150, 3),
        np.round(random_distances(150, 4), 1),
        1.0 - np.eye(41),
        np.kron(1.0 - np.eye(20), np.ones((3, 3))),
        np.zeros((30, 30)),
        random_distances(60, 5) * 1e-200,
        random_distances(60, 6) * 1e200,
    ],
    ids=["points", "ties", "constant", "triplets", "equal", "tiny", "huge"],
)
def test_sparse_and_dense_agree_and_so_do_fractions(lengths: tuple[int, int], matrix: FloatArray) -> None:
    found, dense = bounds_of(matrix, lengths), certified_bounds(matrix)
    unit = matrix.max() or 1.0
    assert (found.lower <= dense.upper + 1e-9 * unit).all()
    assert (found.upper >= dense.lower - 1e-9 * unit).all()
    if lengths[1]:
        assert found.lower == pytest.approx(dense.lower, rel=1e-9)
        assert (found.upper[1:] <= found.lower[:-1] + 1e-9 * unit).all()
    for fixed in range(0, len(matrix) - 1, 17):
        assert Fraction(float(found.lower[fixed])) <= proved_in_fractions(matrix, found, fixed)
    assert costs_of(matrix, found.asked.permutations) == pytest.approx(found.asked.upper, rel=1e-12)


def test_what_lies_between_two_exact_numbers_is_known_to_one_step() -> None:
    found = bounds_of(random_distances(200, 7))
    gaps = found.upper - found.lower
    assert (gaps[:-2] <= found.staying[:-2] * (1 + 1e-9)).all()
    assert met(found.lower, found.upper).mean() > 0.5


def test_prices_that_are_too_high_are_found_out() -> None:
    pair = np.arange(3), np.array([1, 0]), np.ones(2), np.full(2, np.inf)
    course = np.array([[0.0, 0.0], [1.0, 0.5], [0.0, 0.0], [1.0, 0.75], [2.0, 0.25]])
    assert largest_excess(*pair, np.array([0, 2, 5]), course) == 0.5
    assert largest_excess(*pair[:3], np.full(2, 0.25), np.array([0, 2, 5]), course) == 1.25


@pytest.mark.parametrize(("track", "distance"), EVERY_DISTANCE, ids=[each.name for _, each in EVERY_DISTANCE])
@examples(40)
@given(data=st.data())
def test_lists_hold_the_nearest_others(track: str, distance: Distance, data: st.DataObject) -> None:
    case = data.draw(CASES[track])
    agree_with_the_matrix(distance, case.release.original, data.draw(st.integers(1, 10)))


@pytest.mark.parametrize("track", CASES)
@examples(60)
@given(data=st.data())
def test_bounds_by_the_lists_of_distances_enclose_too(track: str, data: st.DataObject) -> None:
    """Of baskets that share nothing with any other too: those list nobody."""
    original = data.draw(CASES[track]).release.original
    for distance in TRACKS[track].distances.values():
        matrix = distance.matrix(original)
        n, unit = len(matrix), matrix.max() or 1.0
        if n < 2 or unit > 1e300:
            continue
        assert distance.others is not None
        asked = np.arange(n + 1)
        found = intervals(n, partial(distance.others, original), partial(distance.pairs, original), asked)
        dense = certified_bounds(matrix)
        assert found.asked.s_lower == pytest.approx(dense.s_lower, rel=1e-9, abs=1e-9 * unit)
        assert (found.lower <= dense.upper + 1e-9 * unit).all()
        assert (found.upper >= dense.lower - 1e-9 * unit).all()


@pytest.mark.parametrize("length", [1, 30, 1001])
@pytest.mark.parametrize("rows", [1, 2, 40])
@pytest.mark.parametrize("distance", MICRODATA.distances.values(), ids=MICRODATA.distances)
def test_lists_of_equal_and_of_few_rows(distance: Distance, rows: int, length: int) -> None:
    table = pd.DataFrame({"q": ["a"] * rows, "s": [1.0] * (rows - 1) + [3.0]})
    agree_with_the_matrix(distance, prepare(table, Columns(("q",), ("s",))), length)


def agree_with_the_matrix(distance: Distance, original: object, length: int) -> None:
    assert distance.others is not None
    matrix = distance.matrix(original)
    n, unit = len(matrix), matrix.max() or 1.0
    lists = distance.others(original, np.arange(n), length)
    assert lists.columns.shape == lists.costs.shape == (n, min(length, lists.columns.shape[1]))
    for i in range(n):
        listed = lists.columns[i][lists.columns[i] >= 0]
        assert len({i, *listed.tolist()}) == len(listed) + 1
        assert lists.costs[i, : len(listed)] == pytest.approx(matrix[i, listed], rel=1e-12)
        left = np.delete(matrix[i], [i, *listed])
        assert (lists.beyond[i] * (1 - 1e-12) - 1e-150 * unit <= left).all()
        assert left.size or lists.beyond[i] == np.inf
