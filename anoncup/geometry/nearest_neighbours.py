"""Exact nearest neighbours within groups of rows; ties go to the lower row number.

Distances are Euclidean, with squares added in column order. Small groups are compared row by row. In large
ones, a tree selects candidates, whose squares are then added again, because the tree has another order.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import pandas as pd
from scipy.spatial import cKDTree

from anoncup.geometry.arrays import BoolArray, FloatArray, IntArray
from anoncup.geometry.encoding import RowGroups
from anoncup.geometry.kernels.nearest import select_nearest

_MAX_COMPARED_ROWS = 256
"""Maximum number of rows of a group without a tree."""
_MAX_PAIRS_PER_BLOCK = 2**20
"""Maximum number of pairs of rows that are compared at a time, to limit memory."""
_LEAF_SIZE = 16
_ROUNDING_MARGIN = 1 + 1e-9
"""Exceeds the relative rounding error of the distances of a tree."""
_MIN_SHARE_OF_LARGE_BALL = 1 / 16
"""Listing this share of a tree's rows as Python integers takes about as long as comparing all rows."""


@dataclass(frozen=True, slots=True)
class NeighbourIndex:
    """Points (n, columns) by group: the rows of group g are ``members[starts[g]:starts[g + 1]]``, ascending.

    ``earlier_equal_count`` (n,): number of earlier rows of the same group with equal points.
    """

    points: FloatArray
    members: IntArray
    starts: IntArray
    earlier_equal_count: IntArray
    trees: dict[tuple[int, int], tuple[IntArray, cKDTree]] = field(default_factory=dict)

    def get_tree(self, group: int, count: int) -> tuple[IntArray, cKDTree]:
        """Return the tree of a group, with the first ``count`` rows of each point, and these rows.

        Without this limit, a large group of equal rows would be searched as a whole for each query.
        """
        if (group, count) not in self.trees:
            rows = self.members[self.starts[group] : self.starts[group + 1]]
            rows = rows[self.earlier_equal_count[rows] < count]
            self.trees[group, count] = rows, cKDTree(self.points[rows], leafsize=_LEAF_SIZE)
        return self.trees[group, count]


def build_index(
    points: FloatArray, groups: RowGroups, is_included: BoolArray | None = None
) -> NeighbourIndex:
    """Index ``points`` (n, columns) by group; ``is_included`` (n,) selects the rows, None selects all."""
    points, members, sizes = _require_column(points), groups.members, groups.sizes
    if is_included is not None:
        members = members[is_included[members]]
        sizes = np.bincount(groups.group_ids[members], minlength=groups.count)
    earlier_equal_count = np.zeros(len(points), dtype=np.int64)
    if sizes.max(initial=0) > _MAX_COMPARED_ROWS:
        cells = pd.DataFrame({"group": groups.group_ids[members], "point": list_row_keys(points[members])})
        earlier_equal_count[members] = cells.groupby(["group", "point"], sort=False).cumcount()
    return NeighbourIndex(points, members, np.append(0, np.cumsum(sizes)), earlier_equal_count)


def _require_column(points: FloatArray) -> FloatArray:
    """Return the points row-wise in memory, with a column of zeros if they have none."""
    return np.ascontiguousarray(points) if points.shape[1] else np.zeros((len(points), 1))


def list_row_keys(values: FloatArray) -> list[bytes]:
    """Return each row as bytes, which are equal for equal rows, even if one has 0.0 and the other -0.0."""
    cells = np.ascontiguousarray(values + 0.0)
    keys: list[bytes] = cells.view(f"V{cells.shape[1] * cells.itemsize}").ravel().tolist()
    return keys


def find_nearest_rows(index: NeighbourIndex, queries: FloatArray, group_ids: IntArray) -> IntArray:
    """Return the nearest row of the same group for each query, (q,); -1 for group -1 and empty groups."""
    return find_k_nearest_rows(index, queries, group_ids, 1)[0][:, 0]


def find_k_nearest_rows(
    index: NeighbourIndex, queries: FloatArray, group_ids: IntArray, count: int
) -> tuple[IntArray, FloatArray]:
    """Return the ``count`` nearest rows in each query's group, and their squared distances, both (q, count).

    Rows are sorted by distance, then by row number. In smaller groups, lines are padded with -1 and infinity.
    """
    queries, all_sizes = _require_column(queries), np.diff(index.starts)
    sizes = np.where(group_ids < 0, 0, all_sizes[group_ids])
    rows, squares = select_nearest(
        points=index.points,
        queries=queries,
        candidates=index.members,
        starts=index.starts[group_ids],
        sizes=np.where(sizes <= _MAX_COMPARED_ROWS, sizes, 0),
        count=count,
    )
    for group in np.unique(group_ids[sizes > _MAX_COMPARED_ROWS]):
        own = np.flatnonzero(group_ids == group)
        # Queries in succession should visit the same parts of the tree.
        own = own[np.argsort(queries[own, queries[own].std(axis=0).argmax()])]
        rows[own], squares[own] = _search_tree(index, queries[own], int(group), count)
    return rows, squares


def _search_tree(
    index: NeighbourIndex, queries: FloatArray, group: int, count: int
) -> tuple[IntArray, FloatArray]:
    """Search the tree of a group; if the row after the last one may be as near, compare all that may be."""
    members, tree = index.get_tree(group, count)
    width = min(count + 1, len(members))
    distances, positions = map(np.asarray, tree.query(queries, np.arange(1, width + 1)))
    candidates = members[positions].ravel()
    rows, squares = _compare(index, queries, candidates, np.full(len(queries), width), count)
    radii = distances[:, min(count, width) - 1] * _ROUNDING_MARGIN
    tied = np.flatnonzero((distances[:, -1] <= radii) & (width > count))
    ball_sizes = tree.query_ball_point(queries[tied], radii[tied], return_length=True)
    is_large = ball_sizes > len(members) * _MIN_SHARE_OF_LARGE_BALL
    own = tied[is_large]
    all_sizes, all_starts = np.full(len(own), len(members)), np.zeros(len(own), dtype=np.int64)
    rows[own], squares[own] = _compare(index, queries[own], members, all_sizes, count, starts=all_starts)
    tied, ball_sizes = tied[~is_large], ball_sizes[~is_large]
    for block in _split(ball_sizes):
        own = tied[block]
        balls = tree.query_ball_point(queries[own], radii[own])
        candidates = members[np.concatenate(balls).astype(np.int64)]
        rows[own], squares[own] = _compare(index, queries[own], candidates, ball_sizes[block], count)
    return rows, squares


def _compare(
    index: NeighbourIndex,
    queries: FloatArray,
    candidates: IntArray,
    sizes: IntArray,
    count: int,
    *,
    starts: IntArray | None = None,
) -> tuple[IntArray, FloatArray]:
    """Return the nearest of each query's candidates, of which there are ``sizes``.

    They begin at ``starts``; by default, those of one query follow those of another.
    """
    return select_nearest(
        points=index.points,
        queries=queries,
        candidates=candidates,
        starts=np.cumsum(sizes) - sizes if starts is None else starts,
        sizes=sizes,
        count=count,
    )


def _split(sizes: IntArray) -> Iterator[slice]:
    """Yield slices of queries with at most about ``_MAX_PAIRS_PER_BLOCK`` candidates, given their numbers."""
    ends = np.flatnonzero(np.diff(np.cumsum(sizes) // _MAX_PAIRS_PER_BLOCK)) + 1
    bounds = [0, *ends.tolist(), len(sizes)] if len(sizes) else []
    return (slice(first, last) for first, last in pairwise(bounds))
