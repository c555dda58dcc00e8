"""The least cost of moving exactly 3, 5 or 7 individuals, found by enumerating odd cycles.

For symmetric D, every even cycle can be replaced by pairs. So if an odd number of individuals move, some of
them form an odd cycle. For each odd cycle, the cost of moving the other individuals is bounded by G (see
``certified_bounds``), first over everybody. Cycles that this bound does not rule out are bounded again by G
over the individuals outside of the cycle, which is slower.

Dual prices cannot prove these bounds, because the linear program behind them lets half a pair move.
"""

from collections.abc import Iterator
from itertools import islice
from operator import itemgetter
from time import perf_counter

import numpy as np

from anoncup.excessive.cheapest_choices import CheapestChoices, compute_cheapest_choices
from anoncup.geometry.arrays import FloatArray, IntArray
from anoncup.geometry.kernels import paths as kernels

MIN_MOVED, MAX_MOVED = 3, 7
"""Range of the number of moved individuals for which cycles are enumerated. Above it, branching is faster."""
_MAX_CYCLES = 10_000
"""The search stops if it finds this many cycles, because examining each of them would take too long."""
_INITIAL_STEPS = 16
"""The first search covers 1/16 of the gap above the lower bound; each further step is twice as large."""

_CostAndCycle = tuple[float, IntArray]


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
