"""Checks of certified bounds by brute force."""

from functools import lru_cache
from itertools import permutations
from math import factorial

import numpy as np
import pytest
from hypothesis import strategies as st
from numpy.typing import ArrayLike

from anoncup.excessive.certified_bounds import Certified
from anoncup.excessive.paths import costs_of, fixed_points
from anoncup.geometry.arrays import FloatArray, IntArray

tied = st.sampled_from([0.0, 0.0, 1.0, 1.0, 2.0, 0.25, 0.1, 0.7])
spread = st.floats(min_value=0, max_value=1, allow_subnormal=False)


@st.composite
def distances(draw: st.DrawFn, *, symmetric: bool, most: int = 7) -> FloatArray:
    n = draw(st.integers(0, most))
    cells = draw(st.lists(draw(st.sampled_from([tied, spread])), min_size=n * n, max_size=n * n))
    matrix = np.array(cells).reshape(n, n)
    np.fill_diagonal(matrix, 0.0)
    return np.triu(matrix) + np.triu(matrix).T if symmetric else matrix


@lru_cache(maxsize=8)
def everyone(n: int) -> IntArray:
    return np.array(list(permutations(range(n))), dtype=np.int64).reshape(factorial(n), n)


def s_exact(matrix: FloatArray) -> FloatArray:
    """By definition: all permutations."""
    n = len(matrix)
    costs = np.full(n + 1, np.inf)
    np.minimum.at(costs, fixed_points(everyone(n)), costs_of(matrix, everyone(n)))
    return np.minimum.accumulate(costs)


def random_distances(n: int, seed: int) -> FloatArray:
    points = np.random.default_rng(seed).random((n, 3))
    matrix: FloatArray = np.abs(points[:, np.newaxis] - points).mean(axis=2)
    return matrix


def check(matrix: FloatArray, bounds: Certified, true: ArrayLike) -> None:
    """What every answer must keep, whatever was proved."""
    true = np.asarray(true)[bounds.fixed]
    assert (bounds.s_lower <= bounds.lower + 1e-9).all()
    assert (bounds.lower <= true + 1e-9).all()
    assert (true <= bounds.upper + 1e-9).all()
    assert bounds.upper[bounds.exact] == pytest.approx(true[bounds.exact], rel=1e-9, abs=1e-9)
    found = np.isfinite(bounds.upper)
    assert costs_of(matrix, bounds.permutations[found]) == pytest.approx(bounds.upper[found])
    assert (fixed_points(bounds.permutations) <= bounds.fixed).all()
    assert (np.sort(bounds.permutations[found]) == np.arange(len(matrix))).all()
