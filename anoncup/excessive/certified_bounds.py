"""Certified two-sided bounds on s_exact(r), the least cost of moving all but r individuals (P2 §4.1).

s_exact(r) = min sum of D[i, p(i)] over permutations p with at most r fixed points. P2 has it for r = 0
only (Remark 3). Write k = n - r, and G(k) for the cheapest k entries off the diagonal, no two in a row or
column: s_lower(r) <= G(k) <= s_exact(r), as a permutation with at most r fixed points contains such entries.

For symmetric D also s_exact(r) <= G(k + 1). The k entries form paths and cycles of individuals. Swapping the
individuals of every other entry, in even cycles and even paths on the cheaper side, in odd paths by pairs on
one's longer and the other's shorter side, is no dearer and keeps the count. It gives a permutation (then G(k)
is exact) or leaves one odd path, whose two sides give permutations with k - 1 and k + 1 moved individuals
that cost G(k) on average: G is convex, so both are best and G is linear between them.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment

from anoncup.errors import InvalidInput
from anoncup.excessive.paths import cheapest_choices, checked, costs_of, fixed_points
from anoncup.geometry.arrays import BoolArray, FloatArray, IntArray
from anoncup.geometry.kernels import paths as kernels

LARGEST = 2000
"""Most individuals for which all r are computed: 0.3 s and 60 MB at 1,000, eight and four times that here."""

RELATIVE, ABSOLUTE = 1e-9, 1e-12
"""Bounds this close have met: sums of thousands of distances are rounded by less."""


@dataclass(frozen=True, slots=True)
class Certified:
    """What is proved of s_exact(r) for every r in ``fixed`` (m,), ascending; sums, not means.

    ``lower`` (m,) <= s_exact(r) <= ``upper`` (m,). ``permutations`` (m, n): row j has at most fixed[j] fixed
    points and costs upper[j]. ``s_lower`` (m,): P2's bound, the sum of the n - r smallest mdis. ``least``:
    Min, the smallest distance between two individuals.

    One individual alone cannot be moved: at r = 0 its bounds are 0 and infinity, its permutation -1.
    """

    fixed: IntArray
    lower: FloatArray
    upper: FloatArray
    permutations: IntArray
    s_lower: FloatArray
    least: float

    @property
    def exact(self) -> BoolArray:
        """(m,): where the bounds meet, up to 1e-9 of the value or 1e-12, so that s_exact(r) is known."""
        return met(self.lower, self.upper)


def met(lower: FloatArray, upper: FloatArray) -> BoolArray:
    """Whether bounds have met up to rounding; infinite ones never do."""
    return (upper - lower <= np.maximum(RELATIVE * upper, ABSOLUTE)) & np.isfinite(upper)


def certified_bounds(distances: FloatArray, fixed: Iterable[int] | None = None) -> Certified:
    """Bounds of (n, n) distances by one run of shortest paths, O(n^3); exact[r] says which are proved.

    For the given r, or for all r = 0..n. lower[r] = G(n - r), but G(2) at r = n - 1, as nobody can move
    alone. For asymmetric D the upper bounds carry no promise, save that they are met at r = 0 and n. Raises
    InvalidInput for all r of more than LARGEST individuals and for a matrix that is no distance matrix.

    >>> bounds = certified_bounds(np.array([[0, 4, 7, 6], [4, 0, 3, 2], [7, 3, 0, 5], [6, 2, 5, 0.0]]))
    >>> bounds.upper.tolist()
    [18.0, 10.0, 4.0, 4.0, 0.0]
    """
    matrix = checked(distances)
    n = len(matrix)
    if fixed is None and n > LARGEST:
        raise InvalidInput("bounds for all r are limited to {most} individuals", most=LARGEST)
    asked = np.arange(n + 1) if fixed is None else np.unique(np.fromiter(fixed, dtype=np.int64))
    if asked.size and not 0 <= asked[0] <= asked[-1] <= n:
        raise InvalidInput("numbers of fixed points lie in 0..{most}", most=n)
    candidates, totals = np.arange(n)[np.newaxis], np.zeros(n + 1)
    if n >= 2 and asked.size:
        choices = cheapest_choices(matrix, _with_neighbours(n - asked, n))
        totals = np.maximum.accumulate(choices.totals)
        totals[1] = totals[2]
        candidates = np.concatenate([candidates, _permutations(matrix, choices.partners)])
    return assembled(matrix, asked, totals[n - asked], candidates)


def _with_neighbours(counts: IntArray, most: int) -> IntArray:
    """The counts with those beside them: a path that is left over at one is closed at the next."""
    near = np.unique(np.concatenate([counts - 1, counts, counts + 1]))
    return near[(near >= 1) & (near <= most)]


def assembled(distances: FloatArray, fixed: IntArray, lower: FloatArray, candidates: IntArray) -> Certified:
    """Bounds from proved lower ones (m,) and permutations (rows): for each r the cheapest that qualifies."""
    n = len(distances)
    costs, points = costs_of(distances, candidates), fixed_points(candidates)
    chosen = np.full(n + 1, -1)
    for place in np.argsort(-costs, kind="stable"):
        chosen[points[place] :] = place
    chosen = chosen[fixed]
    upper = np.where(chosen >= 0, costs[chosen], np.inf)
    permutations = np.where(chosen[:, np.newaxis] >= 0, candidates[chosen], -1)
    s_lower, least = _s_lower(distances)
    return Certified(fixed, np.minimum(lower, upper), upper, permutations, s_lower[fixed], least)


def is_symmetric(distances: FloatArray) -> bool:
    """Whether D[i, j] and D[j, i] differ by rounding only."""
    return bool(np.allclose(distances, distances.T, rtol=RELATIVE, atol=ABSOLUTE))


def _s_lower(distances: FloatArray) -> tuple[FloatArray, float]:
    n = len(distances)
    if n < 2:
        return np.zeros(n + 1), 0.0
    others = distances.copy()
    np.fill_diagonal(others, np.inf)
    ascending = np.sort(others.min(axis=1))
    return np.concatenate([[0.0], np.cumsum(ascending)])[::-1], float(ascending[0])


def _permutations(distances: FloatArray, partners: IntArray) -> IntArray:
    """Permutations made of choices of entries: doubled, and without symmetry also closed."""
    doubled = kernels.double_all(distances, partners)
    if is_symmetric(distances):
        return doubled
    return np.concatenate([doubled, np.array([_closed(distances, each) for each in partners])])


def _closed(distances: FloatArray, partner: IntArray) -> IntArray:
    """The entries chosen and the cheapest ones that lead from the paths' ends back to their beginnings."""
    ends, starts = np.setdiff1d(partner, -1), np.flatnonzero(partner >= 0)
    tails, heads = np.setdiff1d(ends, starts), np.setdiff1d(starts, ends)
    permutation = np.where(partner >= 0, partner, np.arange(len(partner)))
    rows, columns = linear_sum_assignment(distances[np.ix_(tails, heads)])
    permutation[tails[rows]] = heads[columns]
    return permutation
