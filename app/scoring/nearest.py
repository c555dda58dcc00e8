"""Exact nearest rows, one or several: a kd-tree per group of rows, ties to the lower row number."""

from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from app.scoring.arrays import FloatArray, IntArray
from app.scoring.kernels import nearest as kernels
from app.scoring.kernels import neighbours

Array = TypeVar("Array", FloatArray, IntArray)

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


@dataclass(frozen=True, slots=True)
class _Level:
    """The nodes of one depth over all trees."""

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
    rows = _distinct(points, group_of, np.zeros_like(group_of) if kinds is None else kinds)
    start, end = _spans(group_of[rows])
    levels: list[_Level] = []
    below = len(start)
    while len(start):
        rows, level = _split(points, rows, start, end, below)
        levels.append(level)
        start, end = _children(level)
        below += len(start)
    stacked = {name: np.concatenate([getattr(level, name) for level in levels]) for name in _Level.__slots__}
    return Forest(np.ascontiguousarray(points[rows]), rows, **stacked)


def _distinct(points: FloatArray, group_of: IntArray, kinds: IntArray) -> IntArray:
    """Rows without those equal to a lower row of their group and kind, sorted by group."""
    order = np.lexsort((kinds, *points.T, group_of))
    ordered, groups, kind = points[order], group_of[order], kinds[order]
    repeats = (ordered[1:] == ordered[:-1]).all(axis=1) & (groups[1:] == groups[:-1])
    return order[np.concatenate(([True], ~(repeats & (kind[1:] == kind[:-1]))))]


def _spans(groups: IntArray) -> tuple[IntArray, IntArray]:
    cuts = np.flatnonzero(np.diff(groups)) + 1
    return np.concatenate(([0], cuts)), np.concatenate((cuts, [len(groups)]))


def _split(
    points: FloatArray, rows: IntArray, start: IntArray, end: IntArray, below: int
) -> tuple[IntArray, _Level]:
    """Describe the nodes and order the rows of the large ones along their widest side."""
    low, high = _reduced(np.minimum, points[rows], start, end), _reduced(np.maximum, points[rows], start, end)
    large = (end - start > LEAF) & (points.shape[1] > 0)
    child = np.full(len(start), -1, dtype=np.int64)
    child[large] = below + 2 * np.arange(int(large.sum()))
    level = _Level(start, end, child, _reduced(np.minimum, rows, start, end), low, high)
    return _ordered_by_widest(points, rows, level, np.flatnonzero(large)), level


def _ordered_by_widest(points: FloatArray, rows: IntArray, level: _Level, large: IntArray) -> IntArray:
    if not len(large):
        return rows
    with np.errstate(over="ignore"):
        widest = np.argmax(level.high[large] - level.low[large], axis=1)
    sizes = level.end[large] - level.start[large]
    node = np.repeat(np.arange(len(large)), sizes)
    place = np.arange(len(node)) + np.repeat(level.start[large] - np.cumsum(sizes) + sizes, sizes)
    order = np.lexsort((points[rows[place], widest[node]], node))
    ordered = rows.copy()
    ordered[place] = rows[place][order]
    return ordered


def _children(level: _Level) -> tuple[IntArray, IntArray]:
    """Spans of the two halves of every node that has children."""
    start, end = level.start[level.child >= 0], level.end[level.child >= 0]
    middle = (start + end) // 2
    return np.column_stack((start, middle)).ravel(), np.column_stack((middle, end)).ravel()


def _reduced(reduce: np.ufunc, values: Array, start: IntArray, end: IntArray) -> Array:
    """``reduce`` over values[start:end] for each span; a row of padding lets the last span end at the end."""
    padded = np.concatenate((values, values[-1:]))
    reduced: Array = reduce.reduceat(padded, np.column_stack((start, end)).ravel(), axis=0)[::2]
    return reduced
