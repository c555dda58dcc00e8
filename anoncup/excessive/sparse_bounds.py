"""Certified bounds on s_exact(r) for every r from lists of nearest others: no matrix, whatever the number.

Prices y (n,) of individuals prove that moving all but r costs at least 2 sum(y) - s r if y_i + y_j <= D_ij
for all pairs and 2 y_i <= s: whoever stays gives s back. Symmetric D needs no other prices than these, one
for each individual. All s are gone through in one course; it ends in pairs and odd cycles of individuals,
which are permutations that cost what the prices prove wherever a number of moved individuals is reached
exactly, and else lie between the bounds of the next two (``certified``).

Of pairs in neither's list nothing is held but that they are as far apart as where either list ends. So
nobody's price goes beyond half of that: who gets there is settled, as if moved at that cost, and has his list
made longer.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import fsum, inf

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from anoncup.excessive.certified_bounds import Certified
from anoncup.excessive.paths import fixed_points
from anoncup.geometry.arrays import BoolArray, FloatArray, IntArray
from anoncup.geometry.assignment import Lists
from anoncup.geometry.kernels.pairing import largest_excess, pair_up

SHORTEST, GROWTH = 8, 8
"""How many others a list holds at first, and how many times as many when it turned out too short."""
PAIRS = 2**22
"""Pairs beyond which no list is made longer."""
FEW = 100
"""Settled individuals for whom places are looked for in cycles, and how many each looks at."""
MARGIN = 1e-12
"""How far bounds are moved apart for the rounding of distances and of sums, in parts of themselves."""
UNIT = float(np.finfo(np.float64).eps)

Run = tuple[FloatArray, FloatArray, IntArray, IntArray, IntArray, FloatArray]
ListOthers = Callable[[IntArray, int], Lists]
"""``list_others(rows, length)``: the nearest others of these individuals, nearest first, about so many."""
Apart = Callable[[IntArray, IntArray], FloatArray]
"""``apart(rows, others)``: distances one by one."""


@dataclass(frozen=True, slots=True)
class Graph:
    """Pairs of individuals: i with ``others[start[i]:start[i + 1]]``, ``apart`` so far, ascending; both ways.

    Any other pair is at least max(``beyond[i]``, ``beyond[j]``) apart.
    """

    start: IntArray
    others: IntArray
    apart: FloatArray
    beyond: FloatArray

    def nearest(self) -> FloatArray:
        """Everybody's distance to the nearest other, (n,); of who lists nobody, where his list ends."""
        listed = np.diff(self.start) > 0
        found = self.beyond.copy()
        found[listed] = self.apart[self.start[:-1][listed]]
        return found

    def costs(self, permutation: IntArray, apart: Apart) -> FloatArray:
        """D[i, p(i)], (n,); ``apart`` is asked for pairs that are not listed."""
        rows = np.repeat(np.arange(len(self.beyond)), np.diff(self.start))
        listed = self.others == permutation[rows]
        costs = np.where(permutation == np.arange(len(permutation)), 0.0, np.nan)
        costs[rows[listed]] = self.apart[listed]
        missing = np.flatnonzero(np.isnan(costs))
        if len(missing):
            costs[missing] = apart(missing, permutation[missing])
        return costs


@dataclass(frozen=True, slots=True)
class Prices:
    """The course of all prices, by individual: i has ``course[first[i]:first[i + 1]]``, rows (s, y_i), s
    ascending.

    Between these y_i changes evenly, behind the last it stays. Less ``excess`` / 2 they hold for every pair.
    """

    first: IntArray
    course: FloatArray
    excess: float

    def at(self, staying: float) -> FloatArray:
        """Everybody's price where staying costs so much, (n,)."""
        rows = np.repeat(np.arange(len(self.first) - 1), np.diff(self.first))
        last = self.first[:-1] + np.bincount(rows, self.course[:, 0] <= staying).astype(np.int64) - 1
        following = np.minimum(last + 1, self.first[1:] - 1)
        (s, y), (s_next, y_next) = self.course[last].T, self.course[following].T
        share = np.divide(staying - s, s_next - s, out=np.zeros_like(s), where=s_next > s)
        found: FloatArray = y + share * (y_next - y)
        return found

    def proved(self, staying: FloatArray) -> FloatArray:
        """A bound from below of 2 sum(y), the prices lowered by ``excess``, at several costs of staying."""
        s, y = self.course.T.astype(np.longdouble)
        ends = np.append(self.first[1:] - 1, -1)
        width, rise = np.diff(s, append=0), np.diff(y, append=0)
        width[ends], rise[ends] = 0, 0
        slope = np.divide(rise, width, out=np.zeros_like(s), where=width > 0)
        slope_before, base = np.roll(slope, 1), y - slope * s
        base_before = np.roll(base, 1)
        starts = self.first[:-1]
        slope_before[starts], base_before[starts] = 0, 0
        order = np.argsort(self.course[:, 0], kind="stable")
        slopes, bases = (slope - slope_before)[order], (base - base_before)[order]
        terms = np.cumsum(slopes != 0) * np.finfo(np.longdouble).eps
        rounding = terms * (np.cumsum(np.abs(slopes)) * s[order] + np.cumsum(np.abs(bases)))
        last = np.searchsorted(self.course[order, 0], staying, side="right") - 1
        total = np.cumsum(slopes)[last] * staying + np.cumsum(bases)[last]
        lost = 2 * rounding[last] + len(starts) * (self.excess + 8 * UNIT * staying)
        return np.asarray(2 * total - lost, dtype=np.float64)


