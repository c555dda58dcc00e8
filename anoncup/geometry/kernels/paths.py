"""The compiled loops behind the certified bounds: assignments, doublings and odd alternating walks."""

import numpy as np

from anoncup.geometry.arrays import BoolArray, FloatArray, IntArray
from anoncup.geometry.kernels.compilation import compiled


@compiled
def start_search(  # noqa: PLR0917 - compiled code takes plain arrays by position
    costs: FloatArray,
    nearest: IntArray,
    skipped: IntArray,
    partner: IntArray,
    column_price: FloatArray,
    distance: FloatArray,
    before: IntArray,
) -> None:  # pragma: no cover - compiled
    """Reach every column from its cheapest free row; free rows have price 0, so the cheapest entry decides.

    ``skipped`` counts, for each column, the rows at the head of ``nearest`` that are taken: a row once taken
    stays taken.
    """
    for column in range(costs.shape[0]):
        while partner[nearest[column, skipped[column]]] >= 0:
            skipped[column] += 1
        row = nearest[column, skipped[column]]
        distance[column] = costs[row, column] - column_price[column]
        before[column] = row


@compiled
def settle_columns(  # noqa: PLR0917 - compiled code takes plain arrays by position
    costs: FloatArray,
    owner: IntArray,
    row_price: FloatArray,
    column_price: FloatArray,
    end_price: float,
    distance: FloatArray,
    before: IntArray,
    row_distance: FloatArray,
) -> tuple[float, int]:  # pragma: no cover - compiled
    """Dijkstra over reduced costs until no free column can end a shorter path: its length and last column."""
    columns = costs.shape[0]
    settled = np.zeros(columns, dtype=np.bool_)
    shortest, last = np.inf, -1
    row, reach = 0, np.inf
    while True:
        nearest, found = np.inf, -1
        for column in range(columns):
            if not settled[column]:
                length = reach + costs[row, column] - column_price[column]
                if length < distance[column]:
                    distance[column] = length
                    before[column] = row
                if distance[column] < nearest:
                    nearest, found = distance[column], column
        if found < 0 or nearest >= shortest:
            return shortest, last
        settled[found] = True
        row, reach = owner[found], np.inf
        if row >= 0:
            row_distance[row] = nearest
            reach = nearest + row_price[row]
        elif nearest + column_price[found] - end_price < shortest:
            shortest, last = nearest + column_price[found] - end_price, found


