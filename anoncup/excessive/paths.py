"""Cheapest choices of k entries of a distance matrix, for all k at once, and checks of distance matrices."""

from dataclasses import dataclass

import numpy as np

from anoncup.errors import InvalidInput
from anoncup.geometry.arrays import FloatArray, IntArray
from anoncup.geometry.kernels import paths as kernels


@dataclass(frozen=True, slots=True)
class CheapestChoices:
    """Cheapest choices of k entries off the diagonal, no two in a row or column.

    ``totals`` (n + 1,): G(k), their cost, for k = 0..n; convex. ``slopes`` (n + 1,): G(k) - G(k - 1). For the
    requested counts, one row each: ``partners`` (m, n), the column chosen in every row or -1, and prices
    ``rows`` and ``columns`` (m, n) that prove G(k): rows[i] + columns[j] <= D[i, j] off the diagonal and <=
    the slope on it, with sum(rows) + sum(columns) - slope (n - k) = G(k).
    """

    totals: FloatArray
    slopes: FloatArray
    partners: IntArray
    rows: FloatArray
    columns: FloatArray


def cheapest_choices(distances: FloatArray, counts: IntArray) -> CheapestChoices:
    """Compute G(k) for all k by one run of shortest augmenting paths; O(n^3).

    ``distances`` (n, n), n >= 2, finite and >= 0; ``counts``: ascending, in 1..n.
    """
    costs = distances.copy()
    np.fill_diagonal(costs, np.inf)
    rows_by_cost = np.ascontiguousarray(np.argsort(costs, axis=0, kind="stable").T)
    added_costs, partners, rows, columns = kernels.assign_successively(costs, rows_by_cost, counts)
    slopes = np.concatenate([[0.0], added_costs])
    return CheapestChoices(np.cumsum(slopes), slopes, partners, rows, columns)


def check_matrix(distances: FloatArray) -> FloatArray:
    """Return the matrix as C-ordered floats.

    Raises InvalidInput unless it is square, finite, >= 0 and 0 on the diagonal.
    """
    # The kernels are compiled for writeable arrays only.
    matrix = np.require(distances, np.float64, ["C", "W"])
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InvalidInput("a distance matrix is square")
    if not np.isfinite(matrix).all() or (matrix < 0).any() or matrix.diagonal().any():
        raise InvalidInput("distances are finite and not negative, and 0 to oneself")
    return matrix


def permutation_costs(distances: FloatArray, permutations: IntArray) -> FloatArray:
    """Return the sum of D[i, p(i)] for every row p of ``permutations`` (m, n); (m,)."""
    costs: FloatArray = distances[np.arange(len(distances)), permutations].sum(axis=1)
    return costs


def count_fixed_points(permutations: IntArray) -> IntArray:
    """Return the number of i with p(i) = i for every row p of ``permutations`` (m, n); (m,)."""
    counts: IntArray = (permutations == np.arange(permutations.shape[1])).sum(axis=1)
    return counts