@dataclass(frozen=True, slots=True)
class Intervals:
    """What is proved of s_exact(r), r = 0..n: ``lower`` (n + 1,) <= s_exact(r) <= ``upper`` (n + 1,); sums.

    ``prices`` prove the lower bounds, the one at r where staying costs ``staying[r]``. ``asked``: the bounds
    at the r that were asked for, with permutations."""

    lower: FloatArray
    upper: FloatArray
    staying: FloatArray
    prices: Prices
    asked: Certified


def intervals(n: int, list_others: ListOthers, apart: Apart, fixed: IntArray) -> Intervals:
    """Bounds for all r of n >= 2 individuals of symmetric distances; permutations for ``fixed``, ascending.

    Memory and, where lists of a few others suffice, time grow as n does.
    """
    graph, run = _paired(n, list_others, np.maximum(n - fixed[::-1], 1))
    (added, change, settled, partners, nodes, course), moved = run, np.arange(n + 1)
    prices = _checked(graph, nodes, course)
    proved = (prices.proved(added) - added * moved[::-1]) * (1 - MARGIN)
    proved[1] = proved[2]  # nobody can move alone
    ending = _all_moved(partners[-1], graph, apart)
    cycle_of, sizes, costs = _cycles(ending, graph.costs(ending, apart))
    upper, known = np.full(n + 1, inf), settled >= 0
    np.minimum.at(upper, n - (moved - settled)[known], np.cumsum(change.astype(np.longdouble))[known])
    np.minimum.at(upper, n - sizes, costs)
    upper = np.minimum.accumulate(upper) * (1 + MARGIN)
    lower = np.minimum(np.maximum.accumulate(np.maximum(proved, 0.0))[::-1], upper)
    fewer = np.where(cycle_of < np.searchsorted(sizes, n - fixed)[:, np.newaxis], ending, moved[:-1])
    whole = np.where(partners[-2::-1] < 0, moved[:-1], partners[-2::-1])
    whole = np.where((fixed_points(whole) <= fixed)[:, np.newaxis], whole, fewer)
    whole[fixed == n] = moved[:-1]
    ascending = np.sort(graph.nearest())
    s_lower = np.concatenate([[0.0], np.cumsum(ascending)])[::-1][fixed]
    chosen, best = _cheaper(graph, apart, fewer, whole)
    asked = Certified(fixed, np.minimum(lower[fixed], best), best, chosen, s_lower, float(ascending[0]))
    return Intervals(lower, upper, added[::-1], prices, asked)


def _paired(n: int, list_others: ListOthers, counts: IntArray) -> tuple[Graph, Run]:
    """Pairs at every price of staying, by lists that grow until nobody is settled or PAIRS are listed."""
    known, short, lengths = _Known.empty(n), np.arange(n), np.full(n, min(SHORTEST, n - 1))
    while True:
        for length in np.unique(lengths[short]):
            rows = short[lengths[short] == length]
            known = known.with_lists(rows, list_others(rows, int(length)))
        graph = known.graph()
        run = pair_up(graph.start, graph.others, graph.apart, graph.beyond * (1 - MARGIN), counts)
        short = known.short(run)
        lengths[short] = np.minimum(lengths[short] * GROWTH, n - 1)
        short = short[np.cumsum(lengths[short]) <= PAIRS - len(known.others)]
        if not len(short):
            return graph, run


