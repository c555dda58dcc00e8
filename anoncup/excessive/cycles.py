"""The least cost of moving exactly 3, 5 or 7 individuals: by the odd cycle that there must be.

For symmetric D even cycles are pairs, so that an odd number of moved individuals has an odd cycle. The others
cost no less than G of their number, first among everybody, then among those who are not in the cycle: only
the few cycles for which the first leaves room are worth the second. Prices cannot tell this: they let half a
pair move at either end.
"""

from collections.abc import Iterator
from itertools import islice
from time import perf_counter

import numpy as np

from anoncup.excessive.paths import Choices, cheapest_choices
from anoncup.geometry.arrays import FloatArray, IntArray
from anoncup.geometry.kernels import paths as kernels

FEWEST, MOST = 3, 7
"""Numbers of moved individuals for which cycles are gone through; of more, other ways are faster."""
MANY = 10_000
"""Cycles that are too many to look at one by one."""
STEPS = 16
"""Parts of what is between the bounds that cycles may cost more at first; then twice as many each time."""

Found = tuple[float, IntArray]


def least_cycles(
    distances: FloatArray, choices: Choices, moved: int, bounds: tuple[float, float], deadline: float
) -> tuple[float, list[IntArray]]:
    """A bound from below of moving exactly ``moved``, odd, and permutations that move so many at most.

    ``bounds``: from below what is known, and from above what is of interest. Both ways D is the same.
    """
    (lower, upper), made = bounds, list[IntArray]()
    step = (upper - lower) / STEPS
    while lower < upper and perf_counter() < deadline:
        limit, floor = min(lower + step, upper), upper
        cycles = list(islice(_cycles(distances, choices, moved, limit, deadline), MANY))
        if len(cycles) == MANY:
            break
        for least, cycle in sorted(cycles, key=_cost):
            if least >= floor or perf_counter() >= deadline:
                break
            cost, permutation = _with_others(distances, cycle, moved - len(cycle))
            floor = min(floor, cost)
            made.append(permutation)
        if perf_counter() >= deadline:
            break
        lower, upper, step = min(limit, floor), min(upper, floor), 2 * step
    return lower, made


def _cost(found: Found) -> float:
    return found[0]


def _cycles(
    distances: FloatArray, choices: Choices, moved: int, limit: float, deadline: float
) -> Iterator[Found]:
    """Odd cycles with which all that is moved may cost less than ``limit``, and how much at least."""
    for length in range(FEWEST, moved + 1, 2):
        others = float(choices.totals[moved - length])
        for root in range(len(distances) - length + 1):
            for cost, cycle in _from(distances[root:, root:], length, limit - others, deadline):
                yield cost + others, root + cycle


def _from(distances: FloatArray, length: int, limit: float, deadline: float) -> Iterator[Found]:
    """Cycles of the first individual with later ones that cost less than ``limit``, in one direction.

    ``back[m]``: what m steps cost at least that lead back, whoever they pass.
    """
    if perf_counter() >= deadline:
        return
    back = [distances[0]]
    for _ in range(length - 2):
        back.append((distances[1:, 1:] + np.eye(len(distances) - 1) * limit + back[-1][1:]).min(axis=1))
        back[-1] = np.append(limit, back[-1])
    waiting = [(0.0, [0])]
    while waiting and perf_counter() < deadline:
        cost, path = waiting.pop()
        left = length - len(path)
        if not left:
            if path[1] < path[-1]:
                yield cost + float(distances[path[-1], 0]), np.array(path)
            continue
        costs = cost + distances[path[-1]]
        able = costs + back[left - 1] < limit
        able[path] = False
        waiting.extend((float(costs[each]), [*path, int(each)]) for each in np.flatnonzero(able))


def _with_others(distances: FloatArray, cycle: IntArray, others: int) -> Found:
    """The least that a cycle and so many others cost at least, and a permutation that has both."""
    permutation = np.arange(len(distances))
    permutation[cycle] = np.roll(cycle, -1)
    cost = float(distances[cycle, permutation[cycle]].sum())
    if others == 0:
        return cost, permutation
    rest = np.delete(np.arange(len(distances)), cycle)
    choices = cheapest_choices(distances[np.ix_(rest, rest)], np.array([others]))
    permutation[rest] = rest[kernels.double_all(distances[np.ix_(rest, rest)], choices.partners)[0]]
    return cost + float(choices.totals[others]), permutation
