"""Exact nearest neighbours within groups of rows, by search trees; ties go to the lower row number."""

from dataclasses import dataclass

import numpy as np

from anoncup.geometry.arrays import BoolArray, FloatArray, IntArray
from anoncup.geometry.encoding import RowGroups, sort_rows_by_group
from anoncup.geometry.kernels import octree_bvh
from anoncup.geometry.kernels import trees as kernels
from anoncup.geometry.kernels.knn_gower import STACK_SIZE
from anoncup.geometry.kernels.octree_bvh import LANES, NO_ROW

LEAF_SIZE = 12
"""Maximum number of points in a leaf."""
_SCATTER_SAMPLE = 64
"""Maximum number of queries from which the column of largest scatter is estimated."""
MIN_SORTED_QUERIES = 50_000
"""Minimum number of queries that are sorted by group. Fewer fit into the processor's cache anyway."""


@dataclass(frozen=True, slots=True)
class NeighbourIndex:
    """Search structure for the nearest rows within a group.

    The rows of group g are ``members[starts[g]:starts[g + 1]]``. Large groups have a tree with root
    ``roots[g]``; other groups have root -1 and are scanned.

    A node has up to eight children from ``first_child`` on. They are nodes or, if ``is_leaf``, blocks of
    eight points. ``low`` and ``high`` (nodes, columns * 8) are the bounding boxes of the children, and
    ``blocks`` (blocks, columns * 8) the points; the eight cells of a column are side by side.
    ``smallest_rows`` (nodes, 8) are the lowest row numbers within the children, and ``block_rows``
    (blocks, 8) the row numbers of the points.
    """

    points: FloatArray
    members: IntArray
    starts: IntArray
    roots: IntArray
    blocks: FloatArray
    block_rows: IntArray
    first_child: IntArray
    is_leaf: BoolArray
    low: FloatArray
    high: FloatArray
    smallest_rows: IntArray


def build_index(
    points: FloatArray, groups: RowGroups, is_included: BoolArray | None = None
) -> NeighbourIndex:
    """Index ``points`` (n, columns) by group; ``is_included`` (n,) selects the rows, None selects all."""
    points, members, sizes = np.ascontiguousarray(points), groups.members.copy(), groups.sizes
    if is_included is not None:
        members = members[is_included[members]]
        sizes = np.bincount(groups.group_ids[members], minlength=groups.count)
    block_count, node_count = _count_blocks_and_nodes(sizes)
    lane_width = points.shape[1] * LANES
    index = NeighbourIndex(
        points=points,
        members=members,
        starts=np.append(0, np.cumsum(sizes)),
        roots=np.full(len(sizes), -1),
        blocks=np.full((block_count, lane_width), np.inf),
        block_rows=np.full((block_count, LANES), NO_ROW),
        first_child=np.empty(node_count, dtype=np.int64),
        is_leaf=np.empty(node_count, dtype=np.bool_),
        low=np.full((node_count, lane_width), np.inf),
        high=np.full((node_count, lane_width), -np.inf),
        smallest_rows=np.full((node_count, LANES), NO_ROW),
    )
    octree_bvh.build_octrees(index.points, members, index.starts, *_list_tree_arrays(index))
    return index


