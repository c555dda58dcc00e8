"""Kernels of the certified bounds: assignments, doublings and odd alternating walks."""

import numpy as np

from anoncup.geometry.arrays import BoolArray, FloatArray, IntArray
from anoncup.geometry.kernels.compilation import compile_loop


@compile_loop
def start_search(  # noqa: PLR0917 - compiled code takes plain arrays by position
    costs: FloatArray,
    rows_by_cost: IntArray,
    skipped_counts: IntArray,
    column_of: IntArray,
    column_prices: FloatArray,
    distances: FloatArray,
    predecessors: IntArray,
) -> None:  # pragma: no cover - compiled
    """Set the distance of every column to that from its cheapest free row.

    Free rows have price 0, so the cheapest row is the nearest. ``skipped_counts`` counts the assigned rows at
    the head of each column's ``rows_by_cost``. Assigned rows stay assigned, so they are skipped only once.
    """
    for column in range(costs.shape[0]):
        while column_of[rows_by_cost[column, skipped_counts[column]]] >= 0:
            skipped_counts[column] += 1
        row = rows_by_cost[column, skipped_counts[column]]
        distances[column] = costs[row, column] - column_prices[column]
        predecessors[column] = row


@compile_loop
def settle_columns(  # noqa: PLR0917 - compiled code takes plain arrays by position
    costs: FloatArray,
    row_of: IntArray,
    row_prices: FloatArray,
    column_prices: FloatArray,
    end_price: float,
    distances: FloatArray,
    predecessors: IntArray,
    row_distances: FloatArray,
) -> tuple[float, int]:  # pragma: no cover - compiled
    """Run Dijkstra's algorithm on reduced costs; return length and last column of the shortest path."""
    columns = costs.shape[0]
    is_settled = np.zeros(columns, dtype=np.bool_)
    shortest, last_column = np.inf, -1
    row, path_length = 0, np.inf
    while True:
        smallest, nearest_column = np.inf, -1
        for column in range(columns):
            if not is_settled[column]:
                length = path_length + costs[row, column] - column_prices[column]
                if length < distances[column]:
                    distances[column] = length
                    predecessors[column] = row
                if distances[column] < smallest:
                    smallest, nearest_column = distances[column], column
        if nearest_column < 0 or smallest >= shortest:
            return shortest, last_column
        is_settled[nearest_column] = True
        row, path_length = row_of[nearest_column], np.inf
        if row >= 0:
            row_distances[row] = smallest
            path_length = smallest + row_prices[row]
        elif smallest + column_prices[nearest_column] - end_price < shortest:
            shortest, last_column = smallest + column_prices[nearest_column] - end_price, nearest_column


