"""The least cost of moving exactly 3, 5 or 7 individuals, by enumerating odd cycles.

For symmetric D, even cycles can be replaced by pairs, so an odd number of moved individuals includes an odd
cycle. The others cost at least G of their number, first among everybody, then among those outside of the
cycle; the second bound is computed only for the few cycles that the first one does not rule out. Dual prices
cannot prove this, because they let half a pair move at either end.
"""

from collections.abc import Iterator
from itertools import islice
from time import perf_counter

import numpy as np

from anoncup.excessive.paths import CheapestChoices, cheapest_choices
from anoncup.geometry.arrays import FloatArray, IntArray
from anoncup.geometry.kernels import paths as kernels

MIN_MOVED, MAX_MOVED = 3, 7
"""Numbers of moved individuals for which cycles are enumerated; for more, other methods are faster."""
_MAX_CYCLES = 10_000
"""Number of cycles that is too large to examine one by one."""
_INITIAL_STEPS = 16
"""Costs are first searched up to 1/16 of the gap above the lower bound; after that, the step doubles."""

_CostAndCycle = tuple[float, IntArray]


def bound_by_odd_cycles(
    distances: FloatArray, choices: CheapestChoices, moved: int, bounds: tuple[float, float], deadline: float
) -> tuple[float, list[IntArray]]:
    """Return a lower bound on moving exactly ``moved`` (odd) individuals, and permutations.

    The permutations move at most ``moved`` individuals. ``bounds``: the known lower bound, and the upper
    bound of interest. D must be symmetric.
    """
    (lower, upper), permutations = bounds, list[IntArray]()
    step = (upper - lower) / _INITIAL_STEPS
    while lower < upper and perf_counter() < deadline:
        limit, floor = min(lower + step, upper), upper
        cycles = list(islice(_odd_cycles(distances, choices, moved, limit, deadline), _MAX_CYCLES))
        if len(cycles) == _MAX_CYCLES:
            break
        for cycle_bound, cycle in sorted(cycles, key=_cost_of):
            if cycle_bound >= floor or perf_counter() >= deadline:
                break
            cost, permutation = _complete_permutation(distances, cycle, moved - len(cycle))
            floor = min(floor, cost)
            permutations.append(permutation)
        if perf_counter() >= deadline:
            break
        lower, upper, step = min(limit, floor), min(upper, floor), 2 * step
    return lower, permutations


def _cost_of(cost_and_cycle: _CostAndCycle) -> float:
    return cost_and_cycle[0]


def _odd_cycles(
    distances: FloatArray, choices: CheapestChoices, moved: int, limit: float, deadline: float
) -> Iterator[_CostAndCycle]:
    """Yield odd cycles that allow a total cost below ``limit``, with a lower bound on that cost."""
    for length in range(MIN_MOVED, moved + 1, 2):
        other_cost = float(choices.totals[moved - length])
        for first in range(len(distances) - length + 1):
            for cost, cycle in _cycles_through_first(
                distances[first:, first:], length, limit - other_cost, deadline
            ):
                yield cost + other_cost, first + cycle


def _cycles_through_first(
    distances: FloatArray, length: int, limit: float, deadline: float
) -> Iterator[_CostAndCycle]:
    """Yield cycles of the first individual with later ones that cost less than ``limit``, in one direction.

    ``return_costs[m]``: least cost of m + 1 steps back to the first individual, which may repeat individuals.
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
    """Return a lower bound on the cost of a cycle and ``other_count`` others, and a permutation with both."""
    permutation = np.arange(len(distances))
    permutation[cycle] = np.roll(cycle, -1)
    cost = float(distances[cycle, permutation[cycle]].sum())
    if other_count == 0:
        return cost, permutation
    other_individuals = np.delete(np.arange(len(distances)), cycle)
    choices = cheapest_choices(
        distances[np.ix_(other_individuals, other_individuals)], np.array([other_count])
    )
    permutation[other_individuals] = other_individuals[
        kernels.build_all_doublings(
            distances[np.ix_(other_individuals, other_individuals)], choices.partners
        )[0]
    ]
    return cost + float(choices.totals[other_count]), permutation
