"""Kernels of one-to-one assignment: candidate lists and shortest augmenting paths."""

import numpy as np

from anoncup.geometry.arrays import FloatArray, IntArray
from anoncup.geometry.kernels.compilation import compile_loop

FREE = -1
UNASSIGNED = -2
"""Marks a row for which no listed column is worth its cost."""
_BIDDING_PASSES = 3


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
def place_rows(  # noqa: PLR0912, PLR0915, PLR0917 - compiled code takes plain arrays by position
    rows: IntArray,
    start: IntArray,
    end: IntArray,
    columns: IntArray,
    costs: FloatArray,
    unlisted_bounds: FloatArray,
    u: FloatArray,
    v: FloatArray,
    row_of: IntArray,
    column_of: IntArray,
) -> None:  # pragma: no cover - compiled
    """Assign ``rows`` to columns of their lists at the least total cost; assigned rows may move.

    Row r may take a column in ``columns[start[r]:end[r]]`` at its cost in ``costs``, or stay UNASSIGNED at
    the cost ``unlisted_bounds[r]``. The dual prices ``u`` of rows and ``v`` of columns and the assignment so
    far, ``row_of`` and ``column_of``, are updated. The method is that of Jonker and Volgenant (1987): a few
    rounds of bidding, then a shortest augmenting path for each remaining row.
    """
    open_rows = rows.copy()
    count = rows.shape[0]
    for _ in range(_BIDDING_PASSES):
        count = bid(open_rows, count, start, end, columns, costs, unlisted_bounds, u, v, row_of, column_of)
    edges = 1
    for row in range(start.shape[0]):
        edges += end[row] - start[row]
    heap, heap_columns = np.empty(edges), np.empty(edges, dtype=np.int64)
    distances, predecessors = np.empty(v.shape[0]), np.empty(v.shape[0], dtype=np.int64)
    reached_search = np.full(v.shape[0], -1, dtype=np.int64)
    settled_search = np.full(v.shape[0], -1, dtype=np.int64)
    path = np.empty(v.shape[0], dtype=np.int64)
    for search in range(count):
        root = open_rows[search]
        row, path_cost, size, length = root, 0.0, 0, 0
        best_exit_cost, exit_row, goal = np.inf, -1, -1
        while True:
            exit_cost = path_cost + max(unlisted_bounds[row] - u[row], 0.0)
            if exit_cost < best_exit_cost:
                best_exit_cost, exit_row = exit_cost, row
            for edge in range(start[row], end[row]):
                column = columns[edge]
                total = path_cost + max(costs[edge] - u[row] - v[column], 0.0)
                if total > best_exit_cost or settled_search[column] == search:
                    continue
                if reached_search[column] != search or total < distances[column]:
                    reached_search[column], distances[column], predecessors[column] = search, total, row
                    size = push(heap, heap_columns, size, total, column)
            column = -1
            while size > 0 and column < 0:
                size = pop(heap, heap_columns, size)
                if settled_search[heap_columns[size]] != search:
                    column = heap_columns[size]
            if column < 0 or distances[column] > best_exit_cost:
                path_cost = best_exit_cost
                break
            path_cost = distances[column]
            if row_of[column] < 0:
                goal = column
                break
            settled_search[column] = search
            path[length] = column
            length += 1
            row = row_of[column]
        if path_cost == np.inf:
            column_of[root] = UNASSIGNED
            continue
        u[root] += path_cost
        for step in range(length):
            column = path[step]
            u[row_of[column]] += path_cost - distances[column]
            v[column] -= path_cost - distances[column]
        if goal < 0:
            goal, column_of[exit_row] = column_of[exit_row], UNASSIGNED
            if exit_row == root:
                continue
        while True:
            row = predecessors[goal]
            row_of[goal] = row
            column_of[row], goal = goal, column_of[row]
            if row == root:
                break


@compile_loop
def bid(  # noqa: PLR0917 - compiled code takes plain arrays by position
    open_rows: IntArray,
    count: int,
    start: IntArray,
    end: IntArray,
    columns: IntArray,
    costs: FloatArray,
    unlisted_bounds: FloatArray,
    u: FloatArray,
    v: FloatArray,
    row_of: IntArray,
    column_of: IntArray,
) -> int:  # pragma: no cover - compiled
    """Let each open row take its best column, whose price changes by the margin over the second best.

    Rows that remain without a column are written to ``open_rows``. Returns their number.
    """
    remaining = 0
    for index in range(count):
        row = open_rows[index]
        best, second, best_column = unlisted_bounds[row], np.inf, UNASSIGNED
        for edge in range(start[row], end[row]):
            value = costs[edge] - v[columns[edge]]
            if value < best or (value == best and best_column == UNASSIGNED):
                best, second, best_column = value, best, columns[edge]
            elif value < second:
                second = value
        if best_column == UNASSIGNED:
            u[row], column_of[row] = best, UNASSIGNED
            continue
        u[row] = best
        previous_row = row_of[best_column]
        if previous_row >= 0 and not best < second < np.inf:
            open_rows[remaining] = row
            remaining += 1
            continue
        if second < np.inf:
            u[row] = second
            v[best_column] -= second - best
        row_of[best_column], column_of[row] = row, best_column
        if previous_row >= 0:
            column_of[previous_row] = FREE
            open_rows[remaining] = previous_row
            remaining += 1
    return remaining


@compile_loop
def push(
    heap: FloatArray, heap_columns: IntArray, size: int, key: float, column: int
) -> int:  # pragma: no cover - compiled
    """Push a column onto the heap and return the new size. Columns with equal keys are popped by number."""
    position = size
    while position > 0:
        parent = (position - 1) // 2
        if heap[parent] < key or (heap[parent] == key and heap_columns[parent] <= column):
            break
        heap[position], heap_columns[position] = heap[parent], heap_columns[parent]
        position = parent
    heap[position], heap_columns[position] = key, column
    return size + 1


@compile_loop
def pop(heap: FloatArray, heap_columns: IntArray, size: int) -> int:  # pragma: no cover - compiled
    """Move the smallest entry behind the end of the heap, and return the new size, which is its index."""
    size -= 1
    key, column = heap[size], heap_columns[size]
    heap[size], heap_columns[size] = heap[0], heap_columns[0]
    position = 0
    while 2 * position + 1 < size:
        child = 2 * position + 1
        right = child + 1
        if right < size and (
            heap[right] < heap[child]
            or (heap[right] == heap[child] and heap_columns[right] < heap_columns[child])
        ):
            child = right
        if key < heap[child] or (key == heap[child] and column <= heap_columns[child]):
            break
        heap[position], heap_columns[position] = heap[child], heap_columns[child]
        position = child
    heap[position], heap_columns[position] = key, column
    return size
