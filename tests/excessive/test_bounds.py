"""Bounds on the cost of permutations against brute force, a second implementation and the numbers of P2."""

from itertools import permutations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anoncup.excessive.threshold_advisor import find_cheapest_derangement, s_lower
from anoncup.geometry.arrays import FloatArray, IntArray
from tests.support.hypothesis_profiles import limit_examples
from tests.support.reference_data import get_reference_folder, needs_reference_data

pytestmark = pytest.mark.full

PAPER_MATRIX = np.array([[0, 4, 7, 6], [4, 0, 3, 2], [7, 3, 0, 5], [6, 2, 5, 0]], dtype=float)
"""Example of P2 §4.1."""


def find_nearest_distances(matrix: FloatArray) -> FloatArray:
    nearest: FloatArray = (matrix + np.diag(np.full(len(matrix), np.inf))).min(axis=1)
    return nearest


def compute_s_exact(matrix: FloatArray) -> list[float]:
    """Return s_exact(r) for r = 0 to n by definition: the minimum over all permutations."""
    n = len(matrix)
    costs = [np.inf] * (n + 1)
    for permutation in permutations(range(n)):
        fixed = sum(row == column for row, column in enumerate(permutation))
        costs[fixed] = min(costs[fixed], sum(matrix[row, column] for row, column in enumerate(permutation)))
    return [float(min(costs[: fixed + 1])) for fixed in range(n + 1)]


def compute_cost(matrix: FloatArray, permutation: IntArray) -> float:
    assert sorted(permutation.tolist()) == list(range(len(matrix)))
    return float(matrix[np.arange(len(matrix)), permutation].sum())


def test_bounds_of_the_papers_example() -> None:
    nearest = find_nearest_distances(PAPER_MATRIX)
    assert [s_lower(nearest, fixed) for fixed in range(5)] == [11, 7, 4, 2, 0]
    permutation = find_cheapest_derangement(PAPER_MATRIX)
    assert permutation is not None
    assert (permutation != np.arange(4)).all()
    assert compute_cost(PAPER_MATRIX, permutation) == compute_cost(PAPER_MATRIX, np.array([1, 2, 3, 0])) == 18
    assert compute_s_exact(PAPER_MATRIX)[:3] == [18, 10, 4]


@st.composite
def distance_matrices(draw: st.DrawFn) -> FloatArray:
    n = draw(st.integers(2, 6))
    cells = st.sampled_from([0.0, 0.0, 1.0, 0.25, 0.7, 1e-300, 1e300, 1e308])
    matrix = np.array(draw(st.lists(cells, min_size=n * n, max_size=n * n))).reshape(n, n)
    np.fill_diagonal(matrix, 0.0)
    return np.triu(matrix) + np.triu(matrix).T


@limit_examples(100)
@given(distance_matrices())
def test_bounds_agree_with_brute_force(matrix: FloatArray) -> None:
    with np.errstate(over="ignore"):
        exact, nearest = compute_s_exact(matrix), find_nearest_distances(matrix)
        permutation = find_cheapest_derangement(matrix)
        assert permutation is not None
        assert (permutation != np.arange(len(matrix))).all()
        assert compute_cost(matrix, permutation) == pytest.approx(
            exact[0], rel=1e-12, abs=1e-12 * matrix.max()
        )
        for fixed, cost in enumerate(exact):
            assert s_lower(nearest, fixed) <= cost * (1 + 1e-12)


def test_single_individual_cannot_be_moved() -> None:
    assert find_cheapest_derangement(np.zeros((1, 1))) is None
    assert s_lower(np.array([np.inf]), 1) == 0


def read_tc400_distances(folder: Path) -> FloatArray:
    """Return the distances of TC400: one minus the multiset Jaccard similarity of the goods bought."""
    names = ["customer", "receipt", "date", "time", "goods", "price", "quantity"]
    sales = pd.read_csv(folder / "Trans400.csv", names=names, dtype={"customer": str, "goods": str})
    customers = pd.read_csv(folder / "Master-Customer400.csv", header=None, dtype=str)[0]
    purchases = sales.pivot_table(index="customer", columns="goods", values="quantity", aggfunc="sum")
    amounts = purchases.reindex(customers).fillna(0).to_numpy(dtype=float)
    shared_amounts = np.array([np.minimum(row, amounts).sum(axis=1) for row in amounts])
    totals = amounts.sum(axis=1)
    matrix: FloatArray = 1 - shared_amounts / (totals[:, np.newaxis] + totals - shared_amounts)
    return matrix


@needs_reference_data
def test_bounds_of_tc400_equal_the_papers() -> None:
    matrix = read_tc400_distances(get_reference_folder())
    nearest, permutation = find_nearest_distances(matrix), find_cheapest_derangement(matrix)
    assert nearest.min() == pytest.approx(0.7133620690, abs=1e-10)
    assert permutation is not None
    assert compute_cost(matrix, permutation) == pytest.approx(356.39559585829, abs=1e-10)
    means = [s_lower(nearest, fixed) / 400 for fixed in (99, 47, 19, 1, 0)]
    expected = [0.6435287602, 0.7634816754, 0.8291073208, 0.8723424982, 0.8748393112]
    assert means == pytest.approx(expected, abs=1e-10)