def _count_blocks_and_nodes(sizes: IntArray) -> tuple[int, int]:
    """Return the number of blocks and of nodes that groups of these sizes need."""
    level_sizes = -(-sizes[sizes > octree_bvh.MAX_SCANNED_ROWS] // LANES)
    blocks, nodes = int(level_sizes.sum()), 0
    while len(level_sizes):
        level_sizes = -(-level_sizes // LANES)
        nodes += int(level_sizes.sum())
        level_sizes = level_sizes[level_sizes > 1]
    return blocks, nodes


def _list_tree_arrays(
    index: NeighbourIndex,
) -> tuple[IntArray, FloatArray, IntArray, IntArray, BoolArray, FloatArray, FloatArray, IntArray]:
    """Return the tree arrays in the order that the kernels expect."""
    nodes = index.first_child, index.is_leaf, index.low, index.high, index.smallest_rows
    return (index.roots, index.blocks, index.block_rows, *nodes)


def find_nearest_rows(
    index: NeighbourIndex,
    queries: FloatArray,
    group_ids: IntArray,
    *,
    absolute: bool = False,
    excluded_rows: IntArray | None = None,
) -> IntArray:
    """Return the nearest row of the same group for each query, (q,).

    The distance is Euclidean or, if ``absolute``, the sum of |x - y|. For a single column, both give the same
    order, but the latter cannot overflow or underflow. ``excluded_rows`` (q,): a row that must not be the
    answer, or -1. The result is -1 for queries of group -1, and if no row is left.
    """
    excluded = np.full(len(queries), -1, dtype=np.int64) if excluded_rows is None else excluded_rows
    order = _find_query_order(index, queries, group_ids)
    if order is None:
        return _search(index, np.ascontiguousarray(queries), group_ids, absolute, excluded)
    rows = np.empty(len(queries), dtype=np.int64)
    rows[order] = _search(index, queries[order], group_ids[order], absolute, excluded[order])
    return rows


def _search(
    index: NeighbourIndex, queries: FloatArray, group_ids: IntArray, absolute: bool, excluded_rows: IntArray
) -> IntArray:
    rows = np.full(len(queries), -1, dtype=np.int64)
    small_groups = index.points, index.members, index.starts, index.roots
    octree_bvh.scan_small_groups(queries, group_ids, *small_groups, absolute, excluded_rows, rows)
    if len(index.low):
        octree_bvh.search_nearest(
            queries, group_ids, *_list_tree_arrays(index), absolute, excluded_rows, rows
        )
    return rows


def _find_query_order(index: NeighbourIndex, queries: FloatArray, group_ids: IntArray) -> IntArray | None:
    """Return an order of queries that visit the same parts of the index in succession; None: do not sort."""
    if len(index.roots) > 1:
        return (
            sort_rows_by_group(group_ids + 1, np.bincount(group_ids + 1))
            if len(queries) >= MIN_SORTED_QUERIES
            else None
        )
    with np.errstate(over="ignore", invalid="ignore"):
        scatter = queries[:: len(queries) // _SCATTER_SAMPLE + 1].std(axis=0) if len(queries) else queries[:1]
    return np.argsort(queries[:, scatter.argmax()]) if scatter.size else None


@dataclass(frozen=True, slots=True)
class KdForest:
    """kd-trees over several sets of rows; the root of tree g is node g.

    ``points`` (p, columns) and their ``rows`` (p,) are sorted by tree. A node contains ``points[start:end]``,
    its bounding box extends from ``low`` to ``high``, and its children are the nodes ``first_child`` and
    ``first_child + 1`` (-1 for a leaf).
    """

    points: FloatArray
    rows: IntArray
    start: IntArray
    end: IntArray
    first_child: IntArray
    smallest_row: IntArray
    low: FloatArray
    high: FloatArray


def find_k_nearest_rows(
    index: NeighbourIndex, queries: FloatArray, group_ids: IntArray, count: int
) -> tuple[IntArray, FloatArray]:
    """Return the ``count`` nearest rows in each query's group, and their squared distances, both (q, count).

    Rows are sorted by distance, then by row number. In smaller groups, lines are padded with -1 and infinity.
    """
    squared_distances, rows = allocate_neighbour_lists(len(queries), count)
    octree_bvh.search_k_nearest(
        np.ascontiguousarray(queries), group_ids, index.points, index.members, index.starts,
        *_list_tree_arrays(index), squared_distances, rows,
    )  # fmt: skip
    return np.where(np.isfinite(squared_distances), rows, -1), squared_distances


def allocate_neighbour_lists(queries: int, count: int) -> tuple[FloatArray, IntArray]:
    """Return empty neighbour lists for a kernel to fill: distances and rows, both (queries, count)."""
    return np.full((queries, count), np.inf), np.full((queries, count), NO_ROW, dtype=np.int64)


def list_forest_arrays(
    forest: KdForest,
) -> tuple[FloatArray, IntArray, IntArray, IntArray, IntArray, IntArray, FloatArray, FloatArray]:
    """Return the arrays of a forest in the order that the kernels expect."""
    nodes = forest.start, forest.end, forest.first_child, forest.smallest_row, forest.low, forest.high
    return (forest.points, forest.rows, *nodes)


def build_forest(points: FloatArray, rows: IntArray, starts: IntArray) -> KdForest:
    """Build a tree over each set ``rows[starts[g]:starts[g + 1]]`` of ``points``; no set may be empty."""
    trees, max_nodes = len(starts) - 1, len(starts) + 2 * len(rows) // (LEAF_SIZE // 2)
    start, end, first_child, smallest_row = np.full((4, max_nodes), -1)
    start[:trees], end[:trees] = starts[:-1], starts[1:]
    low, high = np.empty((2, max_nodes, points.shape[1]))
    stack = np.empty(STACK_SIZE, dtype=np.int64)
    arrays = points[rows], rows.copy(), start, end, first_child, smallest_row, low, high
    used_nodes = slice(kernels.build_kd_trees(trees, LEAF_SIZE, *arrays, stack))
    return KdForest(
        *arrays[:2],
        start[used_nodes],
        end[used_nodes],
        first_child[used_nodes],
        smallest_row[used_nodes],
        low[used_nodes],
        high[used_nodes],
    )