@compiled
def assign_in_turn(
    costs: FloatArray, nearest: IntArray, counts: IntArray
) -> tuple[FloatArray, IntArray, FloatArray, FloatArray]:  # pragma: no cover - compiled
    """Cheapest choices of 1, 2, ..., n entries, no two in a row or column, each by one augmenting path.

    ``costs`` (n, n), n >= 2: infinite where forbidden. ``nearest`` (n, n): for each column its rows by
    ascending cost. ``counts`` ascending: the numbers of entries at which the state is kept.

    Returns what each further entry adds (n,), and per count kept the column of every row or -1, and the
    prices of rows and columns: row + column price <= cost everywhere, equal at the chosen entries; 0 for a
    free row, what the last entry added for a free column, and never a sum above that at (i, i).
    """
    n = costs.shape[0]
    partner, owner = np.full(n, -1, dtype=np.int64), np.full(n, -1, dtype=np.int64)
    row_price, column_price, end_price = np.zeros(n), np.zeros(n), 0.0
    skipped, before = np.zeros(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    distance, added = np.empty(n), np.empty(n)
    partners = np.empty((counts.shape[0], n), dtype=np.int64)
    row_prices, column_prices = np.empty((counts.shape[0], n)), np.empty((counts.shape[0], n))
    kept = 0
    for count in range(1, n + 1):
        start_search(costs, nearest, skipped, partner, column_price, distance, before)
        row_distance = np.full(n, np.inf)
        shortest, last = settle_columns(
            costs, owner, row_price, column_price, end_price, distance, before, row_distance
        )
        for place in range(n):
            column_price[place] += min(distance[place], shortest)
            if partner[place] >= 0:
                row_price[place] += min(row_distance[place], shortest)
        end_price += shortest
        while last >= 0:
            row = before[last]
            following = partner[row]
            partner[row] = last
            owner[last] = row
            last = following
        added[count - 1] = end_price
        if kept < counts.shape[0] and counts[kept] == count:
            partners[kept] = partner
            row_prices[kept] = -row_price
            column_prices[kept] = np.minimum(column_price, end_price)
            kept += 1
    return added, partners, row_prices, column_prices


@compiled
def walk_from(first: int, partner: IntArray, walk: IntArray) -> int:  # pragma: no cover - compiled
    """Write the individuals met from ``first`` on; a cycle's first individual closes it. Returns how many."""
    walk[0] = first
    size = 1
    while partner[walk[size - 1]] >= 0:
        walk[size] = partner[walk[size - 1]]
        size += 1
        if walk[size - 1] == first:
            break
    return size


@compiled
def surplus(costs: FloatArray, walk: IntArray, size: int) -> float:  # pragma: no cover - compiled
    """Cost of a walk's 1st, 3rd, 5th, ... entry less that of the others."""
    total = 0.0
    for place in range(size - 1):
        cost = costs[walk[place], walk[place + 1]]
        total += cost if place % 2 == 0 else -cost
    return total


@compiled
def swap_along(
    permutation: IntArray, walk: IntArray, size: int, first: int
) -> None:  # pragma: no cover - compiled
    """Swap the two individuals of every second entry of a walk, from entry ``first`` on."""
    for place in range(first, size - 1, 2):
        permutation[walk[place]] = walk[place + 1]
        permutation[walk[place + 1]] = walk[place]


@compiled
def swap_middle_out(
    costs: FloatArray, partner: IntArray, starts: IntArray, doublings: IntArray
) -> int:  # pragma: no cover - compiled
    """Halve odd paths: the longer half of those where it is cheapest, the shorter half of as many others.

    Of an odd number the middle one is left: with its longer half in the first row, its shorter in the second.
    Returns the number of rows written.
    """
    walk = np.empty(partner.shape[0] + 1, dtype=np.int64)
    dearer = np.empty(starts.shape[0])
    for place in range(starts.shape[0]):
        dearer[place] = surplus(costs, walk, walk_from(starts[place], partner, walk))
    order = np.argsort(dearer, kind="mergesort")
    half = starts.shape[0] // 2
    for place in range(starts.shape[0]):
        if place == half and starts.shape[0] % 2 == 1:
            continue
        size = walk_from(starts[order[place]], partner, walk)
        swap_along(doublings[0], walk, size, 0 if place < half else 1)
    if starts.shape[0] % 2 == 0:
        return 1
    size = walk_from(starts[order[half]], partner, walk)
    doublings[1] = doublings[0]
    swap_along(doublings[0], walk, size, 0)
    swap_along(doublings[1], walk, size, 1)
    return 2


@compiled
def double(costs: FloatArray, partner: IntArray) -> IntArray:  # pragma: no cover - compiled
    """One or two permutations (rows) made of a choice of entries that are paths and cycles of individuals.

    Even cycles and even paths become swaps along their cheaper half, odd paths along one half each, odd
    cycles stay. For symmetric costs no step is dearer, and all but the last odd path's keep the count.
    """
    n = partner.shape[0]
    doublings = np.empty((2, n), dtype=np.int64)
    doublings[0] = np.arange(n)
    is_later, seen = np.zeros(n, dtype=np.bool_), np.zeros(n, dtype=np.bool_)
    walk, starts, paths = np.empty(n + 1, dtype=np.int64), np.empty(n, dtype=np.int64), 0
    for row in range(n):
        if partner[row] >= 0:
            is_later[partner[row]] = True
    for first in np.argsort(is_later, kind="mergesort"):
        if seen[first] or partner[first] < 0:
            continue
        size = walk_from(first, partner, walk)
        for place in range(size):
            seen[walk[place]] = True
        if size % 2 == 1:
            swap_along(doublings[0], walk, size, 0 if surplus(costs, walk, size) <= 0 else 1)
        elif is_later[first]:
            for place in range(size - 1):
                doublings[0, walk[place]] = walk[place + 1]
        else:
            starts[paths] = first
            paths += 1
    return doublings[: swap_middle_out(costs, partner, starts[:paths], doublings)]


@compiled
def double_all(costs: FloatArray, partners: IntArray) -> IntArray:  # pragma: no cover - compiled
    """The doublings of every row of ``partners``, one below the other."""
    found = np.empty((2 * partners.shape[0], partners.shape[1]), dtype=np.int64)
    size = 0
    for place in range(partners.shape[0]):
        doublings = double(costs, partners[place])
        found[size : size + doublings.shape[0]] = doublings
        size += doublings.shape[0]
    return found[:size]


@compiled
def odd_walk(  # noqa: PLR0917 - compiled code takes plain arrays by position
    start: IntArray, following: IntArray, length: FloatArray, turns: BoolArray, source: int, limit: float
) -> tuple[float, IntArray]:  # pragma: no cover - compiled
    """Shortest closed walk through ``source`` with an odd number of turning arcs, if shorter than ``limit``.

    Arcs of node i: ``start[i]`` to ``start[i + 1]``, lengths >= 0. Dijkstra on pairs of a node and the parity
    of turns so far. Returns its length and nodes, ``source`` first and last; else ``limit`` and no nodes.
    """
    n = start.shape[0] - 1
    distance, before = np.full(2 * n, np.inf), np.full(2 * n, -1, dtype=np.int64)
    waiting, size = np.empty(2 * n, dtype=np.int64), 1
    settled = np.zeros(2 * n, dtype=np.bool_)
    waiting[0], distance[source] = source, 0.0
    while size > 0:
        place = np.argmin(distance[waiting[:size]])
        state = waiting[place]
        size -= 1
        waiting[place] = waiting[size]
        settled[state] = True
        if state == n + source:
            break
        for arc in range(start[state % n], start[state % n + 1]):
            parity = state // n if not turns[arc] else 1 - state // n
            other = parity * n + following[arc]
            reach = distance[state] + length[arc]
            if reach < limit and reach < distance[other] and not settled[other]:
                if distance[other] == np.inf:
                    waiting[size] = other
                    size += 1
                distance[other] = reach
                before[other] = state
    if not settled[n + source]:
        return limit, waiting[:0]
    state, size = n + source, 0
    while state >= 0:
        waiting[size] = state % n
        size += 1
        state = before[state]
    return distance[n + source], waiting[:size][::-1].copy()
