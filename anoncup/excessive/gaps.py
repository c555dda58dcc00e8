"""Closes gaps between certified bounds by odd cycles, then by branch and bound, within a time budget.

Both bound F, the least cost with exactly r fixed points, with the prices that prove the lower bound: such a
permutation costs that bound plus the reduced costs of its entries, all >= 0. s_exact(r) is the least F over
r' <= r, so lower bounds combine by minima.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from time import perf_counter

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array

from anoncup.errors import InvalidInput
from anoncup.excessive.certified_bounds import CertifiedBounds, bounds_meet, is_symmetric
from anoncup.excessive.cycles import MAX_MOVED as MOST_MOVED
from anoncup.excessive.cycles import MIN_MOVED as FEWEST_MOVED
from anoncup.excessive.cycles import bound_by_odd_cycles
from anoncup.excessive.paths import (
    CheapestChoices,
    cheapest_choices,
    check_matrix,
    count_fixed_points,
    permutation_costs,
)
from anoncup.geometry.arrays import BoolArray, FloatArray, IntArray
from anoncup.geometry.kernels import paths as kernels

_SOLVER_UNIT = 1e4
"""The dearest entry in the solver's units; its absolute tolerance of 1e-6 is then 1e-10 of that entry."""

_MAX_ENTRIES = 50_000
"""Maximum number of entries for branching; with three times as many the solver takes gigabytes."""

_MIN_ENTRIES_PER_ROW = 2
"""Entries per row at the start of branching; more are added while these prove nothing."""


def close_gaps(
    distances: FloatArray, certified: CertifiedBounds, *, seconds: float, only: Iterable[int] | None = None
) -> CertifiedBounds:
    """Try to prove s_exact(r) at every r that is not exact, or at those in ``only``, for about ``seconds``.

    ``certified``: the result of ``certified_bounds`` for the same distances. Every gap is tried by odd
    alternating cycles, then those of few moved individuals by odd cycles of individuals, then the rest by
    HiGHS, each with an equal share of the time left. Bounds only tighten and stay proved whenever the time
    ends; one run of shortest paths is made in any case. The solver's answers hold up to its own tolerances
    (1e-7 of a gap).
    """
    matrix = check_matrix(distances)
    if certified.permutations.shape != (len(matrix) + 1, len(matrix)):
        raise InvalidInput("bounds for all r of the same distances are needed")
    deadline = perf_counter() + seconds
    progress = _Progress(matrix, certified)
    candidates = range(1, len(matrix)) if only is None else sorted(set(only) & set(range(1, len(matrix))))
    gaps = [fixed for fixed in candidates if progress.is_open(fixed)]
    if not gaps or seconds <= 0:
        return certified
    choices = cheapest_choices(matrix, np.arange(1, len(matrix) + 1))
    for fixed in progress.filter_open(gaps):
        if perf_counter() < deadline:
            _try_odd_cycles(progress, _build_gap(progress, choices, fixed), deadline)
    if is_symmetric(matrix):
        for fixed in progress.filter_open(gaps):
            _try_least_cycles(progress, choices, fixed, deadline)
    gaps = progress.filter_open(gaps)
    for position, fixed in enumerate(gaps):
        remaining = deadline - perf_counter()
        if remaining > 0 and progress.is_open(fixed):
            gap = _build_gap(progress, choices, fixed)
            _try_branching(progress, gap, perf_counter() + remaining / (len(gaps) - position))
    return progress.build_result()


@dataclass(frozen=True, slots=True)
class _Gap:
    """Permutations with r fixed points cost ``base`` plus their ``reduced`` costs (n, n), all >= 0.

    Permutations that cost ``width`` or more above ``base`` do not improve the upper bound.
    """

    fixed: int
    base: float
    width: float
    reduced: FloatArray


