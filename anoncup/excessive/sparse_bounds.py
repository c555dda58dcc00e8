"""Certified bounds on s_exact(r) for every r from lists of nearest neighbours, without a distance matrix.

**Lower bound.** Give each individual i a price y_i, and let s be the price of staying in place. If
y_i + y_j <= D_ij for all pairs and 2 y_i <= s for everybody, moving all but r individuals costs at least
2 sum(y) - s r. For symmetric D, one price for each individual is sufficient. One run computes the prices for
all s (see ``kernels.pairing``).

**Upper bound.** The run also yields pairs and odd cycles of individuals, which are permutations. If one of
them moves exactly n - r individuals, its cost equals the lower bound. Otherwise the cost lies between the
bounds for the two adjacent numbers (see ``certified_bounds``).

**Incomplete lists.** If neither of two individuals lists the other, their distance is only known to be at
least the largest distance that either list covers. No price may therefore exceed half of that distance. An
individual whose price reaches this limit is settled: it counts as moved at that cost, and its list is
extended.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import fsum, inf

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from anoncup.excessive.certified_bounds import CertifiedBounds
from anoncup.excessive.cheapest_choices import count_fixed_points
from anoncup.geometry.arrays import BoolArray, FloatArray, IntArray
from anoncup.geometry.assignment import CandidateLists
from anoncup.geometry.kernels.pairing import find_largest_violation, pair_up

INITIAL_LENGTH, LENGTH_GROWTH = 8, 8
"""Initial length of a list of neighbours, and the factor by which lists that are too short grow."""
MAX_PAIRS = 2**22
"""Maximum number of listed pairs; lists do not grow beyond it."""
_MAX_INSERTED = 100
"""Maximum number of settled individuals that are inserted into cycles, and of places tried for each."""
_ROUNDING_MARGIN = 1e-12
"""Relative amount by which bounds are widened to cover the rounding of distances and sums."""
EPSILON = float(np.finfo(np.float64).eps)

_PairingResult = tuple[FloatArray, FloatArray, IntArray, IntArray, IntArray, FloatArray]
ListNeighbours = Callable[[IntArray, int], CandidateLists]
"""``list_neighbours(rows, length)``: about ``length`` nearest neighbours of each row, nearest first."""
PairDistances = Callable[[IntArray, IntArray], FloatArray]
"""``pair_distances(rows, others)``: the distances of the given pairs."""


@dataclass(frozen=True, slots=True)
class NeighbourGraph:
    """Pairs of nearby individuals; each pair is listed for both of its members.

    Individual i has ``neighbours[start[i]:start[i + 1]]``, by ascending ``distances``. Individuals i and j
    who do not list each other are at least max(``unlisted_bounds[i]``, ``unlisted_bounds[j]``) apart.
    """

    starts: IntArray
    neighbours: IntArray
    distances: FloatArray
    unlisted_bounds: FloatArray

    def nearest_distances(self) -> FloatArray:
        """Return the distance to each individual's nearest neighbour, (n,); a lower bound for empty lists."""
        has_list = np.diff(self.starts) > 0
        nearest = self.unlisted_bounds.copy()
        nearest[has_list] = self.distances[self.starts[:-1][has_list]]
        return nearest

    def permutation_costs(self, permutation: IntArray, pair_distances: PairDistances) -> FloatArray:
        """Return D[i, p(i)] of a permutation p, (n,); ``pair_distances`` is called for unlisted pairs."""
        rows = np.repeat(np.arange(len(self.unlisted_bounds)), np.diff(self.starts))
        is_listed = self.neighbours == permutation[rows]
        costs = np.where(permutation == np.arange(len(permutation)), 0.0, np.nan)
        costs[rows[is_listed]] = self.distances[is_listed]
        missing = np.flatnonzero(np.isnan(costs))
        if len(missing):
            costs[missing] = pair_distances(missing, permutation[missing])
        return costs