@dataclass(frozen=True, slots=True)
class _Known:
    """What is listed: pairs one by one, how many ``others`` each individual lists, and where his list
    ends."""

    rows: IntArray
    others: IntArray
    apart: FloatArray
    beyond: FloatArray
    complete: BoolArray

    @staticmethod
    def empty(n: int) -> "_Known":
        none = np.zeros(0, dtype=np.int64)
        return _Known(none, none, np.zeros(0), np.zeros(n), np.zeros(n, dtype=np.bool_))

    def with_lists(self, rows: IntArray, lists: Lists) -> "_Known":
        """Longer lists in the place of these individuals'."""
        again, listed = np.zeros(len(self.beyond), dtype=np.bool_), lists.columns >= 0
        again[rows] = True
        kept, beyond, complete = ~again[self.rows], self.beyond.copy(), self.complete.copy()
        beyond[rows], complete[rows] = lists.beyond, ~listed.all(axis=1)
        return _Known(
            np.concatenate([self.rows[kept], np.repeat(rows, listed.sum(axis=1))]),
            np.concatenate([self.others[kept], lists.columns[listed]]),
            np.concatenate([self.apart[kept], lists.costs[listed]]),
            beyond,
            complete,
        )

    def graph(self) -> Graph:
        n = len(self.beyond)
        low, high = np.minimum(self.rows, self.others), np.maximum(self.rows, self.others)
        _, first = np.unique(low * n + high, return_index=True)
        rows, others = np.concatenate([low[first], high[first]]), np.concatenate([high[first], low[first]])
        apart = np.tile(self.apart[first], 2)
        order = np.lexsort((apart, rows))
        start = np.searchsorted(rows[order], np.arange(n + 1))
        return Graph(start, others[order], apart[order], self.beyond)

    def short(self, run: Run) -> IntArray:
        """Who was ever settled though others as near may be listed, those who had to pay most first."""
        highest = np.full(len(self.beyond), -inf)
        np.maximum.at(highest, run[4], run[5][:, 1])
        found = np.flatnonzero(~self.complete & (highest >= self.beyond * (0.5 - MARGIN)))
        return found[np.argsort(-self.beyond[found], kind="stable")]


def _checked(graph: Graph, nodes: IntArray, course: FloatArray) -> Prices:
    """Prices by individual, and by how much they are too high, whoever made them."""
    order = np.argsort(nodes, kind="stable")
    first, course = np.searchsorted(nodes[order], np.arange(len(graph.beyond) + 1)), course[order]
    excess = largest_excess(graph.start, graph.others, graph.apart, graph.beyond, first, course)
    return Prices(first, course, excess)


def _all_moved(partner: IntArray, graph: Graph, apart: Apart) -> IntArray:
    """Partners for those too who were settled: one another, or if they are few places in cycles nearby."""
    everybody = np.arange(len(partner))
    permutation = np.where(partner < 0, everybody, partner)
    alone = np.flatnonzero(permutation == everybody)
    nearest = np.append(graph.others, 0)[graph.start[alone]]  # behind the last, of who lists nobody
    alone = alone[np.argsort(nearest, kind="stable")]
    if 1 < len(alone) <= FEW:
        for one, dear in zip(alone, apart(alone, np.roll(alone, 1)), strict=True):
            _take_in(permutation, one, dear, graph, apart)
    alone = alone[permutation[alone] == alone]
    if len(alone) % 2 and len(alone) < len(partner):
        _take_in(permutation, alone[-1], inf, graph, apart)
    elif len(alone) % 2:
        permutation[alone[-3:]] = alone[[-2, -1, -3]]
    alone = alone[permutation[alone] == alone]
    permutation[alone[::2]], permutation[alone[1::2]] = alone[1::2], alone[::2]
    return permutation


def _take_in(permutation: IntArray, one: np.int64, dear: float, graph: Graph, apart: Apart) -> None:
    """Let somebody follow one of his nearest others in that one's cycle, if it costs less than ``dear``."""
    near = graph.others[graph.start[one] : graph.start[one + 1]]
    near = near[permutation[near] != near][:FEW]
    if not len(near):
        near = np.flatnonzero(permutation != np.arange(len(permutation)))[:FEW]
    own, after = np.full(len(near), one), permutation[near]
    costs = apart(own, near) + apart(own, after) - apart(near, after)
    if len(near) and costs.min() < dear:
        best = costs.argmin()
        permutation[near[best]], permutation[one] = one, after[best]


def _cycles(permutation: IntArray, costs: FloatArray) -> tuple[IntArray, IntArray, FloatArray]:
    """Everybody's cycle, cheapest a head first; how many the first 0, 1, 2, ... move, and at what cost."""
    n = len(permutation)
    arcs = csr_array((np.ones(n), (np.arange(n), permutation)), shape=(n, n))
    label = connected_components(arcs, directed=False)[1]
    sizes, sums = np.bincount(label), np.bincount(label, costs)
    order = np.argsort(sums / sizes, kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    total = np.cumsum(sums[order].astype(np.longdouble)).astype(np.float64)
    return place[label], np.append(0, np.cumsum(sizes[order])), np.append(0.0, total)


def _cheaper(graph: Graph, apart: Apart, *candidates: IntArray) -> tuple[IntArray, FloatArray]:
    """Row by row the cheaper of several permutations, and what it costs."""
    costs = np.array([[fsum(graph.costs(each, apart)) for each in rows] for rows in candidates])
    best, rows = costs.argmin(axis=0), np.arange(costs.shape[1])
    return np.array(candidates)[best, rows], costs[best, rows]
