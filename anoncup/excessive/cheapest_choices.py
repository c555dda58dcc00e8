"""Cheapest choices of k entries of a distance matrix, for all k at once, and costs of permutations."""

from dataclasses import dataclass

import numpy as np

from anoncup.errors import InvalidInput
from anoncup.geometry.arrays import FloatArray, IntArray
from anoncup.geometry.kernels import paths as kernels


@dataclass(frozen=True, slots=True)
class CheapestChoices:
    """Cheapest choices of k entries off the diagonal, no two in one row or column.

    - ``totals`` (n + 1,): their cost G(k) for k = 0..n, which is convex.
    - ``slopes`` (n + 1,): G(k) - G(k - 1).

    The other arrays have one line for each of the m requested counts k:

    - ``partners`` (m, n): the column chosen in every row, or -1.
    - ``row_prices`` and ``column_prices`` (m, n): prices u and v that prove G(k). u[i] + v[j] is at most
      D[i, j] off the diagonal and at most the slope on it, and sum(u) + sum(v) - slope (n - k) = G(k).
    """

    totals: FloatArray
    slopes: FloatArray
    partners: IntArray
    row_prices: FloatArray
    column_prices: FloatArray


def compute_cheapest_choices(distances: FloatArray, counts: IntArray) -> CheapestChoices:
    """Compute G(k) for all k by one run of shortest augmenting paths, in O(n^3).

    ``distances`` (n, n), n >= 2, are finite and >= 0. ``counts`` are ascending numbers in 1..n.
    """
    costs = distances.copy()
    np.fill_diagonal(costs, np.inf)
    rows_by_cost = np.ascontiguousarray(np.argsort(costs, axis=0, kind="stable").T)
    added_costs, partners, row_prices, column_prices = kernels.assign_successively(
        costs, rows_by_cost, counts
    )
    slopes = np.concatenate([[0.0], added_costs])
    return CheapestChoices(np.cumsum(slopes), slopes, partners, row_prices, column_prices)


def check_matrix(distances: FloatArray) -> FloatArray:
    """Return the matrix as C-ordered floats.

    Raises InvalidInput unless it is square, finite, >= 0 and 0 on the diagonal.
    """
    # The kernels are only compiled for writeable arrays.
    matrix = np.require(distances, np.float64, ["C", "W"])
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InvalidInput("a distance matrix is square")
    if not np.isfinite(matrix).all() or (matrix < 0).any() or matrix.diagonal().any():
        raise InvalidInput("distances are finite and not negative, and 0 to oneself")
    return matrix


def permutation_costs(distances: FloatArray, permutations: IntArray) -> FloatArray:
    """Return the sum of D[i, p(i)] for every row p of ``permutations`` (m, n), as (m,)."""
    costs: FloatArray = distances[np.arange(len(distances)), permutations].sum(axis=1)
    return costs


def count_fixed_points(permutations: IntArray) -> IntArray:
    """Return the number of fixed points of every row of ``permutations`` (m, n), as (m,)."""
    counts: IntArray = (permutations == np.arange(permutations.shape[1])).sum(axis=1)
    return counts