class _Progress:
    """Bounds proved so far. ``floors[r]`` bounds permutations with exactly r fixed points from below."""

    def __init__(self, distances: FloatArray, certified: CertifiedBounds) -> None:
        self.distances, self.certified = distances, certified
        self.floors, self.upper = certified.lower.copy(), certified.upper.copy()
        self.permutations = certified.permutations.copy()

    def lower(self) -> FloatArray:
        return np.minimum(np.minimum.accumulate(self.floors), self.upper)

    def is_open(self, fixed: int) -> bool:
        return not bounds_meet(self.lower(), self.upper)[fixed]

    def filter_open(self, gaps: list[int]) -> list[int]:
        return [fixed for fixed in gaps if self.is_open(fixed)]

    def raise_floor(self, fixed: int, value: float) -> None:
        self.floors[fixed] = max(self.floors[fixed], value)

    def add(self, permutation: IntArray) -> None:
        cost = permutation_costs(self.distances, permutation[np.newaxis])[0]
        is_improved = self.upper > cost
        is_improved[: count_fixed_points(permutation[np.newaxis])[0]] = False
        self.upper[is_improved] = cost
        self.permutations[is_improved] = permutation

    def build_result(self) -> CertifiedBounds:
        initial = self.certified
        return CertifiedBounds(
            initial.fixed, self.lower(), self.upper, self.permutations, initial.s_lower, initial.min_distance
        )


def _build_gap(progress: _Progress, choices: CheapestChoices, fixed: int) -> _Gap:
    moved = len(progress.distances) - fixed
    rows, columns, slope = choices.rows[moved - 1], choices.columns[moved - 1], choices.slopes[moved]
    reduced = progress.distances - rows[:, np.newaxis] - columns
    np.fill_diagonal(reduced, slope - rows - columns)
    base = float(rows.sum() + columns.sum() - slope * fixed)
    return _Gap(fixed, base, float(progress.upper[fixed] - base), np.maximum(reduced, 0.0))


def _try_odd_cycles(progress: _Progress, gap: _Gap, deadline: float) -> None:
    """Raise the floor to base + the shortest alternating cycle that changes an odd number of fixed points.

    A permutation whose parity differs from ``reference`` differs from it by disjoint alternating cycles, one
    of them odd, and pays the reduced costs of their new entries. Applying that one cycle may also give a new
    permutation.
    """
    reference = _find_other_parity(progress, gap.fixed)
    if reference is None:
        return
    shortest, best_walk = gap.width, np.empty(0, dtype=np.int64)
    start, targets, lengths, flips_parity = _build_arcs(gap, reference)
    for source in np.flatnonzero(gap.reduced.diagonal() < gap.width):
        if perf_counter() >= deadline:
            break
        length, walk = kernels.find_odd_walk(start, targets, lengths, flips_parity, int(source), shortest)
        if walk.size:
            shortest, best_walk = length, walk
    else:
        progress.raise_floor(gap.fixed, gap.base + shortest)
    if best_walk.size:
        progress.add(_switch_along(reference, find_shortest_loop(best_walk)))


def _find_other_parity(progress: _Progress, fixed: int) -> IntArray | None:
    """Return an adjacent r's best permutation whose number of fixed points differs in parity, or None."""
    neighbours = progress.permutations[[fixed - 1, fixed + 1]]
    return next(
        (
            permutation
            for permutation in neighbours
            if (count_fixed_points(permutation[np.newaxis])[0] - fixed) % 2
        ),
        None,
    )


def _build_arcs(gap: _Gap, reference: IntArray) -> tuple[IntArray, IntArray, FloatArray, BoolArray]:
    """Build arcs below the gap's width, by row: row i may take the column of another row in ``reference``.

    An arc flips parity if it leaves a fixed point or makes one, but not both.
    """
    rows, columns = np.nonzero(gap.reduced < gap.width)
    rows, columns = rows[reference[rows] != columns], columns[reference[rows] != columns]
    targets = np.argsort(reference)[columns]
    start = np.searchsorted(rows, np.arange(len(reference) + 1))
    return start, targets, gap.reduced[rows, columns], (rows == columns) != (targets == columns)