@dataclass(frozen=True, slots=True)
class PricePath:
    """The prices of all individuals as functions of the stay price s.

    Individual i has ``points[starts[i]:starts[i + 1]]``, pairs (s, y_i) with ascending s. Its price is linear
    between the points and constant after the last one. The prices are valid for every pair after subtracting
    ``excess`` / 2 from each.
    """

    starts: IntArray
    points: FloatArray
    excess: float

    def prices_at(self, stay_price: float) -> FloatArray:
        """Return every individual's price at one stay price, (n,)."""
        owners = np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))
        point = self.starts[:-1] + np.bincount(owners, self.points[:, 0] <= stay_price).astype(np.int64) - 1
        next_point = np.minimum(point + 1, self.starts[1:] - 1)
        (s, y), (s_next, y_next) = self.points[point].T, self.points[next_point].T
        share = np.divide(stay_price - s, s_next - s, out=np.zeros_like(s), where=s_next > s)
        prices: FloatArray = y + share * (y_next - y)
        return prices

    def prove_lower_bounds(self, stay_prices: FloatArray) -> FloatArray:
        """Return lower bounds of 2 sum(y) at several stay prices.

        The excess of the prices and the rounding errors of the sums are subtracted.
        """
        s, y = self.points.T.astype(np.longdouble)
        last_points = np.append(self.starts[1:] - 1, -1)
        width, rise = np.diff(s, append=0), np.diff(y, append=0)
        width[last_points], rise[last_points] = 0, 0
        slope = np.divide(rise, width, out=np.zeros_like(s), where=width > 0)
        slope_before, base = np.roll(slope, 1), y - slope * s
        base_before = np.roll(base, 1)
        first_points = self.starts[:-1]
        slope_before[first_points], base_before[first_points] = 0, 0
        order = np.argsort(self.points[:, 0], kind="stable")
        slopes, bases = (slope - slope_before)[order], (base - base_before)[order]
        terms = np.cumsum(slopes != 0) * np.finfo(np.longdouble).eps
        rounding = terms * (np.cumsum(np.abs(slopes)) * s[order] + np.cumsum(np.abs(bases)))
        positions = np.searchsorted(self.points[order, 0], stay_prices, side="right") - 1
        total = np.cumsum(slopes)[positions] * stay_prices + np.cumsum(bases)[positions]
        deduction = 2 * rounding[positions] + len(first_points) * (self.excess + 8 * EPSILON * stay_prices)
        return np.asarray(2 * total - deduction, dtype=np.float64)


@dataclass(frozen=True, slots=True)
class BoundIntervals:
    """Bounds ``lower`` and ``upper`` (n + 1,) on s_exact(r) for r = 0..n. They are sums, not means.

    ``price_path`` proves the lower bound at r at the stay price ``stay_prices[r]``. ``requested``: the bounds
    at the requested r, with permutations.
    """

    lower: FloatArray
    upper: FloatArray
    stay_prices: FloatArray
    price_path: PricePath
    requested: CertifiedBounds


def compute_sparse_bounds(
    n: int, list_neighbours: ListNeighbours, pair_distances: PairDistances, fixed: IntArray
) -> BoundIntervals:
    """Compute bounds for all r of n >= 2 individuals with symmetric distances.

    Permutations are returned only for the ascending r in ``fixed``. Memory is linear in n, and so is time if
    short lists are sufficient.
    """
    graph, result = _pair_with_growing_lists(n, list_neighbours, np.maximum(n - fixed[::-1], 1))
    (stay_prices, cost_changes, settled_counts, partners, path_nodes, path_points), counts = (
        result,
        np.arange(n + 1),
    )
    price_path = _verify_prices(graph, path_nodes, path_points)
    lower_bounds = (price_path.prove_lower_bounds(stay_prices) - stay_prices * counts[::-1]) * (
        1 - _ROUNDING_MARGIN
    )
    lower_bounds[1] = lower_bounds[2]  # Nobody can move alone.
    full_permutation = _move_everybody(partners[-1], graph, pair_distances)
    cycle_ranks, cycle_moved_counts, cycle_costs = _split_cycles(
        full_permutation, graph.permutation_costs(full_permutation, pair_distances)
    )
    upper, is_known = np.full(n + 1, inf), settled_counts >= 0
    np.minimum.at(
        upper,
        n - (counts - settled_counts)[is_known],
        np.cumsum(cost_changes.astype(np.longdouble))[is_known],
    )
    np.minimum.at(upper, n - cycle_moved_counts, cycle_costs)
    upper = np.minimum.accumulate(upper) * (1 + _ROUNDING_MARGIN)
    lower = np.minimum(np.maximum.accumulate(np.maximum(lower_bounds, 0.0))[::-1], upper)
    partial_permutations = np.where(
        cycle_ranks < np.searchsorted(cycle_moved_counts, n - fixed)[:, np.newaxis],
        full_permutation,
        counts[:-1],
    )
    paired_permutations = np.where(partners[-2::-1] < 0, counts[:-1], partners[-2::-1])
    paired_permutations = np.where(
        (count_fixed_points(paired_permutations) <= fixed)[:, np.newaxis],
        paired_permutations,
        partial_permutations,
    )
    paired_permutations[fixed == n] = counts[:-1]
    nearest = np.sort(graph.nearest_distances())
    s_lower = np.concatenate([[0.0], np.cumsum(nearest)])[::-1][fixed]
    permutations, best_costs = _choose_cheapest(
        graph, pair_distances, partial_permutations, paired_permutations
    )
    requested = CertifiedBounds(
        fixed,
        np.minimum(lower[fixed], best_costs),
        best_costs,
        permutations,
        s_lower,
        float(nearest[0]),
    )
    return BoundIntervals(lower, upper, stay_prices[::-1], price_path, requested)


