"""Brute-force checks of certified bounds."""

from functools import lru_cache
from itertools import permutations
from math import factorial

import numpy as np
import pytest
from hypothesis import strategies as st
from numpy.typing import ArrayLike

from anoncup.excessive.certified_bounds import CertifiedBounds
from anoncup.excessive.cheapest_choices import count_fixed_points, permutation_costs
from anoncup.geometry.arrays import FloatArray, IntArray

tied_values = st.sampled_from([0.0, 0.0, 1.0, 1.0, 2.0, 0.25, 0.1, 0.7])
spread_values = st.floats(min_value=0, max_value=1, allow_subnormal=False)


@st.composite
def distance_matrices(draw: st.DrawFn, *, symmetric: bool, max_size: int = 7) -> FloatArray:
    n = draw(st.integers(0, max_size))
    cells = draw(
        st.lists(draw(st.sampled_from([tied_values, spread_values])), min_size=n * n, max_size=n * n)
    )
    matrix = np.array(cells).reshape(n, n)
    np.fill_diagonal(matrix, 0.0)
    return np.triu(matrix) + np.triu(matrix).T if symmetric else matrix


@lru_cache(maxsize=8)
def list_permutations(n: int) -> IntArray:
    return np.array(list(permutations(range(n))), dtype=np.int64).reshape(factorial(n), n)


def compute_exact_s(matrix: FloatArray) -> FloatArray:
    """Return s for 0 to n fixed points by definition: the minimum over all permutations."""
    n = len(matrix)
    costs = np.full(n + 1, np.inf)
    np.minimum.at(
        costs, count_fixed_points(list_permutations(n)), permutation_costs(matrix, list_permutations(n))
    )
    return np.minimum.accumulate(costs)


def build_random_distances(n: int, seed: int) -> FloatArray:
    points = np.random.default_rng(seed).random((n, 3))
    matrix: FloatArray = np.abs(points[:, np.newaxis] - points).mean(axis=2)
    return matrix


def check_bounds(matrix: FloatArray, bounds: CertifiedBounds, exact_s: ArrayLike) -> None:
    """Assert the invariants of certified bounds: ordering, attained costs and valid permutations."""
    exact_s = np.asarray(exact_s)[bounds.fixed]
    assert (bounds.s_lower <= bounds.lower + 1e-9).all()
    assert (bounds.lower <= exact_s + 1e-9).all()
    assert (exact_s <= bounds.upper + 1e-9).all()
    assert bounds.upper[bounds.is_exact] == pytest.approx(exact_s[bounds.is_exact], rel=1e-9, abs=1e-9)
    is_finite = np.isfinite(bounds.upper)
    assert permutation_costs(matrix, bounds.permutations[is_finite]) == pytest.approx(bounds.upper[is_finite])
    assert (count_fixed_points(bounds.permutations) <= bounds.fixed).all()
    assert (np.sort(bounds.permutations[is_finite]) == np.arange(len(matrix))).all()
