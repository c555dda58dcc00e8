"""Certified two-sided bounds on s_exact(r), the least cost of moving all but r individuals (P2 §4.1).

s_exact(r) = min sum of D[i, p(i)] over permutations p with at most r fixed points. P2 gives it for r = 0 only
(Remark 3). Write k = n - r, and G(k) for the cheapest k entries off the diagonal, no two in a row or column:
s_lower(r) <= G(k) <= s_exact(r), because a permutation with at most r fixed points contains such entries.

For symmetric D, s_exact(r) <= G(k + 1) holds too. The k entries form paths and cycles of individuals. Swap
the individuals of every other entry: in even cycles and even paths on the cheaper side, in odd paths by pairs
on the longer side of one and the shorter side of the other. This costs no more and keeps the count. Either
the result is a permutation (then G(k) is exact), or one odd path is left, whose two sides give permutations
with k - 1 and k + 1 moved individuals that cost G(k) on average. As G is convex, both are optimal and G is
linear between them.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment

from anoncup.errors import InvalidInput
from anoncup.excessive.paths import cheapest_choices, check_matrix, count_fixed_points, permutation_costs
from anoncup.geometry.arrays import BoolArray, FloatArray, IntArray
from anoncup.geometry.kernels import paths as kernels

MAX_INDIVIDUALS = 2000
"""Maximum number of individuals for all r: 0.3 s and 60 MB at 1,000; eight times the time and four times the
memory here."""

RELATIVE_TOLERANCE, ABSOLUTE_TOLERANCE = 1e-9, 1e-12
"""Bounds that differ by less have met: rounding of sums of thousands of distances is smaller."""


@dataclass(frozen=True, slots=True)
class CertifiedBounds:
    """Certified bounds on s_exact(r) for every r in ``fixed`` (m,), ascending; sums, not means.

    ``lower`` (m,) <= s_exact(r) <= ``upper`` (m,). ``permutations`` (m, n): row j has at most fixed[j] fixed
    points and costs upper[j]. ``s_lower`` (m,): P2's bound, the sum of the n - r smallest distances to a
    nearest neighbour (mdis). ``min_distance``: Min, the smallest distance between two individuals.

    A single individual cannot be moved: at r = 0 its bounds are 0 and infinity, its permutation -1.
    """

    fixed: IntArray
    lower: FloatArray
    upper: FloatArray
    permutations: IntArray
    s_lower: FloatArray
    min_distance: float

    @property
    def is_exact(self) -> BoolArray:
        """(m,): whether the bounds meet, up to 1e-9 of the value or 1e-12, so that s_exact(r) is known."""
        return bounds_meet(self.lower, self.upper)


def bounds_meet(lower: FloatArray, upper: FloatArray) -> BoolArray:
    """Return whether bounds meet up to rounding; infinite bounds never do."""
    return (upper - lower <= np.maximum(RELATIVE_TOLERANCE * upper, ABSOLUTE_TOLERANCE)) & np.isfinite(upper)


def certified_bounds(distances: FloatArray, fixed: Iterable[int] | None = None) -> CertifiedBounds:
    """Compute bounds on s_exact(r) from (n, n) distances by one run of shortest paths, O(n^3).

    ``is_exact[r]`` marks the values that are proved. The bounds are for the given r, or for all r = 0..n.
    lower[r] = G(n - r), but G(2) at r = n - 1, because nobody can move alone. For asymmetric D the upper
    bounds are not guaranteed to be tight, except at r = 0 and n. Raises InvalidInput for all r of more than
    MAX_INDIVIDUALS individuals and for an invalid distance matrix.

    >>> bounds = certified_bounds(np.array([[0, 4, 7, 6], [4, 0, 3, 2], [7, 3, 0, 5], [6, 2, 5, 0.0]]))
    >>> bounds.upper.tolist()
    [18.0, 10.0, 4.0, 4.0, 0.0]
    """
    matrix = check_matrix(distances)
    n = len(matrix)
    if fixed is None and n > MAX_INDIVIDUALS:
        raise InvalidInput("bounds for all r are limited to {most} individuals", most=MAX_INDIVIDUALS)
    fixed_counts = np.arange(n + 1) if fixed is None else np.unique(np.fromiter(fixed, dtype=np.int64))
    if fixed_counts.size and not 0 <= fixed_counts[0] <= fixed_counts[-1] <= n:
        raise InvalidInput("numbers of fixed points lie in 0..{most}", most=n)
    candidates, totals = np.arange(n)[np.newaxis], np.zeros(n + 1)
    if n >= 2 and fixed_counts.size:
        choices = cheapest_choices(matrix, _add_adjacent_counts(n - fixed_counts, n))
        totals = np.maximum.accumulate(choices.totals)
        totals[1] = totals[2]
        candidates = np.concatenate([candidates, _build_permutations(matrix, choices.partners)])
    return assemble_bounds(matrix, fixed_counts, totals[n - fixed_counts], candidates)


def _add_adjacent_counts(counts: IntArray, maximum: int) -> IntArray:
    """Add the adjacent counts, because a path left over at one count is closed at the next."""
    adjacent = np.unique(np.concatenate([counts - 1, counts, counts + 1]))
    return adjacent[(adjacent >= 1) & (adjacent <= maximum)]


def assemble_bounds(
    distances: FloatArray, fixed: IntArray, lower: FloatArray, candidates: IntArray
) -> CertifiedBounds:
    """Combine proved lower bounds (m,) with the cheapest permutation (row) that qualifies for each r."""
    n = len(distances)
    costs, fixed_counts = permutation_costs(distances, candidates), count_fixed_points(candidates)
    best = np.full(n + 1, -1)
    for candidate in np.argsort(-costs, kind="stable"):
        best[fixed_counts[candidate] :] = candidate
    best = best[fixed]
    upper = np.where(best >= 0, costs[best], np.inf)
    permutations = np.where(best[:, np.newaxis] >= 0, candidates[best], -1)
    s_lower, min_distance = _compute_s_lower(distances)
    return CertifiedBounds(fixed, np.minimum(lower, upper), upper, permutations, s_lower[fixed], min_distance)


def is_symmetric(distances: FloatArray) -> bool:
    """Return whether D[i, j] and D[j, i] differ by rounding only."""
    return bool(np.allclose(distances, distances.T, rtol=RELATIVE_TOLERANCE, atol=ABSOLUTE_TOLERANCE))


def _compute_s_lower(distances: FloatArray) -> tuple[FloatArray, float]:
    n = len(distances)
    if n < 2:
        return np.zeros(n + 1), 0.0
    off_diagonal = distances.copy()
    np.fill_diagonal(off_diagonal, np.inf)
    nearest = np.sort(off_diagonal.min(axis=1))
    return np.concatenate([[0.0], np.cumsum(nearest)])[::-1], float(nearest[0])


def _build_permutations(distances: FloatArray, partners: IntArray) -> IntArray:
    """Build permutations from choices of entries: doubled and, for asymmetric distances, also closed."""
    doublings = kernels.build_all_doublings(distances, partners)
    if is_symmetric(distances):
        return doublings
    return np.concatenate([doublings, np.array([_close_paths(distances, partner) for partner in partners])])


def _close_paths(distances: FloatArray, partner: IntArray) -> IntArray:
    """Return the chosen entries plus the cheapest ones that link the ends of paths to their beginnings."""
    ends, starts = np.setdiff1d(partner, -1), np.flatnonzero(partner >= 0)
    tails, heads = np.setdiff1d(ends, starts), np.setdiff1d(starts, ends)
    permutation = np.where(partner >= 0, partner, np.arange(len(partner)))
    rows, columns = linear_sum_assignment(distances[np.ix_(tails, heads)])
    permutation[tails[rows]] = heads[columns]
    return permutation
