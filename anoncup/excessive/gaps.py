"""Closing gaps between certified bounds: odd cycles, then branch and bound, within a time budget.

Both look at F, the least cost with exactly r fixed points, at the prices that prove the lower bound: the cost
of such a permutation is that bound plus the reduced costs of its entries, all >= 0. s_exact(r) is the least F
over r' <= r, so lower bounds combine by minima.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from time import perf_counter

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array

from anoncup.errors import InvalidInput
from anoncup.excessive.certified_bounds import Certified, is_symmetric, met
from anoncup.excessive.cycles import FEWEST as FEWEST_MOVED
from anoncup.excessive.cycles import MOST as MOST_MOVED
from anoncup.excessive.cycles import least_cycles
from anoncup.excessive.paths import Choices, cheapest_choices, checked, costs_of, fixed_points
from anoncup.geometry.arrays import BoolArray, FloatArray, IntArray
from anoncup.geometry.kernels import paths as kernels

UNIT = 1e4
"""The dearest entry in the solver's units: its absolute tolerance of 1e-6 is then 1e-10 of that."""

MOST = 50_000
"""Entries with which branching is still tried; with three times as many the solver takes gigabytes."""

FEWEST = 2
"""Entries a row to begin branching with; more are needed where those prove nothing."""


def close_gaps(
    distances: FloatArray, certified: Certified, *, seconds: float, only: Iterable[int] | None = None
) -> Certified:
    """Try to prove s_exact(r) at every r that is not exact, or at those in ``only``, for about ``seconds``.

    ``certified``: of the same distances, by ``certified_bounds``. First every gap by odd alternating cycles,
    then those of few moved individuals by odd cycles of these, then what is left by HiGHS, each with an equal
    share of the time left. Bounds only tighten and stay proved whenever the
    time ends; one run of shortest paths is made whatever the time. The solver's answers hold up to its own
    tolerances (1e-7 of a gap).
    """
    matrix = checked(distances)
    if certified.permutations.shape != (len(matrix) + 1, len(matrix)):
        raise InvalidInput("bounds for all r of the same distances are needed")
    deadline = perf_counter() + seconds
    progress = _Progress(matrix, certified)
    wanted = range(1, len(matrix)) if only is None else sorted(set(only) & set(range(1, len(matrix))))
    gaps = [fixed for fixed in wanted if progress.is_open(fixed)]
    if not gaps or seconds <= 0:
        return certified
    choices = cheapest_choices(matrix, np.arange(1, len(matrix) + 1))
    for fixed in progress.still_open(gaps):
        if perf_counter() < deadline:
            _by_odd_cycle(progress, _gap(progress, choices, fixed), deadline)
    if is_symmetric(matrix):
        for fixed in progress.still_open(gaps):
            _by_least_cycles(progress, choices, fixed, deadline)
    gaps = progress.still_open(gaps)
    for done, fixed in enumerate(gaps):
        left = deadline - perf_counter()
        if left > 0 and progress.is_open(fixed):
            gap = _gap(progress, choices, fixed)
            _by_branching(progress, gap, perf_counter() + left / (len(gaps) - done))
    return progress.result()


@dataclass(frozen=True, slots=True)
class _Gap:
    """One r: permutations with r fixed points cost ``base`` plus their ``reduced`` costs (n, n), all >= 0.

    Whoever costs ``width`` or more above ``base`` is no news.
    """

    fixed: int
    base: float
    width: float
    reduced: FloatArray


class _Progress:
    """What is proved so far. ``floors[r]`` bounds permutations with exactly r fixed points from below."""

    def __init__(self, distances: FloatArray, certified: Certified) -> None:
        self.distances, self.certified = distances, certified
        self.floors, self.upper = certified.lower.copy(), certified.upper.copy()
        self.permutations = certified.permutations.copy()

    def lower(self) -> FloatArray:
        return np.minimum(np.minimum.accumulate(self.floors), self.upper)

    def is_open(self, fixed: int) -> bool:
        return not met(self.lower(), self.upper)[fixed]

    def still_open(self, gaps: list[int]) -> list[int]:
        return [fixed for fixed in gaps if self.is_open(fixed)]

    def raise_floor(self, fixed: int, value: float) -> None:
        self.floors[fixed] = max(self.floors[fixed], value)

    def add(self, permutation: IntArray) -> None:
        cost = costs_of(self.distances, permutation[np.newaxis])[0]
        better = self.upper > cost
        better[: fixed_points(permutation[np.newaxis])[0]] = False
        self.upper[better] = cost
        self.permutations[better] = permutation

    def result(self) -> Certified:
        known = self.certified
        return Certified(known.fixed, self.lower(), self.upper, self.permutations, known.s_lower, known.least)


def _gap(progress: _Progress, choices: Choices, fixed: int) -> _Gap:
    count = len(progress.distances) - fixed
    rows, columns, slope = choices.rows[count - 1], choices.columns[count - 1], choices.slopes[count]
    reduced = progress.distances - rows[:, np.newaxis] - columns
    np.fill_diagonal(reduced, slope - rows - columns)
    base = float(rows.sum() + columns.sum() - slope * fixed)
    return _Gap(fixed, base, float(progress.upper[fixed] - base), np.maximum(reduced, 0.0))


