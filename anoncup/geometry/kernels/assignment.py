"""Kernels of one-to-one assignment: candidate lists and shortest augmenting paths."""

import heapq
from typing import NamedTuple

import numpy as np

from anoncup.geometry.arrays import FloatArray, IntArray
from anoncup.geometry.kernels.compilation import compile_loop

FREE = -1
UNASSIGNED = -2
"""Marks a row for which no listed column is worth its cost."""
_BIDDING_PASSES = 3
"""Bidding assigns most rows. Each of the others costs a search for a path."""


class CostLists(NamedTuple):
    """The columns that rows may take: row r ``columns[starts[r]:ends[r]]``, at these places of ``costs``.

    Instead of these, row r may stay unassigned at the cost ``unlisted_bounds[r]``.
    """

    starts: IntArray
    ends: IntArray
    columns: IntArray
    costs: FloatArray
    unlisted_bounds: FloatArray


class Matching(NamedTuple):
    """An assignment and its dual prices.

    ``column_of`` (rows,) are columns, FREE or UNASSIGNED; ``row_of`` (columns,) are rows or FREE.
    """

    row_prices: FloatArray
    column_prices: FloatArray
    row_of: IntArray
    column_of: IntArray


def make_empty_matching(rows: int, columns: int) -> Matching:
    return Matching(
        row_prices=np.zeros(rows),
        column_prices=np.zeros(columns),
        row_of=np.full(columns, FREE, dtype=np.int64),
        column_of=np.full(rows, FREE, dtype=np.int64),
    )


def extend_matching(matching: Matching, *, rows: IntArray, lists: CostLists) -> Matching:
    """Assign more rows, so that the total cost is minimal again; rows assigned before may move.

    The method is that of Jonker and Volgenant, "A shortest augmenting path algorithm for dense and sparse
    linear assignment problems", 1987: a few rounds of bidding, then a shortest augmenting path for each
    remaining row.
    """
    extended = Matching(
        row_prices=matching.row_prices.copy(),
        column_prices=matching.column_prices.copy(),
        row_of=matching.row_of.copy(),
        column_of=matching.column_of.copy(),
    )
    return _extend(extended, rows, lists)


@compile_loop
def find_k_smallest(
    costs: FloatArray, length: int
) -> tuple[IntArray, FloatArray]:  # pragma: no cover - compiled
    """Return the columns and costs of each row's ``length`` smallest costs, ascending, ties by column."""
    rows, count = costs.shape
    width = min(length, count)
    columns, smallest = np.empty((rows, width), dtype=np.int64), np.full((rows, width), np.inf)
    for row in range(rows):
        for column in range(count):
            cost = costs[row, column]
            if column >= width and cost >= smallest[row, width - 1]:
                continue
            position = min(column, width - 1)
            while position > 0 and cost < smallest[row, position - 1]:
                columns[row, position] = columns[row, position - 1]
                smallest[row, position] = smallest[row, position - 1]
                position -= 1
            columns[row, position], smallest[row, position] = column, cost
    return columns, smallest


@compile_loop
def _extend(  # noqa: PLR0912 - helpers would have to share its scratch arrays
    matching: Matching, rows: IntArray, lists: CostLists
) -> Matching:  # pragma: no cover - compiled
    """Extend the matching in place, and return it.

    The reduced cost of a listed column, its cost minus the prices of row and column, is 0 if the row has the
    column and otherwise at least 0 but for rounding. So Dijkstra's search from an open row finds the cheapest
    path of exchanges to a free column, or to a row that leaves its column and stays unassigned.
    """
    open_rows = rows
    for _ in range(_BIDDING_PASSES):
        open_rows = _bid(matching, open_rows, lists)
    columns = len(matching.row_of)
    distances, predecessors = np.empty(columns), np.empty(columns, dtype=np.int64)
    reached_search, settled_search = np.full(columns, -1), np.full(columns, -1)
    for search, root in enumerate(open_rows):
        row, path_cost, goal = root, 0.0, FREE
        exit_cost, exit_row = np.inf, FREE  # the cheapest row to leave unassigned so far
        heap = [(0.0, 0) for _ in range(0)]  # an empty list with a type
        settled = [0 for _ in range(0)]
        while True:
            leaving_cost = path_cost + max(lists.unlisted_bounds[row] - matching.row_prices[row], 0.0)
            if leaving_cost < exit_cost:
                exit_cost, exit_row = leaving_cost, row
            for edge in range(lists.starts[row], lists.ends[row]):
                column = lists.columns[edge]
                reduced_cost = lists.costs[edge] - matching.row_prices[row] - matching.column_prices[column]
                total = path_cost + max(reduced_cost, 0.0)
                if total > exit_cost or settled_search[column] == search:
                    continue
                if reached_search[column] != search or total < distances[column]:
                    reached_search[column], distances[column], predecessors[column] = search, total, row
                    heapq.heappush(heap, (total, column))
            while len(heap) > 0 and settled_search[heap[0][1]] == search:
                heapq.heappop(heap)
            if len(heap) == 0 or heap[0][0] > exit_cost:
                path_cost = exit_cost
                break
            path_cost, column = heapq.heappop(heap)
            if matching.row_of[column] == FREE:
                goal = column
                break
            settled_search[column] = search
            settled.append(column)
            row = matching.row_of[column]
        if path_cost == np.inf:
            matching.column_of[root] = UNASSIGNED
            continue
        matching.row_prices[root] += path_cost
        for column in settled:  # which makes the reduced costs on the path 0
            matching.row_prices[matching.row_of[column]] += path_cost - distances[column]
            matching.column_prices[column] -= path_cost - distances[column]
        if goal == FREE:
            goal, matching.column_of[exit_row] = matching.column_of[exit_row], UNASSIGNED
            if exit_row == root:
                continue
        _exchange(matching, predecessors, goal, root)
    return matching


@compile_loop
def _exchange(
    matching: Matching, predecessors: IntArray, goal: int, root: int
) -> None:  # pragma: no cover - compiled
    """Give each row of the path from ``root`` the next column, the last one ``goal``."""
    row = FREE
    while row != root:
        row = predecessors[goal]
        matching.row_of[goal] = row
        matching.column_of[row], goal = goal, matching.column_of[row]


@compile_loop
def _bid(matching: Matching, rows: IntArray, lists: CostLists) -> IntArray:  # pragma: no cover - compiled
    """Let each row take its best column, whose price changes by the margin over the second best.

    Returns the rows that remain without a column.
    """
    open_rows, remaining = np.empty_like(rows), 0
    for row in rows:
        best, second, best_column = lists.unlisted_bounds[row], np.inf, UNASSIGNED
        for edge in range(lists.starts[row], lists.ends[row]):
            value = lists.costs[edge] - matching.column_prices[lists.columns[edge]]
            if value < best or (value == best and best_column == UNASSIGNED):
                best, second, best_column = value, best, lists.columns[edge]
            elif value < second:
                second = value
        matching.row_prices[row] = best
        if best_column == UNASSIGNED:
            matching.column_of[row] = UNASSIGNED
            continue
        previous_row = matching.row_of[best_column]
        if previous_row >= 0 and not best < second < np.inf:
            open_rows[remaining] = row
            remaining += 1
            continue
        if second < np.inf:
            matching.row_prices[row] = second
            matching.column_prices[best_column] -= second - best
        matching.row_of[best_column], matching.column_of[row] = row, best_column
        if previous_row >= 0:
            matching.column_of[previous_row] = FREE
            open_rows[remaining] = previous_row
            remaining += 1
    return open_rows[:remaining]
