"""Kernels that build kd-trees."""

from anoncup.geometry.arrays import FloatArray, IntArray
from anoncup.geometry.kernels.compilation import compile_loop


@compile_loop
def split_points(
    points: FloatArray, rows: IntArray, start: int, end: int, column: int
) -> int:  # pragma: no cover - compiled
    """Partition points and their rows at the median of a column; return where the second half begins.

    The pivots are pseudo-random, so that no order of the points makes this slow.
    """
    middle, first, last, random_state = (start + end) // 2, start, end - 1, 1
    while first < last:
        random_state = random_state * 1103515245 + 12345 & 0x7FFFFFFF
        pivot = points[first + (random_state >> 8) % (last - first + 1), column]
        low_index, high_index = first, last
        while low_index <= high_index:
            while points[low_index, column] < pivot:
                low_index += 1
            while points[high_index, column] > pivot:
                high_index -= 1
            if low_index <= high_index:
                for axis in range(points.shape[1]):
                    points[low_index, axis], points[high_index, axis] = (
                        points[high_index, axis],
                        points[low_index, axis],
                    )
                rows[low_index], rows[high_index] = rows[high_index], rows[low_index]
                low_index += 1
                high_index -= 1
        if middle <= high_index:
            last = high_index
        elif middle >= low_index:
            first = low_index
        else:
            break
    return middle


@compile_loop
def build_kd_trees(  # noqa: PLR0917 - compiled code takes plain arrays by position
    trees: int,
    leaf_size: int,
    points: FloatArray,
    rows: IntArray,
    start: IntArray,
    end: IntArray,
    first_child: IntArray,
    smallest_row: IntArray,
    low: FloatArray,
    high: FloatArray,
    stack: IntArray,
) -> int:  # pragma: no cover - compiled
    """Split the points of every tree in place, along their widest side, into leaves of at most ``leaf_size``.

    Fills the nodes of a ``KdForest`` and returns their number. ``start`` and ``end`` of the roots are given,
    and ``first_child`` is all -1. ``stack`` is scratch space.
    """
    columns = points.shape[1]
    nodes = trees
    for tree in range(trees):
        stack[0] = tree
        size = 1
        while size > 0:
            size -= 1
            node = stack[size]
            node_start, node_end = start[node], end[node]
            smallest_row[node] = rows[node_start]
            for column in range(columns):
                low[node, column] = high[node, column] = points[node_start, column]
            for position in range(node_start + 1, node_end):
                smallest_row[node] = min(smallest_row[node], rows[position])
                for column in range(columns):
                    low[node, column] = min(low[node, column], points[position, column])
                    high[node, column] = max(high[node, column], points[position, column])
            if node_end - node_start <= leaf_size or columns == 0:
                continue
            widest_column = columns - 1
            for column in range(columns - 1):
                if (
                    high[node, column] - low[node, column]
                    > high[node, widest_column] - low[node, widest_column]
                ):
                    widest_column = column
            first_child[node] = nodes
            start[nodes], end[nodes + 1] = node_start, node_end
            end[nodes] = start[nodes + 1] = split_points(points, rows, node_start, node_end, widest_column)
            stack[size], stack[size + 1] = nodes, nodes + 1
            size += 2
            nodes += 2
    return nodes