def _pair_with_growing_lists(
    n: int, list_neighbours: ListNeighbours, counts: IntArray
) -> tuple[NeighbourGraph, _PairingResult]:
    """Pair individuals at every stay price; lists grow until they are long enough or have MAX_PAIRS pairs."""
    known_pairs = _KnownPairs.empty(n)
    incomplete = np.arange(n)
    lengths = np.full(n, min(INITIAL_LENGTH, n - 1))
    while True:
        for length in np.unique(lengths[incomplete]):
            rows = incomplete[lengths[incomplete] == length]
            known_pairs = known_pairs.replace_lists(rows, list_neighbours(rows, int(length)))
        graph = known_pairs.build_graph()
        result = pair_up(
            graph.starts,
            graph.neighbours,
            graph.distances,
            graph.unlisted_bounds * (1 - _ROUNDING_MARGIN),
            counts,
        )
        incomplete = known_pairs.find_incomplete(result)
        lengths[incomplete] = np.minimum(lengths[incomplete] * LENGTH_GROWTH, n - 1)
        incomplete = incomplete[np.cumsum(lengths[incomplete]) <= MAX_PAIRS - len(known_pairs.neighbours)]
        if not len(incomplete):
            return graph, result


@dataclass(frozen=True, slots=True)
class _KnownPairs:
    """All listed pairs, with the bound of each individual's list and whether the list contains everybody."""

    rows: IntArray
    neighbours: IntArray
    distances: FloatArray
    unlisted_bounds: FloatArray
    is_complete: BoolArray

    @staticmethod
    def empty(n: int) -> "_KnownPairs":
        no_rows = np.zeros(0, dtype=np.int64)
        return _KnownPairs(no_rows, no_rows, np.zeros(0), np.zeros(n), np.zeros(n, dtype=np.bool_))

    def replace_lists(self, rows: IntArray, lists: CandidateLists) -> "_KnownPairs":
        """Return the pairs with new, longer lists of these individuals."""
        is_replaced, is_listed = np.zeros(len(self.unlisted_bounds), dtype=np.bool_), lists.columns >= 0
        is_replaced[rows] = True
        is_kept = ~is_replaced[self.rows]
        unlisted_bounds = self.unlisted_bounds.copy()
        is_complete = self.is_complete.copy()
        unlisted_bounds[rows], is_complete[rows] = lists.unlisted_bounds, ~is_listed.all(axis=1)
        return _KnownPairs(
            np.concatenate([self.rows[is_kept], np.repeat(rows, is_listed.sum(axis=1))]),
            np.concatenate([self.neighbours[is_kept], lists.columns[is_listed]]),
            np.concatenate([self.distances[is_kept], lists.costs[is_listed]]),
            unlisted_bounds,
            is_complete,
        )

    def build_graph(self) -> NeighbourGraph:
        n = len(self.unlisted_bounds)
        smaller, larger = np.minimum(self.rows, self.neighbours), np.maximum(self.rows, self.neighbours)
        _, first_entries = np.unique(smaller * n + larger, return_index=True)
        rows = np.concatenate([smaller[first_entries], larger[first_entries]])
        neighbours = np.concatenate([larger[first_entries], smaller[first_entries]])
        distances = np.tile(self.distances[first_entries], 2)
        order = np.lexsort((distances, rows))
        starts = np.searchsorted(rows[order], np.arange(n + 1))
        return NeighbourGraph(starts, neighbours[order], distances[order], self.unlisted_bounds)

    def find_incomplete(self, result: _PairingResult) -> IntArray:
        """Return the individuals whose lists were too short, those with the largest bounds first."""
        highest_prices = np.full(len(self.unlisted_bounds), -inf)
        np.maximum.at(highest_prices, result[4], result[5][:, 1])
        rows = np.flatnonzero(
            ~self.is_complete & (highest_prices >= self.unlisted_bounds * (0.5 - _ROUNDING_MARGIN))
        )
        return rows[np.argsort(-self.unlisted_bounds[rows], kind="stable")]