def _by_odd_cycle(progress: _Progress, gap: _Gap, deadline: float) -> None:
    """F >= base + the shortest alternating cycle that changes an odd number of fixed points.

    A permutation of the other parity than ``held`` differs from it by disjoint alternating cycles, one of
    them odd, and pays the reduced costs of their new entries. That one cycle alone may also be new.
    """
    held = _of_other_parity(progress, gap.fixed)
    if held is None:
        return
    shortest, found = gap.width, np.empty(0, dtype=np.int64)
    start, following, lengths, turns = _arcs(gap, held)
    for source in np.flatnonzero(gap.reduced.diagonal() < gap.width):
        if perf_counter() >= deadline:
            break
        length, walk = kernels.odd_walk(start, following, lengths, turns, int(source), shortest)
        if walk.size:
            shortest, found = length, walk
    else:
        progress.raise_floor(gap.fixed, gap.base + shortest)
    if found.size:
        progress.add(_switched(held, shortest_loop(found)))


def _of_other_parity(progress: _Progress, fixed: int) -> IntArray | None:
    """A neighbour's best permutation that no permutation of ``fixed`` fixed points equals in parity."""
    near = progress.permutations[[fixed - 1, fixed + 1]]
    return next((each for each in near if (fixed_points(each[np.newaxis])[0] - fixed) % 2), None)


def _arcs(gap: _Gap, held: IntArray) -> tuple[IntArray, IntArray, FloatArray, BoolArray]:
    """Row i may take the column held by another row: arcs below the gap's width, by row.

    An arc turns parity if it leaves a fixed point or makes one, but not both.
    """
    rows, columns = np.nonzero(gap.reduced < gap.width)
    rows, columns = rows[held[rows] != columns], columns[held[rows] != columns]
    following = np.argsort(held)[columns]
    start = np.searchsorted(rows, np.arange(len(held) + 1))
    return start, following, gap.reduced[rows, columns], (rows == columns) != (following == columns)


def shortest_loop(walk: IntArray) -> IntArray:
    """The part of a closed walk between the nearest equal nodes: a simple cycle, its node first and last.

    The walk meets a node twice only with both parities, so that every loop in it is odd.
    """
    last: dict[int, int] = {}
    best = (len(walk), 0)
    for place, node in enumerate(walk.tolist()):
        if node in last:
            best = min(best, (place - last[node], last[node]))
        last[node] = place
    return walk[best[1] : best[1] + best[0] + 1]


def _switched(held: IntArray, loop: IntArray) -> IntArray:
    permutation = held.copy()
    permutation[loop[:-1]] = held[loop[1:]]
    return permutation


def _by_least_cycles(progress: _Progress, choices: Choices, fixed: int, deadline: float) -> None:
    """F of few by what they must have, if they are odd."""
    moved = len(progress.distances) - fixed
    if moved % 2 and FEWEST_MOVED <= moved <= MOST_MOVED:
        bounds = float(progress.floors[fixed]), float(progress.upper[fixed])
        floor, permutations = least_cycles(progress.distances, choices, moved, bounds, deadline)
        for each in permutations:
            progress.add(each)
        progress.raise_floor(fixed, floor)


def _by_branching(progress: _Progress, gap: _Gap, deadline: float) -> None:
    """F by branch and bound over the entries of least reduced cost, ever more of them.

    Whoever uses another entry pays its reduced cost: the answer is F once it is no dearer than these.
    """
    costs, entries = np.sort(gap.reduced, axis=None), FEWEST * len(gap.reduced)
    while entries < 2 * costs.size and progress.is_open(gap.fixed):
        reach = min(float(costs[min(entries, costs.size) - 1]), gap.width)
        left = deadline - perf_counter()
        if left <= 0 or np.searchsorted(costs, reach, side="right") > MOST:
            return
        if reach > 0 and gap.base + reach > progress.floors[gap.fixed]:
            _branch(progress, gap, reach, left)
        entries *= 2


def _branch(progress: _Progress, gap: _Gap, reach: float, seconds: float) -> None:
    n = len(gap.reduced)
    rows, columns = np.nonzero(gap.reduced <= reach)
    solved = milp(
        gap.reduced[rows, columns] * (UNIT / reach),
        integrality=np.ones(len(rows), dtype=np.int64),
        bounds=Bounds(0, 1),
        constraints=_each_once(rows, columns, n, gap.fixed),
        options={"time_limit": seconds, "mip_rel_gap": 0.0},
    )
    if solved.x is not None:
        chosen = solved.x > 0.5
        progress.add(columns[chosen][np.argsort(rows[chosen])])
    progress.raise_floor(gap.fixed, gap.base + reach * _proved(solved.status, solved.mip_dual_bound))


def _each_once(rows: IntArray, columns: IntArray, n: int, fixed: int) -> LinearConstraint:
    """One entry in every row and column, and ``fixed`` on the diagonal."""
    entry, diagonal = np.arange(len(rows)), np.flatnonzero(rows == columns)
    place = np.concatenate([rows, n + columns, np.full(len(diagonal), 2 * n)])
    entries = np.concatenate([entry, entry, diagonal])
    uses = csr_array((np.ones(len(place)), (place, entries)), shape=(2 * n + 1, len(rows)))
    numbers = np.append(np.ones(2 * n), fixed)
    return LinearConstraint(uses, numbers, numbers)


def _proved(status: int, bound: float | None) -> float:
    """Share of the reach that the solver proved empty; all of it where nothing is feasible (status 2)."""
    if status == 2:
        return 1.0
    return 0.0 if bound is None else min(max(bound / UNIT, 0.0), 1.0)
