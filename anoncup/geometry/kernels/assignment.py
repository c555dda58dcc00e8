"""The compiled loops behind one-to-one matching: short lists, and shortest augmenting paths."""

import numpy as np

from anoncup.geometry.arrays import FloatArray, IntArray
from anoncup.geometry.kernels.compilation import compiled

FREE = -1
OUT = -2
"""A row that none of its listed columns is worth to."""
PASSES = 3


@compiled
def shortest(costs: FloatArray, length: int) -> tuple[IntArray, FloatArray]:  # pragma: no cover - compiled
    """The columns of each row's ``length`` least costs, ascending, equal ones by column; and the costs."""
    rows, count = costs.shape
    kept = min(length, count)
    columns, least = np.empty((rows, kept), dtype=np.int64), np.full((rows, kept), np.inf)
    for row in range(rows):
        for column in range(count):
            cost = costs[row, column]
            if column >= kept and cost >= least[row, kept - 1]:
                continue
            place = min(column, kept - 1)
            while place > 0 and cost < least[row, place - 1]:
                columns[row, place], least[row, place] = columns[row, place - 1], least[row, place - 1]
                place -= 1
            columns[row, place], least[row, place] = column, cost
    return columns, least


@compiled
def place_rows(  # noqa: PLR0912, PLR0915, PLR0917 - compiled code takes plain arrays by position
    rows: IntArray,
    start: IntArray,
    end: IntArray,
    columns: IntArray,
    costs: FloatArray,
    beyond: FloatArray,
    u: FloatArray,
    v: FloatArray,
    row_at: IntArray,
    column_at: IntArray,
) -> None:  # pragma: no cover - compiled
    """Place ``rows`` among the columns of their lists, moving others, so that the total cost is least.

    Row r may have ``columns[start[r]:end[r]]`` at ``costs``, or be OUT at ``beyond[r]``. ``u`` and ``v`` are
    the prices (duals) of rows and columns, ``row_at`` and ``column_at`` the matching so far; all are changed.
    Jonker and Volgenant (1987): a few rounds of bidding, then a shortest augmenting path for each row left.
    """
    waiting = rows.copy()
    count = rows.shape[0]
    for _ in range(PASSES):
        count = bid(waiting, count, start, end, columns, costs, beyond, u, v, row_at, column_at)
    edges = 1
    for row in range(start.shape[0]):
        edges += end[row] - start[row]
    heap, heap_columns = np.empty(edges), np.empty(edges, dtype=np.int64)
    distance, before = np.empty(v.shape[0]), np.empty(v.shape[0], dtype=np.int64)
    reached, settled = np.full(v.shape[0], -1, dtype=np.int64), np.full(v.shape[0], -1, dtype=np.int64)
    path = np.empty(v.shape[0], dtype=np.int64)
    for turn in range(count):
        first = waiting[turn]
        row, so_far, size, length = first, 0.0, 0, 0
        exit_at, exit_row, goal = np.inf, -1, -1
        while True:
            leave = so_far + max(beyond[row] - u[row], 0.0)
            if leave < exit_at:
                exit_at, exit_row = leave, row
            for edge in range(start[row], end[row]):
                column = columns[edge]
                total = so_far + max(costs[edge] - u[row] - v[column], 0.0)
                if total > exit_at or settled[column] == turn:
                    continue
                if reached[column] != turn or total < distance[column]:
                    reached[column], distance[column], before[column] = turn, total, row
                    size = push(heap, heap_columns, size, total, column)
            column = -1
            while size > 0 and column < 0:
                size = pop(heap, heap_columns, size)
                if settled[heap_columns[size]] != turn:
                    column = heap_columns[size]
            if column < 0 or distance[column] > exit_at:
                so_far = exit_at
                break
            so_far = distance[column]
            if row_at[column] < 0:
                goal = column
                break
            settled[column] = turn
            path[length] = column
            length += 1
            row = row_at[column]
        if so_far == np.inf:
            column_at[first] = OUT
            continue
        u[first] += so_far
        for step in range(length):
            column = path[step]
            u[row_at[column]] += so_far - distance[column]
            v[column] -= so_far - distance[column]
        if goal < 0:
            goal, column_at[exit_row] = column_at[exit_row], OUT
            if exit_row == first:
                continue
        while True:
            row = before[goal]
            row_at[goal] = row
            column_at[row], goal = goal, column_at[row]
            if row == first:
                break


@compiled
def bid(  # noqa: PLR0917 - compiled code takes plain arrays by position
    waiting: IntArray,
    count: int,
    start: IntArray,
    end: IntArray,
    columns: IntArray,
    costs: FloatArray,
    beyond: FloatArray,
    u: FloatArray,
    v: FloatArray,
    row_at: IntArray,
    column_at: IntArray,
) -> int:  # pragma: no cover - compiled
    """Let each waiting row take its best column, which becomes dearer by what the second best is worse.

    Rows without a column after that stand in ``waiting``; returns their number.
    """
    left = 0
    for turn in range(count):
        row = waiting[turn]
        best, second, best_column = beyond[row], np.inf, OUT
        for edge in range(start[row], end[row]):
            value = costs[edge] - v[columns[edge]]
            if value < best or (value == best and best_column == OUT):
                best, second, best_column = value, best, columns[edge]
            elif value < second:
                second = value
        if best_column == OUT:
            u[row], column_at[row] = best, OUT
            continue
        u[row] = best
        other = row_at[best_column]
        if other >= 0 and not best < second < np.inf:
            waiting[left] = row
            left += 1
            continue
        if second < np.inf:
            u[row] = second
            v[best_column] -= second - best
        row_at[best_column], column_at[row] = row, best_column
        if other >= 0:
            column_at[other] = FREE
            waiting[left] = other
            left += 1
    return left


@compiled
def push(
    heap: FloatArray, heap_columns: IntArray, size: int, key: float, column: int
) -> int:  # pragma: no cover - compiled
    """Put a column on the heap; equal keys come out by column. Returns the new size."""
    at = size
    while at > 0:
        above = (at - 1) // 2
        if heap[above] < key or (heap[above] == key and heap_columns[above] <= column):
            break
        heap[at], heap_columns[at] = heap[above], heap_columns[above]
        at = above
    heap[at], heap_columns[at] = key, column
    return size + 1


@compiled
def pop(heap: FloatArray, heap_columns: IntArray, size: int) -> int:  # pragma: no cover - compiled
    """Move the least entry behind the others, to the place of the returned size."""
    size -= 1
    key, column = heap[size], heap_columns[size]
    heap[size], heap_columns[size] = heap[0], heap_columns[0]
    at = 0
    while 2 * at + 1 < size:
        below = 2 * at + 1
        right = below + 1
        if right < size and (
            heap[right] < heap[below]
            or (heap[right] == heap[below] and heap_columns[right] < heap_columns[below])
        ):
            below = right
        if key < heap[below] or (key == heap[below] and column <= heap_columns[below]):
            break
        heap[at], heap_columns[at] = heap[below], heap_columns[below]
        at = below
    heap[at], heap_columns[at] = key, column
    return size
