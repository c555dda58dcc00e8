"""Exact nearest rows, one or several: a kd-tree per group of rows, ties to the lower row number."""

from dataclasses import dataclass

import numpy as np

from app.scoring.arrays import FloatArray, IntArray
from app.scoring.kernels import nearest as kernels
from app.scoring.kernels import neighbours, trees
from app.scoring.kernels.neighbours import DEEPEST

LEAF = 12
"""Points a tree's leaf holds at most."""


@dataclass(frozen=True, slots=True)
class Forest:
    """A kd-tree for each group of rows; tree g has its root at node g.

    ``points`` (p, columns) are the distinct points, ``rows`` (p,) the lowest row having each. A node covers
    ``points[start:end]``, lies in the box ``low``..``high`` and has the children ``child`` and ``child + 1``
    (a leaf: -1).
    """

    points: FloatArray
    rows: IntArray
    start: IntArray
    end: IntArray
    child: IntArray
    least_row: IntArray
    low: FloatArray
    high: FloatArray


def nearest_rows(
    forest: Forest,
    queries: FloatArray,
    groups: IntArray,
    *,
    absolute: bool = False,
    barred: IntArray | None = None,
) -> IntArray:
    """The row nearest to each query among its group's, shape (q,); group -1 gives -1.

    ``absolute`` compares |x - y| instead of its square: the same order but for over- and underflow.
    ``barred`` (q,): a row that is no answer to the query, or -1; where no other is left, -1.
    """
    queries = np.ascontiguousarray(queries)
    excluded = np.full(len(queries), -1, dtype=np.int64) if barred is None else barred
    return kernels.search(queries, groups, *tree_of(forest), absolute, excluded)


def several_nearest(
    forest: Forest, queries: FloatArray, groups: IntArray, count: int
) -> tuple[IntArray, FloatArray]:
    """The ``count`` rows nearest to each query among its group's, nearest first, and their squared distances.

    Both (q, count); where a group has no more rows, -1 and infinity. Equally near rows by row number.
    """
    squares, rows = no_rows_yet(len(queries), count)
    neighbours.several(np.ascontiguousarray(queries), groups, *tree_of(forest), squares, rows)
    return np.where(np.isfinite(squares), rows, -1), squares


def no_rows_yet(queries: int, count: int) -> tuple[FloatArray, IntArray]:
    """Lists for a kernel to fill: distances, then rows, (queries, count)."""
    return np.full((queries, count), np.inf), np.full((queries, count), kernels.NO_ROW, dtype=np.int64)


def tree_of(
    forest: Forest,
) -> tuple[FloatArray, IntArray, IntArray, IntArray, IntArray, IntArray, FloatArray, FloatArray]:
    """The arrays of a forest in the order in which kernels take them."""
    nodes = forest.start, forest.end, forest.child, forest.least_row, forest.low, forest.high
    return (forest.points, forest.rows, *nodes)


def build_forest(points: FloatArray, group_of: IntArray, kinds: IntArray | None = None) -> Forest:
    """Trees over ``points`` (n, columns), one for each group 0..g-1, none of them empty.

    Of equal points in a group, only the lowest row is kept; with ``kinds`` (n,), the lowest of each kind.
    """
    points = np.ascontiguousarray(points)
    rows, starts = _distinct(points, group_of, np.zeros_like(group_of) if kinds is None else kinds)
    ordered, most = points[rows], len(starts) + 2 * len(rows) // (LEAF // 2)
    start, end, child, least_row = np.full((4, most), -1)
    start[: len(starts) - 1], end[: len(starts) - 1] = starts[:-1], starts[1:]
    low, high = np.empty((2, most, points.shape[1]))
    waiting = np.empty(DEEPEST, dtype=np.int64)
    whole = ordered, rows, start, end, child, least_row, low, high
    nodes = slice(trees.grow(len(starts) - 1, LEAF, *whole, waiting))
    return Forest(
        ordered, rows, start[nodes], end[nodes], child[nodes], least_row[nodes], low[nodes], high[nodes]
    )


def _distinct(points: FloatArray, group_of: IntArray, kinds: IntArray) -> tuple[IntArray, IntArray]:
    """Rows without those equal to a lower row of their group and kind, by group, and the groups' bounds."""
    cells = (points + 0.0).view(np.int64)  # -0.0 equals 0.0, and then in its bits too
    starts = np.zeros(int(group_of.max(initial=-1)) + 2, dtype=np.int64)
    seen, chosen = np.full(2 << len(points).bit_length(), -1), np.empty(len(points), dtype=np.int64)
    trees.first_of_each(cells, group_of, kinds, seen, starts, chosen)
    return chosen[: starts[-1]], starts
