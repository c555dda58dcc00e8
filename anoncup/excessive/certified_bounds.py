"""Certified two-sided bounds on s_exact(r), the least cost of moving all but r individuals (P2 §4.1).

s_exact(r) is the minimum of sum D[i, p(i)] over all permutations p with at most r fixed points. P2 computes
it only for r = 0 (Remark 3).

**Lower bound.** Let k = n - r, and let G(k) be the cost of the cheapest k entries off the diagonal, no two of
them in one row or column. A permutation with at most r fixed points contains such entries. Therefore
s_lower(r) <= G(k) <= s_exact(r).

**Upper bound.** For symmetric D, s_exact(r) <= G(k + 1) holds too. The k entries form paths and cycles of
individuals. Swap the two individuals of every other entry:

- in even cycles and even paths, take the cheaper half of the entries;
- pair up the odd paths, and take the longer half of one and the shorter half of the other.

The result costs no more and moves the same number of individuals. Either it is a permutation, and G(k) is
exact. Or one odd path is left, whose halves give two permutations that move k - 1 and k + 1 individuals and
cost G(k) on average. Because G is convex, both are optimal, and G is linear between them.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment

from anoncup.errors import InvalidInput
from anoncup.excessive.cheapest_choices import (
    check_matrix,
    compute_cheapest_choices,
    count_fixed_points,
    permutation_costs,
)
from anoncup.geometry.arrays import BoolArray, FloatArray, IntArray
from anoncup.geometry.kernels import paths as kernels

MAX_DENSE_BOUNDS = 2000
"""Maximum number of individuals for bounds at all r. 1,000 individuals take 0.3 s and 60 MB; 2,000 take eight
times the time and four times the memory."""

RELATIVE_TOLERANCE, ABSOLUTE_TOLERANCE = 1e-9, 1e-12
"""Bounds that differ by no more than this count as equal. The rounding error of a sum of thousands of
distances is smaller."""


@dataclass(frozen=True, slots=True)
class CertifiedBounds:
    """Certified bounds on s_exact(r) for every r in ``fixed`` (m,), ascending. They are sums, not means.

    - ``lower`` (m,) <= s_exact(r) <= ``upper`` (m,).
    - ``permutations`` (m, n): row j has at most fixed[j] fixed points and costs upper[j].
    - ``s_lower`` (m,): P2's bound, the sum of the n - r smallest distances to a nearest neighbour.
    - ``min_distance``: the smallest distance between two individuals (Min in P2).

    A single individual cannot be moved. Its bounds at r = 0 are 0 and infinity, and its permutation is -1.
    """

    fixed: IntArray
    lower: FloatArray
    upper: FloatArray
    permutations: IntArray
    s_lower: FloatArray
    min_distance: float

    @property
    def is_exact(self) -> BoolArray:
        """Whether the two bounds are equal up to rounding, so that s_exact(r) is known, (m,)."""
        return bounds_meet(self.lower, self.upper)


def bounds_meet(lower: FloatArray, upper: FloatArray) -> BoolArray:
    """Return whether bounds are equal up to rounding; infinite bounds never are."""
    return (upper - lower <= np.maximum(RELATIVE_TOLERANCE * upper, ABSOLUTE_TOLERANCE)) & np.isfinite(upper)


def certified_bounds(distances: FloatArray, fixed: Iterable[int] | None = None) -> CertifiedBounds:
    """Compute bounds on s_exact(r) from a distance matrix (n, n) by one run of shortest paths, in O(n^3).

    ``fixed``: the values of r, or None for all r = 0..n. ``is_exact`` of the result marks the proved values.

    lower[r] is G(n - r). At r = n - 1 it is G(2), because nobody can move alone. For asymmetric distances,
    the upper bounds may be loose, except at r = 0 and r = n.

    Raises InvalidInput for an invalid matrix, and if all r are requested for more than MAX_INDIVIDUALS
    individuals.

    >>> bounds = certified_bounds(np.array([[0, 4, 7, 6], [4, 0, 3, 2], [7, 3, 0, 5], [6, 2, 5, 0.0]]))
    >>> bounds.upper.tolist()
    [18.0, 10.0, 4.0, 4.0, 0.0]
    """
    matrix = check_matrix(distances)
    n = len(matrix)
    if fixed is None and n > MAX_DENSE_BOUNDS:
        raise InvalidInput("bounds for all r are limited to {most} individuals", most=MAX_DENSE_BOUNDS)
    fixed_counts = np.arange(n + 1) if fixed is None else np.unique(np.fromiter(fixed, dtype=np.int64))
    if fixed_counts.size and not 0 <= fixed_counts[0] <= fixed_counts[-1] <= n:
        raise InvalidInput("numbers of fixed points lie in 0..{most}", most=n)
    candidates, totals = np.arange(n)[np.newaxis], np.zeros(n + 1)
    if n >= 2 and fixed_counts.size:
        choices = compute_cheapest_choices(matrix, _add_adjacent_counts(n - fixed_counts, n))
        totals = np.maximum.accumulate(choices.totals)
        totals[1] = totals[2]
        candidates = np.concatenate([candidates, _build_permutations(matrix, choices.partners)])
    return assemble_bounds(matrix, fixed_counts, totals[n - fixed_counts], candidates)


def _add_adjacent_counts(counts: IntArray, maximum: int) -> IntArray:
    """Add the adjacent counts, because a path that is left over at one count is closed at the next."""
    adjacent = np.unique(np.concatenate([counts - 1, counts, counts + 1]))
    return adjacent[(adjacent >= 1) & (adjacent <= maximum)]


def assemble_bounds(
    distances: FloatArray, fixed: IntArray, lower: FloatArray, candidates: IntArray
) -> CertifiedBounds:
    """Combine proved lower bounds (m,) with the cheapest candidate permutation (a row) for each r."""
    n = len(distances)
    costs, fixed_counts = permutation_costs(distances, candidates), count_fixed_points(candidates)
    best_candidates = np.full(n + 1, -1)
    for candidate in np.argsort(-costs, kind="stable"):
        best_candidates[fixed_counts[candidate] :] = candidate
    best_candidates = best_candidates[fixed]
    upper = np.where(best_candidates >= 0, costs[best_candidates], np.inf)
    permutations = np.where(best_candidates[:, np.newaxis] >= 0, candidates[best_candidates], -1)
    s_lower, min_distance = _compute_s_lower(distances)
    return CertifiedBounds(fixed, np.minimum(lower, upper), upper, permutations, s_lower[fixed], min_distance)


def is_symmetric(distances: FloatArray) -> bool:
    """Return whether the matrix is symmetric up to rounding."""
    return bool(np.allclose(distances, distances.T, rtol=RELATIVE_TOLERANCE, atol=ABSOLUTE_TOLERANCE))


def _compute_s_lower(distances: FloatArray) -> tuple[FloatArray, float]:
    n = len(distances)
    if n < 2:
        return np.zeros(n + 1), 0.0
    off_diagonal = distances.copy()
    np.fill_diagonal(off_diagonal, np.inf)
    nearest_distances = np.sort(off_diagonal.min(axis=1))
    return np.concatenate([[0.0], np.cumsum(nearest_distances)])[::-1], float(nearest_distances[0])


def _build_permutations(distances: FloatArray, partners: IntArray) -> IntArray:
    """Build permutations from choices of entries: by swaps and, if D is asymmetric, also by closing paths."""
    doublings = kernels.build_all_doublings(distances, partners)
    if is_symmetric(distances):
        return doublings
    return np.concatenate([doublings, np.array([_close_paths(distances, partner) for partner in partners])])


def _close_paths(distances: FloatArray, partner: IntArray) -> IntArray:
    """Complete a choice of entries by the cheapest entries that link the ends of paths to beginnings."""
    ends, starts = np.setdiff1d(partner, -1), np.flatnonzero(partner >= 0)
    tails, heads = np.setdiff1d(ends, starts), np.setdiff1d(starts, ends)
    permutation = np.where(partner >= 0, partner, np.arange(len(partner)))
    rows, columns = linear_sum_assignment(distances[np.ix_(tails, heads)])
    permutation[tails[rows]] = heads[columns]
    return permutation
