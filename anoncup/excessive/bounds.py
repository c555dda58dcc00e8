"""Bounds on the cost of a permutation of the individuals (P2 §4.1).

A permutation p costs the sum of the distances D[i, p(i)]. s_exact(r) is the least cost of a permutation with
at most r fixed points. P2 found no efficient way to compute it for r > 0 (Remark 3), and uses s_lower(r).
"""

import numpy as np
from scipy.optimize import linear_sum_assignment

from anoncup.geometry.arrays import FloatArray, IntArray


def s_lower(nearest_distances: FloatArray, fixed: int) -> float:
    """Return a lower bound of s_exact(``fixed``): the sum of the n - ``fixed`` smallest nearest distances.

    ``nearest_distances`` (n,): from each individual to the nearest other one, in any order.

    >>> s_lower(np.array([4.0, 2.0, 3.0, 2.0]), 1)
    7.0
    """
    return float(np.sort(nearest_distances)[: len(nearest_distances) - fixed].sum())


def find_cheapest_derangement(distances: FloatArray) -> IntArray | None:
    """Return a permutation (n,) without fixed points that costs s_exact(0), by one assignment in O(n^3).

    ``distances`` (n, n) are finite. None for a single individual, who cannot be moved.

    >>> distances = np.array([[0, 4, 7, 6], [4, 0, 3, 2], [7, 3, 0, 5], [6, 2, 5, 0.0]])
    >>> float(distances[range(4), find_cheapest_derangement(distances)].sum())
    18.0
    """
    if len(distances) == 1:
        return None
    costs = distances / (distances.max() or 1.0)  # sums of the largest distances would overflow
    np.fill_diagonal(costs, np.inf)
    return np.asarray(linear_sum_assignment(costs)[1], dtype=np.int64)