def _verify_prices(graph: NeighbourGraph, path_nodes: IntArray, path_points: FloatArray) -> PricePath:
    """Sort prices by individual, and compute from all pairs by how much they violate the conditions.

    The result is valid even if ``pair_up`` is wrong.
    """
    order = np.argsort(path_nodes, kind="stable")
    starts = np.searchsorted(path_nodes[order], np.arange(len(graph.unlisted_bounds) + 1))
    path_points = path_points[order]
    excess = find_largest_violation(
        graph.starts, graph.neighbours, graph.distances, graph.unlisted_bounds, starts, path_points
    )
    return PricePath(starts, path_points, excess)


def _move_everybody(partners: IntArray, graph: NeighbourGraph, pair_distances: PairDistances) -> IntArray:
    """Complete the partners to a permutation that moves everybody.

    Settled individuals swap with one another. If they are few, each is inserted into a cycle nearby where
    that is cheaper.
    """
    individuals = np.arange(len(partners))
    permutation = np.where(partners < 0, individuals, partners)
    unpaired = np.flatnonzero(permutation == individuals)
    nearest_neighbours = np.append(graph.neighbours, 0)[graph.starts[unpaired]]  # 0 for an empty last list
    unpaired = unpaired[np.argsort(nearest_neighbours, kind="stable")]
    if 1 < len(unpaired) <= _MAX_INSERTED:
        for individual, cost in zip(unpaired, pair_distances(unpaired, np.roll(unpaired, 1)), strict=True):
            _insert_into_cycle(permutation, individual, cost, graph, pair_distances)
    unpaired = unpaired[permutation[unpaired] == unpaired]
    if len(unpaired) % 2 and len(unpaired) < len(partners):
        _insert_into_cycle(permutation, unpaired[-1], inf, graph, pair_distances)
    elif len(unpaired) % 2:
        permutation[unpaired[-3:]] = unpaired[[-2, -1, -3]]
    unpaired = unpaired[permutation[unpaired] == unpaired]
    permutation[unpaired[::2]], permutation[unpaired[1::2]] = unpaired[1::2], unpaired[::2]
    return permutation


def _insert_into_cycle(
    permutation: IntArray,
    individual: np.int64,
    max_cost: float,
    graph: NeighbourGraph,
    pair_distances: PairDistances,
) -> None:
    """Insert an individual into the cycle of a near neighbour if this costs less than ``max_cost``."""
    candidates = graph.neighbours[graph.starts[individual] : graph.starts[individual + 1]]
    candidates = candidates[permutation[candidates] != candidates][:_MAX_INSERTED]
    if not len(candidates):
        candidates = np.flatnonzero(permutation != np.arange(len(permutation)))[:_MAX_INSERTED]
    repeated, successors = np.full(len(candidates), individual), permutation[candidates]
    costs = (
        pair_distances(repeated, candidates)
        + pair_distances(repeated, successors)
        - pair_distances(candidates, successors)
    )
    if len(candidates) and costs.min() < max_cost:
        best = costs.argmin()
        permutation[candidates[best]], permutation[individual] = individual, successors[best]


def _split_cycles(permutation: IntArray, costs: FloatArray) -> tuple[IntArray, IntArray, FloatArray]:
    """Rank cycles by cost per member, cheapest first.

    Returns the rank of each individual's cycle, (n,), and the numbers of members and the costs of the first
    0, 1, 2, ... cycles together.
    """
    n = len(permutation)
    arcs = csr_array((np.ones(n), (np.arange(n), permutation)), shape=(n, n))
    labels = connected_components(arcs, directed=False)[1]
    sizes, sums = np.bincount(labels), np.bincount(labels, costs)
    order = np.argsort(sums / sizes, kind="stable")
    ranks = np.empty_like(order)
    ranks[order] = np.arange(len(order))
    cumulative_costs = np.cumsum(sums[order].astype(np.longdouble)).astype(np.float64)
    return ranks[labels], np.append(0, np.cumsum(sizes[order])), np.append(0.0, cumulative_costs)


def _choose_cheapest(
    graph: NeighbourGraph, pair_distances: PairDistances, *candidates: IntArray
) -> tuple[IntArray, FloatArray]:
    """Return the cheapest of the candidate permutations for each row, and their costs."""
    costs = np.array(
        [
            [fsum(graph.permutation_costs(permutation, pair_distances)) for permutation in rows]
            for rows in candidates
        ]
    )
    best_candidates, rows = costs.argmin(axis=0), np.arange(costs.shape[1])
    return np.array(candidates)[best_candidates, rows], costs[best_candidates, rows]