@compile_loop
def assign_successively(
    costs: FloatArray, rows_by_cost: IntArray, counts: IntArray
) -> tuple[FloatArray, IntArray, FloatArray, FloatArray]:  # pragma: no cover - compiled
    """Return the cheapest choices of 1, 2, ..., n entries, no two in one row or column, by augmenting paths.

    ``costs`` (n, n), n >= 2, are infinite where an entry is forbidden. ``rows_by_cost`` (n, n) are the rows
    of each column by ascending cost. ``counts`` are the ascending numbers of entries at which the state is
    stored.

    Returns the cost that each further entry adds, (n,), and for each stored count, in one line:

    - the column of every row, or -1;
    - the prices of rows, and the prices of columns. The sum of the two prices of an entry is at most its cost
      and equals the cost of chosen entries. Free rows have price 0, and free columns the cost of the last
      entry. At (i, i), the sum is at most the cost of the last entry.
    """
    n = costs.shape[0]
    column_of, row_of = np.full(n, -1, dtype=np.int64), np.full(n, -1, dtype=np.int64)
    row_potentials, column_potentials, end_price = np.zeros(n), np.zeros(n), 0.0
    skipped_counts, predecessors = np.zeros(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    distances, added_costs = np.empty(n), np.empty(n)
    partners = np.empty((counts.shape[0], n), dtype=np.int64)
    row_prices, column_prices = np.empty((counts.shape[0], n)), np.empty((counts.shape[0], n))
    stored = 0
    for count in range(1, n + 1):
        start_search(
            costs, rows_by_cost, skipped_counts, column_of, column_potentials, distances, predecessors
        )
        row_distances = np.full(n, np.inf)
        shortest, column = settle_columns(
            costs,
            row_of,
            row_potentials,
            column_potentials,
            end_price,
            distances,
            predecessors,
            row_distances,
        )
        for index in range(n):
            column_potentials[index] += min(distances[index], shortest)
            if column_of[index] >= 0:
                row_potentials[index] += min(row_distances[index], shortest)
        end_price += shortest
        while column >= 0:
            row = predecessors[column]
            next_column = column_of[row]
            column_of[row] = column
            row_of[column] = row
            column = next_column
        added_costs[count - 1] = end_price
        if stored < counts.shape[0] and counts[stored] == count:
            partners[stored] = column_of
            row_prices[stored] = -row_potentials
            column_prices[stored] = np.minimum(column_potentials, end_price)
            stored += 1
    return added_costs, partners, row_prices, column_prices


@compile_loop
def trace_walk(first: int, partner: IntArray, walk: IntArray) -> int:  # pragma: no cover - compiled
    """Write the individuals on the path or cycle from ``first`` to ``walk``; return their number.

    A cycle ends with ``first`` again.
    """
    walk[0] = first
    length = 1
    while partner[walk[length - 1]] >= 0:
        walk[length] = partner[walk[length - 1]]
        length += 1
        if walk[length - 1] == first:
            break
    return length


@compile_loop
def compute_alternating_cost(
    costs: FloatArray, walk: IntArray, length: int
) -> float:  # pragma: no cover - compiled
    """Return the cost of the 1st, 3rd, 5th, ... entry of a walk minus the cost of the others."""
    total = 0.0
    for entry in range(length - 1):
        cost = costs[walk[entry], walk[entry + 1]]
        total += cost if entry % 2 == 0 else -cost
    return total


@compile_loop
def swap_along(
    permutation: IntArray, walk: IntArray, length: int, first: int
) -> None:  # pragma: no cover - compiled
    """Swap the two individuals of every second entry of a walk, from entry ``first`` on."""
    for entry in range(first, length - 1, 2):
        permutation[walk[entry]] = walk[entry + 1]
        permutation[walk[entry + 1]] = walk[entry]


@compile_loop
def swap_odd_paths(
    costs: FloatArray, partner: IntArray, path_starts: IntArray, doublings: IntArray
) -> int:  # pragma: no cover - compiled
    """Swap along half of the entries of each odd path; return the number of rows written.

    Half of the paths are swapped along their longer half, those where it is cheapest in comparison, and the
    others along their shorter half. If the number of paths is odd, the middle one is swapped along its longer
    half in the first row, and along its shorter half in the second row.
    """
    walk = np.empty(partner.shape[0] + 1, dtype=np.int64)
    cost_differences = np.empty(path_starts.shape[0])
    for index in range(path_starts.shape[0]):
        cost_differences[index] = compute_alternating_cost(
            costs, walk, trace_walk(path_starts[index], partner, walk)
        )
    order = np.argsort(cost_differences, kind="mergesort")
    half = path_starts.shape[0] // 2
    for index in range(path_starts.shape[0]):
        if index == half and path_starts.shape[0] % 2 == 1:
            continue
        length = trace_walk(path_starts[order[index]], partner, walk)
        swap_along(doublings[0], walk, length, 0 if index < half else 1)
    if path_starts.shape[0] % 2 == 0:
        return 1
    length = trace_walk(path_starts[order[half]], partner, walk)
    doublings[1] = doublings[0]
    swap_along(doublings[0], walk, length, 0)
    swap_along(doublings[1], walk, length, 1)
    return 2


@compile_loop
def build_doublings(costs: FloatArray, partner: IntArray) -> IntArray:  # pragma: no cover - compiled
    """Return one or two permutations (rows) that are made from a choice of entries.

    The entries form paths and cycles. Even cycles and even paths become swaps along their cheaper half, and
    odd paths swaps along one of their halves; odd cycles stay. For symmetric costs, no step increases the
    cost, and only the last odd path may change the number of moved individuals. See
    ``excessive.certified_bounds``.
    """
    n = partner.shape[0]
    doublings = np.empty((2, n), dtype=np.int64)
    doublings[0] = np.arange(n)
    has_predecessor, is_visited = np.zeros(n, dtype=np.bool_), np.zeros(n, dtype=np.bool_)
    walk, path_starts, path_count = np.empty(n + 1, dtype=np.int64), np.empty(n, dtype=np.int64), 0
    for row in range(n):
        if partner[row] >= 0:
            has_predecessor[partner[row]] = True
    for first in np.argsort(has_predecessor, kind="mergesort"):
        if is_visited[first] or partner[first] < 0:
            continue
        length = trace_walk(first, partner, walk)
        for entry in range(length):
            is_visited[walk[entry]] = True
        if length % 2 == 1:
            swap_along(
                doublings[0], walk, length, 0 if compute_alternating_cost(costs, walk, length) <= 0 else 1
            )
        elif has_predecessor[first]:
            for entry in range(length - 1):
                doublings[0, walk[entry]] = walk[entry + 1]
        else:
            path_starts[path_count] = first
            path_count += 1
    return doublings[: swap_odd_paths(costs, partner, path_starts[:path_count], doublings)]


@compile_loop
def build_all_doublings(costs: FloatArray, partners: IntArray) -> IntArray:  # pragma: no cover - compiled
    """Return the doublings of every row of ``partners``, stacked."""
    permutations = np.empty((2 * partners.shape[0], partners.shape[1]), dtype=np.int64)
    count = 0
    for index in range(partners.shape[0]):
        doublings = build_doublings(costs, partners[index])
        permutations[count : count + doublings.shape[0]] = doublings
        count += doublings.shape[0]
    return permutations[:count]


@compile_loop
def find_odd_walk(  # noqa: PLR0917 - compiled code takes plain arrays by position
    start: IntArray,
    targets: IntArray,
    lengths: FloatArray,
    flips_parity: BoolArray,
    source: int,
    limit: float,
) -> tuple[float, IntArray]:  # pragma: no cover - compiled
    """Return the length and the nodes of the shortest closed walk through ``source`` that flips parity.

    It has an odd number of arcs in ``flips_parity``. The arcs of node i are ``start[i]`` to ``start[i + 1]``,
    with lengths >= 0. ``source`` is the first and the last node. If no walk is shorter than ``limit``, the
    result is ``limit`` and no nodes. The method is Dijkstra's algorithm on pairs of a node and a parity.
    """
    n = start.shape[0] - 1
    distances, predecessors = np.full(2 * n, np.inf), np.full(2 * n, -1, dtype=np.int64)
    open_states, open_count = np.empty(2 * n, dtype=np.int64), 1
    is_settled = np.zeros(2 * n, dtype=np.bool_)
    open_states[0], distances[source] = source, 0.0
    while open_count > 0:
        index = np.argmin(distances[open_states[:open_count]])
        state = open_states[index]
        open_count -= 1
        open_states[index] = open_states[open_count]
        is_settled[state] = True
        if state == n + source:
            break
        for arc in range(start[state % n], start[state % n + 1]):
            parity = state // n if not flips_parity[arc] else 1 - state // n
            next_state = parity * n + targets[arc]
            path_length = distances[state] + lengths[arc]
            if path_length < limit and path_length < distances[next_state] and not is_settled[next_state]:
                if distances[next_state] == np.inf:
                    open_states[open_count] = next_state
                    open_count += 1
                distances[next_state] = path_length
                predecessors[next_state] = state
    if not is_settled[n + source]:
        return limit, open_states[:0]
    state, open_count = n + source, 0
    while state >= 0:
        open_states[open_count] = state % n
        open_count += 1
        state = predecessors[state]
    return distances[n + source], open_states[:open_count][::-1].copy()
