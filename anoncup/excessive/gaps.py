"""Close gaps between certified bounds by odd cycles, then by branch and bound, within a time budget.

Both methods bound F(r), the least cost of a permutation with exactly r fixed points. They use the prices that
prove the lower bound: such a permutation costs the lower bound plus the reduced costs of its entries, all of
which are >= 0. s_exact(r) is the minimum of F(r') over r' <= r.

For symmetric D, every even cycle can be replaced by pairs. So if an odd number of individuals move, some of
them form an odd cycle. For each odd cycle, the cost of moving the other individuals is bounded by G (see
``certified_bounds``), first over everybody. Cycles that this bound does not rule out are bounded again by G
over the individuals outside of the cycle, which is slower. The prices cannot prove these bounds, because the
linear program behind them lets half a pair move.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from operator import itemgetter
from time import perf_counter

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array

from anoncup.errors import InvalidInput
from anoncup.excessive.certified_bounds import CertifiedBounds, bounds_meet, is_symmetric
from anoncup.excessive.cheapest_choices import (
    CheapestChoices,
    check_matrix,
    compute_cheapest_choices,
    count_fixed_points,
    permutation_costs,
)
from anoncup.geometry.arrays import BoolArray, FloatArray, IntArray
from anoncup.geometry.kernels import paths as kernels

_SOLVER_UNIT = 1e4
"""The largest cost in the solver's units. The solver's absolute tolerance of 1e-6 is then 1e-10 of it."""

_MAX_ENTRIES = 50_000
"""Maximum number of entries given to the solver; three times as many take gigabytes of memory."""

_MIN_ENTRIES_PER_ROW = 2
"""Number of entries per row in the first branch and bound; it is doubled until the gap is closed."""

MIN_MOVED, MAX_MOVED = 3, 7
"""Range of the number of moved individuals for which cycles are enumerated. Above it, branching is faster."""
_MAX_CYCLES = 10_000
"""The search stops if it finds this many cycles, because examining each of them would take too long."""
_INITIAL_STEPS = 16
"""The first search covers 1/16 of the gap above the lower bound; each further step is twice as large."""

_CostAndCycle = tuple[float, IntArray]


def close_gaps(
    distances: FloatArray, certified: CertifiedBounds, *, seconds: float, only: Iterable[int] | None = None
) -> CertifiedBounds:
    """Tighten the bounds at every r where they differ, or at those in ``only``, for about ``seconds``.

    ``certified``: the result of ``certified_bounds`` for the same distances and all r.

    1. Every gap is tried by odd alternating cycles.
    2. Gaps where few individuals move are tried by enumerating odd cycles of individuals.
    3. The remaining gaps are tried by branch and bound with HiGHS. Each gets an equal share of the time left.

    The result is proved whenever the time ends. One run of shortest paths is made even if it takes longer.
    The solver's results hold up to its own tolerances (1e-7 of a gap).
    """
    matrix = check_matrix(distances)
    if certified.permutations.shape != (len(matrix) + 1, len(matrix)):
        raise InvalidInput("bounds for all r of the same distances are needed")
    deadline = perf_counter() + seconds
    tracker = _BoundTracker(matrix, certified)
    candidates = range(1, len(matrix)) if only is None else sorted(set(only) & set(range(1, len(matrix))))
    gaps = [fixed for fixed in candidates if tracker.is_open(fixed)]
    if not gaps or seconds <= 0:
        return certified
    choices = compute_cheapest_choices(matrix, np.arange(1, len(matrix) + 1))
    for fixed in tracker.filter_open(gaps):
        if perf_counter() < deadline:
            _try_alternating_cycles(tracker, _build_gap(tracker, choices, fixed), deadline)
    if is_symmetric(matrix):
        for fixed in tracker.filter_open(gaps):
            _try_enumerating_cycles(tracker, choices, fixed, deadline)
    gaps = tracker.filter_open(gaps)
    for position, fixed in enumerate(gaps):
        remaining = deadline - perf_counter()
        if remaining > 0 and tracker.is_open(fixed):
            gap = _build_gap(tracker, choices, fixed)
            _try_branching(tracker, gap, perf_counter() + remaining / (len(gaps) - position))
    return tracker.build_result()


@dataclass(frozen=True, slots=True)
class _Gap:
    """The gap at r = ``fixed``: permutations with r fixed points cost ``base_cost`` plus their reduced costs.

    ``reduced_costs`` (n, n) is >= 0. Permutations with reduced costs of ``width`` or more do not improve the
    upper bound.
    """

    fixed: int
    base_cost: float
    width: float
    reduced_costs: FloatArray


class _BoundTracker:
    """Bounds proved so far. ``floors[r]`` is a lower bound for permutations with exactly r fixed points."""

    def __init__(self, distances: FloatArray, certified: CertifiedBounds) -> None:
        self.distances, self.certified = distances, certified
        self.floors, self.upper_bounds = certified.lower.copy(), certified.upper.copy()
        self.floors[len(distances) - 1 : len(distances)] = np.inf  # nobody can move alone
        self.permutations = certified.permutations.copy()

    def lower_bounds(self) -> FloatArray:
        return np.minimum(np.minimum.accumulate(self.floors), self.upper_bounds)

    def is_open(self, fixed: int) -> bool:
        return not bounds_meet(self.lower_bounds(), self.upper_bounds)[fixed]

    def filter_open(self, gaps: list[int]) -> list[int]:
        return [fixed for fixed in gaps if self.is_open(fixed)]

    def raise_floor(self, fixed: int, value: float) -> None:
        self.floors[fixed] = max(self.floors[fixed], value)

    def add_permutation(self, permutation: IntArray) -> None:
        cost = permutation_costs(self.distances, permutation[np.newaxis])[0]
        is_improved = self.upper_bounds > cost
        is_improved[: count_fixed_points(permutation[np.newaxis])[0]] = False
        self.upper_bounds[is_improved] = cost
        self.permutations[is_improved] = permutation

    def build_result(self) -> CertifiedBounds:
        initial = self.certified
        return CertifiedBounds(
            initial.fixed,
            self.lower_bounds(),
            self.upper_bounds,
            self.permutations,
            initial.s_lower,
            initial.min_distance,
        )


def _build_gap(tracker: _BoundTracker, choices: CheapestChoices, fixed: int) -> _Gap:
    moved = len(tracker.distances) - fixed
    row_prices, column_prices, slope = (
        choices.row_prices[moved - 1],
        choices.column_prices[moved - 1],
        choices.slopes[moved],
    )
    reduced_costs = tracker.distances - row_prices[:, np.newaxis] - column_prices
    np.fill_diagonal(reduced_costs, slope - row_prices - column_prices)
    base_cost = float(row_prices.sum() + column_prices.sum() - slope * fixed)
    return _Gap(
        fixed, base_cost, float(tracker.upper_bounds[fixed] - base_cost), np.maximum(reduced_costs, 0.0)
    )


def _try_alternating_cycles(tracker: _BoundTracker, gap: _Gap, deadline: float) -> None:
    """Raise the floor by the length of the shortest odd alternating cycle.

    An alternating cycle replaces entries of a known permutation, ``reference``, by others. It is odd if it
    changes an odd number of fixed points. The number of fixed points of ``reference`` and the number sought
    differ in parity. Any permutation sought therefore differs from ``reference`` by at least one odd cycle,
    and pays the reduced costs of its new entries. Applying only the shortest odd cycle may also give a better
    permutation.
    """
    reference = _find_reference(tracker, gap.fixed)
    if reference is None:
        return
    shortest, best_walk = gap.width, np.empty(0, dtype=np.int64)
    start, targets, lengths, flips_parity = _build_arcs(gap, reference)
    for source in np.flatnonzero(gap.reduced_costs.diagonal() < gap.width):
        if perf_counter() >= deadline:
            break
        length, walk = kernels.find_odd_walk(start, targets, lengths, flips_parity, int(source), shortest)
        if walk.size:
            shortest, best_walk = length, walk
    else:
        tracker.raise_floor(gap.fixed, gap.base_cost + shortest)
    if best_walk.size:
        tracker.add_permutation(_apply_cycle(reference, find_shortest_loop(best_walk)))


def _find_reference(tracker: _BoundTracker, fixed: int) -> IntArray | None:
    """Return the best permutation at r - 1 or r + 1 if its number of fixed points has another parity than r.

    None: neither has.
    """
    adjacent_permutations = tracker.permutations[[fixed - 1, fixed + 1]]
    return next(
        (
            permutation
            for permutation in adjacent_permutations
            if (count_fixed_points(permutation[np.newaxis])[0] - fixed) % 2
        ),
        None,
    )


def _build_arcs(gap: _Gap, reference: IntArray) -> tuple[IntArray, IntArray, FloatArray, BoolArray]:
    """Build the arcs of alternating cycles, grouped by row: row i takes the column of row j in ``reference``.

    Arcs as long as the gap are left out. An arc flips parity if it either makes or removes a fixed point.
    Returns where the arcs of each row begin, their targets, their lengths, and whether they flip parity.
    """
    rows, columns = np.nonzero(gap.reduced_costs < gap.width)
    rows, columns = rows[reference[rows] != columns], columns[reference[rows] != columns]
    targets = np.argsort(reference)[columns]
    start = np.searchsorted(rows, np.arange(len(reference) + 1))
    return start, targets, gap.reduced_costs[rows, columns], (rows == columns) != (targets == columns)


def find_shortest_loop(walk: IntArray) -> IntArray:
    """Return the shortest part of a closed walk that begins and ends at the same node.

    The walk passes a node at most twice, with different parity, so every such part is odd.
    """
    last_positions: dict[int, int] = {}
    best = (len(walk), 0)
    for position, node in enumerate(walk.tolist()):
        if node in last_positions:
            best = min(best, (position - last_positions[node], last_positions[node]))
        last_positions[node] = position
    return walk[best[1] : best[1] + best[0] + 1]


def _apply_cycle(reference: IntArray, cycle: IntArray) -> IntArray:
    permutation = reference.copy()
    permutation[cycle[:-1]] = reference[cycle[1:]]
    return permutation


def _try_enumerating_cycles(
    tracker: _BoundTracker, choices: CheapestChoices, fixed: int, deadline: float
) -> None:
    """Raise the floor for a small odd number of moved individuals by enumerating odd cycles."""
    moved = len(tracker.distances) - fixed
    if moved % 2 and MIN_MOVED <= moved <= MAX_MOVED:
        bounds = float(tracker.floors[fixed]), float(tracker.upper_bounds[fixed])
        floor, permutations = bound_by_odd_cycles(tracker.distances, choices, moved, bounds, deadline)
        for permutation in permutations:
            tracker.add_permutation(permutation)
        tracker.raise_floor(fixed, floor)


def bound_by_odd_cycles(
    distances: FloatArray, choices: CheapestChoices, moved: int, bounds: tuple[float, float], deadline: float
) -> tuple[float, list[IntArray]]:
    """Return a lower bound on the cost of moving exactly ``moved`` individuals, and permutations found.

    ``moved`` is odd, and the distances are symmetric. ``bounds``: the known lower bound, and the cost above
    which the result does not matter. The permutations move at most ``moved`` individuals.
    """
    (lower, upper), permutations = bounds, list[IntArray]()
    step = (upper - lower) / _INITIAL_STEPS
    while lower < upper and perf_counter() < deadline:
        limit, proved_floor = min(lower + step, upper), upper
        cycles = list(islice(_find_odd_cycles(distances, choices, moved, limit, deadline), _MAX_CYCLES))
        if len(cycles) == _MAX_CYCLES:
            break
        for cycle_bound, cycle in sorted(cycles, key=itemgetter(0)):
            if cycle_bound >= proved_floor or perf_counter() >= deadline:
                break
            cost, permutation = _complete_permutation(distances, cycle, moved - len(cycle))
            proved_floor = min(proved_floor, cost)
            permutations.append(permutation)
        if perf_counter() >= deadline:
            break
        lower, upper, step = min(limit, proved_floor), min(upper, proved_floor), 2 * step
    return lower, permutations


def _find_odd_cycles(
    distances: FloatArray, choices: CheapestChoices, moved: int, limit: float, deadline: float
) -> Iterator[_CostAndCycle]:
    """Yield odd cycles that allow a total cost below ``limit``, with a lower bound on that cost."""
    for length in range(MIN_MOVED, moved + 1, 2):
        other_cost = float(choices.totals[moved - length])
        for first in range(len(distances) - length + 1):
            for cost, cycle in _find_cycles_through_first(
                distances[first:, first:], length, limit - other_cost, deadline
            ):
                yield cost + other_cost, first + cycle


def _find_cycles_through_first(
    distances: FloatArray, length: int, limit: float, deadline: float
) -> Iterator[_CostAndCycle]:
    """Yield the cycles of ``length`` through individual 0 that cost less than ``limit``, in one direction.

    ``return_costs[m]`` (n,) is a lower bound on the cost of returning to individual 0 in m + 1 steps: it may
    visit an individual twice.
    """
    if perf_counter() >= deadline:
        return
    return_costs = [distances[0]]
    for _ in range(length - 2):
        return_costs.append(
            (distances[1:, 1:] + np.eye(len(distances) - 1) * limit + return_costs[-1][1:]).min(axis=1)
        )
        return_costs[-1] = np.append(limit, return_costs[-1])
    stack = [(0.0, [0])]
    while stack and perf_counter() < deadline:
        cost, path = stack.pop()
        remaining = length - len(path)
        if not remaining:
            if path[1] < path[-1]:
                yield cost + float(distances[path[-1], 0]), np.array(path)
            continue
        costs = cost + distances[path[-1]]
        is_extendable = costs + return_costs[remaining - 1] < limit
        is_extendable[path] = False
        stack.extend((float(costs[node]), [*path, int(node)]) for node in np.flatnonzero(is_extendable))


def _complete_permutation(distances: FloatArray, cycle: IntArray, other_count: int) -> _CostAndCycle:
    """Return a lower bound on the cost of moving a cycle and ``other_count`` others, and a permutation.

    The permutation contains the cycle and swaps of the others.
    """
    permutation = np.arange(len(distances))
    permutation[cycle] = np.roll(cycle, -1)
    cost = float(distances[cycle, permutation[cycle]].sum())
    if other_count == 0:
        return cost, permutation
    other_individuals = np.delete(np.arange(len(distances)), cycle)
    choices = compute_cheapest_choices(
        distances[np.ix_(other_individuals, other_individuals)], np.array([other_count])
    )
    permutation[other_individuals] = other_individuals[
        kernels.build_all_doublings(
            distances[np.ix_(other_individuals, other_individuals)], choices.partners
        )[0]
    ]
    return cost + float(choices.totals[other_count]), permutation


def _try_branching(tracker: _BoundTracker, gap: _Gap, deadline: float) -> None:
    """Bound F by branch and bound over the entries with the lowest reduced costs.

    A permutation with any other entry costs at least the reduced cost of that entry. If the best solution
    costs no more, it is F. Otherwise the number of entries is doubled.
    """
    costs, entry_count = np.sort(gap.reduced_costs, axis=None), _MIN_ENTRIES_PER_ROW * len(gap.reduced_costs)
    while entry_count < 2 * costs.size and tracker.is_open(gap.fixed):
        cost_limit = min(float(costs[min(entry_count, costs.size) - 1]), gap.width)
        remaining = deadline - perf_counter()
        if remaining <= 0 or np.searchsorted(costs, cost_limit, side="right") > _MAX_ENTRIES:
            return
        if cost_limit > 0 and gap.base_cost + cost_limit > tracker.floors[gap.fixed]:
            _solve_restricted(tracker, gap, cost_limit, remaining)
        entry_count *= 2


def _solve_restricted(tracker: _BoundTracker, gap: _Gap, cost_limit: float, seconds: float) -> None:
    n = len(gap.reduced_costs)
    rows, columns = np.nonzero(gap.reduced_costs <= cost_limit)
    solution = milp(
        gap.reduced_costs[rows, columns] * (_SOLVER_UNIT / cost_limit),
        integrality=np.ones(len(rows), dtype=np.int64),
        bounds=Bounds(0, 1),
        constraints=_build_permutation_constraint(rows, columns, n, gap.fixed),
        options={"time_limit": seconds, "mip_rel_gap": 0.0},
    )
    if solution.x is not None:
        is_used = solution.x > 0.5
        tracker.add_permutation(columns[is_used][np.argsort(rows[is_used])])
    tracker.raise_floor(
        gap.fixed,
        gap.base_cost + cost_limit * _compute_proved_share(solution.status, solution.mip_dual_bound),
    )


def _build_permutation_constraint(rows: IntArray, columns: IntArray, n: int, fixed: int) -> LinearConstraint:
    """Build the constraint of one entry per row and column, and ``fixed`` entries on the diagonal."""
    entry, diagonal = np.arange(len(rows)), np.flatnonzero(rows == columns)
    constraint = np.concatenate([rows, n + columns, np.full(len(diagonal), 2 * n)])
    entries = np.concatenate([entry, entry, diagonal])
    coefficients = csr_array((np.ones(len(constraint)), (constraint, entries)), shape=(2 * n + 1, len(rows)))
    required_sums = np.append(np.ones(2 * n), fixed)
    return LinearConstraint(coefficients, required_sums, required_sums)


def _compute_proved_share(status: int, lower_bound: float | None) -> float:
    """Return the share of the cost limit below which the solver found that there is no solution.

    It is 1 if the problem is infeasible (status 2).
    """
    if status == 2:
        return 1.0
    return 0.0 if lower_bound is None else min(max(lower_bound / _SOLVER_UNIT, 0.0), 1.0)
