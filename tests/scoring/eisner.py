"""Bounds once more, one r at a time: Eisner's recursion over the price of a fixed point, in plain scipy."""

from collections.abc import Iterable

import numpy as np
from scipy.optimize import linear_sum_assignment

from anoncup.errors import InvalidInput
from anoncup.excessive.certified_bounds import RELATIVE, Certified, assembled, is_symmetric
from anoncup.excessive.paths import checked, costs_of, fixed_points
from anoncup.geometry.arrays import FloatArray, IntArray
from anoncup.geometry.kernels import paths as kernels


def certified_at(distances: FloatArray, fixed: Iterable[int]) -> Certified:
    """Bounds at a few r only, for thousands of individuals: 6 to 11 assignments of O(n^3) for each r.

    Eisner's recursion: with a price on the diagonal an assignment gives a corner of the convex minorant of
    the cost by fixed points, and v(price) - price r <= s_exact(r). The corners either side of r are
    searched for by the price that makes the two best ones known equal. The lower bound is G(n - r) for
    symmetric D and no less for asymmetric. Upper bounds mix the two corners' assignments.
    """
    matrix = checked(distances)
    n = len(matrix)
    asked = np.unique(np.fromiter(fixed, dtype=np.int64))
    if asked.size and not 0 <= asked[0] <= asked[-1] <= n:
        raise InvalidInput(f"numbers of fixed points lie in 0..{n}")
    if n < 2:
        return assembled(matrix, asked, np.zeros(len(asked)), np.arange(n)[np.newaxis])
    search = _Search(matrix)
    # Nobody can move alone: n - 1 fixed points are no cheaper than n - 2.
    lower = [search.lower(n - 2 if each == n - 1 else int(each)) for each in asked]
    return assembled(matrix, asked, np.array(lower), np.array(search.found))


class _Search:
    """Corners of the convex minorant of the cost by fixed points, found as they are asked for."""

    def __init__(self, distances: FloatArray) -> None:
        self.distances = distances
        self.symmetric = is_symmetric(distances)
        self.corners: dict[int, tuple[float, IntArray]] = {}
        self.found: list[IntArray] = []
        n = len(distances)
        self._add(np.arange(n))
        self._add(self._assignment(np.inf))

    def lower(self, fixed: int) -> float:
        """The minorant at ``fixed``; the permutations met on the way are left in ``found``."""
        while fixed not in self.corners:
            below = max(each for each in self.corners if each < fixed)
            above = min(each for each in self.corners if each > fixed)
            (dear, first), (cheap, second) = self.corners[below], self.corners[above]
            price = (dear - cheap) / (above - below)
            permutation = self._assignment(price)
            points = int(fixed_points(permutation[np.newaxis])[0])
            value = float(costs_of(self.distances, permutation[np.newaxis])[0]) + price * points
            line = dear + price * below
            if line - value <= RELATIVE * line or not below < points < above:
                self.found.append(mixed(first, second, fixed))
                return value - price * fixed
            self._add(permutation)
        return self.corners[fixed][0]

    def _add(self, permutation: IntArray) -> None:
        if self.symmetric:
            # Without even cycles two assignments differ by more, smaller cycles: more to mix.
            moved = np.where(permutation == np.arange(len(permutation)), -1, permutation)
            permutation = kernels.double(self.distances, moved)[0]
        cost = float(costs_of(self.distances, permutation[np.newaxis])[0])
        self.corners[int(fixed_points(permutation[np.newaxis])[0])] = (cost, permutation)
        self.found.append(permutation)

    def _assignment(self, price: float) -> IntArray:
        priced = self.distances.copy()
        np.fill_diagonal(priced, price)
        return linear_sum_assignment(priced)[1].astype(np.int64)


def mixed(below: IntArray, above: IntArray, most: int) -> IntArray:
    """A permutation of at most ``most`` fixed points, as near as cycles of their difference lead.

    ``below`` has fewer fixed points, ``above`` more. Where both are best at one price on the diagonal, so is
    every mixture of whole cycles, and more fixed points cost less.
    """
    places = np.arange(len(below))
    holder = np.empty_like(below)
    holder[below] = places
    gains: list[tuple[int, list[int]]] = []
    seen = below == above
    for first in np.flatnonzero(~seen):
        cycle, row = [], int(first)
        while not seen[row]:
            seen[row] = True
            cycle.append(row)
            row = int(holder[above[row]])
        gains.append((int((above[cycle] == cycle).sum() - (below[cycle] == cycle).sum()), cycle))
    result, left = below.copy(), most - int((below == places).sum())
    for gain, cycle in sorted((each for each in gains if each[0] > 0), reverse=True):
        if gain <= left:
            result[cycle] = above[cycle]
            left -= gain
    return result
