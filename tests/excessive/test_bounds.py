"""Bounds on the cost of permutations against brute force, a second implementation and the numbers of P2."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anoncup.excessive.threshold_advisor import find_cheapest_derangement, s_lower
from anoncup.geometry.arrays import FloatArray, IntArray
from tests.support.hypothesis_profiles import limit_examples

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
