"""Exact nearest rows, one or several: a search tree per group of rows, ties to the lower row number."""

from dataclasses import dataclass

import numpy as np

from anoncup.geometry.arrays import BoolArray, FloatArray, IntArray
from anoncup.geometry.encoding import Grouping, rows_by_group
from anoncup.geometry.kernels import octree_bvh
from anoncup.geometry.kernels import trees as kernels
from anoncup.geometry.kernels.knn_gower import DEEPEST
from anoncup.geometry.kernels.octree_bvh import LANES, NO_ROW

LEAF = 12
"""Points a tree's leaf holds at most."""
SAMPLE = 64
"""Queries, or fewer, that say where they are most scattered."""
MANY = 50_000
"""Queries that are worth the time to order them by their groups: these are then beyond the cache."""


@dataclass(frozen=True, slots=True)
class Index:
    """What finds the nearest of the rows of a group.

    The rows of group g are ``members[starts[g]:starts[g + 1]]``. Where they are many, ``roots[g]`` is a node
    (else -1). A node has up to eight children from ``first`` on: nodes, or, of the ``lowest`` ones, blocks of
    eight points. ``low`` and ``high`` (nodes, columns * 8) are the children's boxes, ``blocks`` the points,
    each column's eight cells side by side; ``least_rows`` and ``block_rows`` (…, 8) their rows.
    """

    points: FloatArray
    members: IntArray
    starts: IntArray
    roots: IntArray
    blocks: FloatArray
    block_rows: IntArray
    first: IntArray
    lowest: BoolArray
    low: FloatArray
    high: FloatArray
    least_rows: IntArray


def build_index(points: FloatArray, grouping: Grouping, kept: BoolArray | None = None) -> Index:
    """Over ``points`` (n, columns) by groups; without the rows that are not ``kept`` (n,)."""
    points, members, sizes = np.ascontiguousarray(points), grouping.members.copy(), grouping.sizes
    if kept is not None:
        members = members[kept[members]]
        sizes = np.bincount(grouping.group_of[members], minlength=grouping.count)
    blocks, nodes = _room(sizes)
    wide = points.shape[1] * LANES
    index = Index(
        points=points,
        members=members,
        starts=np.append(0, np.cumsum(sizes)),
        roots=np.full(len(sizes), -1),
        blocks=np.full((blocks, wide), np.inf),
        block_rows=np.full((blocks, LANES), NO_ROW),
        first=np.empty(nodes, dtype=np.int64),
        lowest=np.empty(nodes, dtype=np.bool_),
        low=np.full((nodes, wide), np.inf),
        high=np.full((nodes, wide), -np.inf),
        least_rows=np.full((nodes, LANES), NO_ROW),
    )
    octree_bvh.grow_eights(index.points, members, index.starts, *_trees(index))
    return index


def _room(sizes: IntArray) -> tuple[int, int]:
    """How many blocks and nodes groups of these sizes need."""
    level = -(-sizes[sizes > octree_bvh.FEW] // LANES)
    blocks, nodes = int(level.sum()), 0
    while len(level):
        level = -(-level // LANES)
        nodes += int(level.sum())
        level = level[level > 1]
    return blocks, nodes


def _trees(
    index: Index,
) -> tuple[IntArray, FloatArray, IntArray, IntArray, BoolArray, FloatArray, FloatArray, IntArray]:
    """In the order in which kernels take them."""
    nodes = index.first, index.lowest, index.low, index.high, index.least_rows
    return (index.roots, index.blocks, index.block_rows, *nodes)


def nearest_rows(
    index: Index,
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
    excluded = np.full(len(queries), -1, dtype=np.int64) if barred is None else barred
    turns = _turns(index, queries, groups)
    if turns is None:
        return _found(index, np.ascontiguousarray(queries), groups, absolute, excluded)
    found = np.empty(len(queries), dtype=np.int64)
    found[turns] = _found(index, queries[turns], groups[turns], absolute, excluded[turns])
    return found


def _found(index: Index, queries: FloatArray, groups: IntArray, absolute: bool, barred: IntArray) -> IntArray:
    found = np.full(len(queries), -1, dtype=np.int64)
    groups_of_few = index.points, index.members, index.starts, index.roots
    octree_bvh.scan(queries, groups, *groups_of_few, absolute, barred, found)
    if len(index.low):
        octree_bvh.search(queries, groups, *_trees(index), absolute, barred, found)
    return found


def _turns(index: Index, queries: FloatArray, groups: IntArray) -> IntArray | None:
    """An order in which queries that follow one another need the same of the index; None: as they are."""
    if len(index.roots) > 1:
        return rows_by_group(groups + 1, np.bincount(groups + 1)) if len(queries) >= MANY else None
    with np.errstate(over="ignore", invalid="ignore"):
        scatter = queries[:: len(queries) // SAMPLE + 1].std(axis=0) if len(queries) else queries[:1]
    return np.argsort(queries[:, scatter.argmax()]) if scatter.size else None


@dataclass(frozen=True, slots=True)
class Forest:
    """kd-trees over some rows each; tree g has its root at node g.

    ``points`` (p, columns) are those of ``rows`` (p,), by tree. A node covers
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


def several_nearest(
    index: Index, queries: FloatArray, groups: IntArray, count: int
) -> tuple[IntArray, FloatArray]:
    """The ``count`` rows nearest to each query among its group's, nearest first, and their squared distances.

    Both (q, count); where a group has no more rows, -1 and infinity. Equally near rows by row number.
    """
    squares, rows = no_rows_yet(len(queries), count)
    octree_bvh.several(
        np.ascontiguousarray(queries), groups, index.points, index.members, index.starts,
        *_trees(index), squares, rows,
    )  # fmt: skip
    return np.where(np.isfinite(squares), rows, -1), squares


def no_rows_yet(queries: int, count: int) -> tuple[FloatArray, IntArray]:
    """Lists for a kernel to fill: distances, then rows, (queries, count)."""
    return np.full((queries, count), np.inf), np.full((queries, count), NO_ROW, dtype=np.int64)


def tree_of(
    forest: Forest,
) -> tuple[FloatArray, IntArray, IntArray, IntArray, IntArray, IntArray, FloatArray, FloatArray]:
    """The arrays of a forest in the order in which kernels take them."""
    nodes = forest.start, forest.end, forest.child, forest.least_row, forest.low, forest.high
    return (forest.points, forest.rows, *nodes)


def build_forest(points: FloatArray, rows: IntArray, starts: IntArray) -> Forest:
    """Tree g is over the rows ``rows[starts[g]:starts[g + 1]]`` of ``points`` (n, columns), at least one."""
    trees, most = len(starts) - 1, len(starts) + 2 * len(rows) // (LEAF // 2)
    start, end, child, least_row = np.full((4, most), -1)
    start[:trees], end[:trees] = starts[:-1], starts[1:]
    low, high = np.empty((2, most, points.shape[1]))
    waiting = np.empty(DEEPEST, dtype=np.int64)
    whole = points[rows], rows.copy(), start, end, child, least_row, low, high
    nodes = slice(kernels.grow(trees, LEAF, *whole, waiting))
    return Forest(
        *whole[:2], start[nodes], end[nodes], child[nodes], least_row[nodes], low[nodes], high[nodes]
    )
