"""Second implementation of the certified bounds: Eisner's recursion, one r at a time, with plain scipy."""

from collections.abc import Iterable

import numpy as np
from scipy.optimize import linear_sum_assignment

from anoncup.errors import InvalidInput
from anoncup.excessive.certified_bounds import (
    RELATIVE_TOLERANCE,
    CertifiedBounds,
    assemble_bounds,
    is_symmetric,
)
from anoncup.excessive.cheapest_choices import check_matrix, count_fixed_points, permutation_costs
from anoncup.geometry.arrays import FloatArray, IntArray
from anoncup.geometry.kernels import paths as kernels


def compute_bounds_at(distances: FloatArray, fixed_counts: Iterable[int]) -> CertifiedBounds:
    """Return bounds on s_exact(r) at the given numbers of fixed points r.

    Eisner's recursion: with a price on the diagonal, an optimal assignment is a corner of the convex
    minorant of the cost as a function of the fixed points, and v(price) - price r <= s_exact(r). The
    corners on both sides of r are found with the price at which the two best known corners cost the same.
    The lower bound is G(n - r) for symmetric D and at least that for asymmetric D. Upper bounds combine
    the assignments of the two corners. Takes 6 to 11 assignments of O(n^3) per r.
    """
    matrix = check_matrix(distances)
    n = len(matrix)
    counts = np.unique(np.fromiter(fixed_counts, dtype=np.int64))
    if counts.size and not 0 <= counts[0] <= counts[-1] <= n:
        raise InvalidInput(f"numbers of fixed points lie in 0..{n}")
    if n < 2:
        return assemble_bounds(matrix, counts, np.zeros(len(counts)), np.arange(n)[np.newaxis])
    search = _CornerSearch(matrix)
    # A single individual cannot move alone, so n - 1 fixed points cost at least as much as n - 2.
    lower = [search.lower(n - 2 if count == n - 1 else int(count)) for count in counts]
    return assemble_bounds(matrix, counts, np.array(lower), np.array(search.permutations))


class _CornerSearch:
    """Lazy search for the corners of the convex minorant of the cost by fixed points."""

    def __init__(self, distances: FloatArray) -> None:
        self.distances = distances
        self.symmetric = is_symmetric(distances)
        self.corners: dict[int, tuple[float, IntArray]] = {}
        self.permutations: list[IntArray] = []
        n = len(distances)
        self._add(np.arange(n))
        self._add(self._assignment(np.inf))

    def lower(self, fixed: int) -> float:
        """Return the minorant at ``fixed``; also append the permutations it tries to ``permutations``."""
        while fixed not in self.corners:
            below = max(count for count in self.corners if count < fixed)
            above = min(count for count in self.corners if count > fixed)
            (cost_below, permutation_below), (cost_above, permutation_above) = (
                self.corners[below],
                self.corners[above],
            )
            price = (cost_below - cost_above) / (above - below)
            permutation = self._assignment(price)
            fixed_count = int(count_fixed_points(permutation[np.newaxis])[0])
            penalized_cost = (
                float(permutation_costs(self.distances, permutation[np.newaxis])[0]) + price * fixed_count
            )
            line = cost_below + price * below
            if line - penalized_cost <= RELATIVE_TOLERANCE * line or not below < fixed_count < above:
                self.permutations.append(mix_permutations(permutation_below, permutation_above, fixed))
                return penalized_cost - price * fixed
            self._add(permutation)
        return self.corners[fixed][0]

    def _add(self, permutation: IntArray) -> None:
        if self.symmetric:
            # Splitting even cycles makes two assignments differ by more, smaller cycles to combine.
            successors = np.where(permutation == np.arange(len(permutation)), -1, permutation)
            permutation = kernels.build_doublings(self.distances, successors)[0]
        cost = float(permutation_costs(self.distances, permutation[np.newaxis])[0])
        self.corners[int(count_fixed_points(permutation[np.newaxis])[0])] = (cost, permutation)
        self.permutations.append(permutation)

    def _assignment(self, price: float) -> IntArray:
        priced = self.distances.copy()
        np.fill_diagonal(priced, price)
        return linear_sum_assignment(priced)[1].astype(np.int64)


def mix_permutations(below: IntArray, above: IntArray, limit: int) -> IntArray:
    """Combine two permutations into one with as many fixed points as possible, but at most ``limit``.

    ``below`` has fewer fixed points than ``above``. If both are optimal at the same price on the diagonal,
    so is every combination of whole cycles of their difference, and more fixed points cost less.
    """
    rows = np.arange(len(below))
    holder = np.empty_like(below)
    holder[below] = rows
    gains: list[tuple[int, list[int]]] = []
    visited = below == above
    for start in np.flatnonzero(~visited):
        cycle, row = [], int(start)
        while not visited[row]:
            visited[row] = True
            cycle.append(row)
            row = int(holder[above[row]])
        gains.append((int((above[cycle] == cycle).sum() - (below[cycle] == cycle).sum()), cycle))
    result, remaining = below.copy(), limit - int((below == rows).sum())
    for gain, cycle in sorted((entry for entry in gains if entry[0] > 0), reverse=True):
        if gain <= remaining:
            result[cycle] = above[cycle]
            remaining -= gain
    return result