def find_shortest_loop(walk: IntArray) -> IntArray:
    """Return the shortest part of a closed walk between equal nodes: a simple cycle, its node first and last.

    The walk meets a node twice only with both parities, so every loop in it is odd.
    """
    last_positions: dict[int, int] = {}
    best = (len(walk), 0)
    for position, node in enumerate(walk.tolist()):
        if node in last_positions:
            best = min(best, (position - last_positions[node], last_positions[node]))
        last_positions[node] = position
    return walk[best[1] : best[1] + best[0] + 1]


def _switch_along(reference: IntArray, loop: IntArray) -> IntArray:
    permutation = reference.copy()
    permutation[loop[:-1]] = reference[loop[1:]]
    return permutation


def _try_least_cycles(progress: _Progress, choices: CheapestChoices, fixed: int, deadline: float) -> None:
    """Raise the floor for a small odd number of moved individuals by enumerating odd cycles."""
    moved = len(progress.distances) - fixed
    if moved % 2 and FEWEST_MOVED <= moved <= MOST_MOVED:
        bounds = float(progress.floors[fixed]), float(progress.upper[fixed])
        floor, permutations = bound_by_odd_cycles(progress.distances, choices, moved, bounds, deadline)
        for permutation in permutations:
            progress.add(permutation)
        progress.raise_floor(fixed, floor)


def _try_branching(progress: _Progress, gap: _Gap, deadline: float) -> None:
    """Bound F by branch and bound over the entries of least reduced cost, ever more of them.

    A permutation with any other entry pays its reduced cost, so the result is F once it costs no more than
    that.
    """
    costs, entry_count = np.sort(gap.reduced, axis=None), _MIN_ENTRIES_PER_ROW * len(gap.reduced)
    while entry_count < 2 * costs.size and progress.is_open(gap.fixed):
        cost_limit = min(float(costs[min(entry_count, costs.size) - 1]), gap.width)
        remaining = deadline - perf_counter()
        if remaining <= 0 or np.searchsorted(costs, cost_limit, side="right") > _MAX_ENTRIES:
            return
        if cost_limit > 0 and gap.base + cost_limit > progress.floors[gap.fixed]:
            _solve_restricted(progress, gap, cost_limit, remaining)
        entry_count *= 2


def _solve_restricted(progress: _Progress, gap: _Gap, cost_limit: float, seconds: float) -> None:
    n = len(gap.reduced)
    rows, columns = np.nonzero(gap.reduced <= cost_limit)
    solution = milp(
        gap.reduced[rows, columns] * (_SOLVER_UNIT / cost_limit),
        integrality=np.ones(len(rows), dtype=np.int64),
        bounds=Bounds(0, 1),
        constraints=_permutation_constraint(rows, columns, n, gap.fixed),
        options={"time_limit": seconds, "mip_rel_gap": 0.0},
    )
    if solution.x is not None:
        is_used = solution.x > 0.5
        progress.add(columns[is_used][np.argsort(rows[is_used])])
    progress.raise_floor(
        gap.fixed, gap.base + cost_limit * _proved_share(solution.status, solution.mip_dual_bound)
    )


def _permutation_constraint(rows: IntArray, columns: IntArray, n: int, fixed: int) -> LinearConstraint:
    """Build the constraint of one entry per row and column, and ``fixed`` entries on the diagonal."""
    entry, diagonal = np.arange(len(rows)), np.flatnonzero(rows == columns)
    constraint = np.concatenate([rows, n + columns, np.full(len(diagonal), 2 * n)])
    entries = np.concatenate([entry, entry, diagonal])
    coefficients = csr_array((np.ones(len(constraint)), (constraint, entries)), shape=(2 * n + 1, len(rows)))
    required_sums = np.append(np.ones(2 * n), fixed)
    return LinearConstraint(coefficients, required_sums, required_sums)


def _proved_share(status: int, lower_bound: float | None) -> float:
    """Return the share of the cost limit that the solver proved empty; 1 if infeasible (status 2)."""
    if status == 2:
        return 1.0
    return 0.0 if lower_bound is None else min(max(lower_bound / _SOLVER_UNIT, 0.0), 1.0)
