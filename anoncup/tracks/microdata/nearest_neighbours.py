"""List the nearest other individuals of an original X, if not all distances fit into memory."""

from collections.abc import Callable, Iterator

import numpy as np

from anoncup.geometry.arrays import FloatArray, IntArray
from anoncup.geometry.assignment import CandidateLists, select_candidates
from anoncup.geometry.nearest_neighbours import build_index, find_k_nearest_rows
from anoncup.tracks.memo import memoize
from anoncup.tracks.microdata.distances import (
    build_whole_gower_index,
    compute_gower_sums,
    count_columns,
    scale_to_unit,
    search_gower_index,
)
from anoncup.tracks.microdata.pairwise_distances import MAX_PAIRS_PER_BLOCK, euclidean_pairs
from anoncup.tracks.microdata.release import MicrodataOriginal, MicrodataTarget, build_target

_MAX_TREE_SEARCH = 1000
"""Largest number of neighbours for a search in trees; for more, sorting all distances is faster."""


def list_gower_nearest(original: MicrodataOriginal, rows: IntArray, length: int) -> CandidateLists:
    """List the ``length`` nearest others of the given rows of X by Gower's distance."""
    column_count = max(count_columns(original), 1)
    if length > _MAX_TREE_SEARCH:
        return _sort_all_distances(
            rows,
            length,
            lambda block_rows: compute_gower_sums(_identity_target(original), block_rows) / column_count,
            original.rows,
        )
    neighbours, sums = search_gower_index(
        _identity_target(original), build_whole_gower_index(original), rows, length + 2
    )
    return _build_lists_without_self(rows, neighbours, sums / column_count)


def list_euclidean_nearest(original: MicrodataOriginal, rows: IntArray, length: int) -> CandidateLists:
    """List the ``length`` nearest others of given rows of X by Euclidean distance in sensitive columns."""
    if length > _MAX_TREE_SEARCH:
        return _sort_all_distances(
            rows,
            length,
            lambda block_rows: _compute_distances_to_all(original, block_rows),
            original.rows,
        )
    x, _ = scale_to_unit(_identity_target(original), original.columns.sensitive)
    index = memoize(
        original.memo, ("euclidean index of all rows",), lambda: build_index(x, original.group_by(()))
    )
    neighbours, _ = find_k_nearest_rows(index, x[rows], np.zeros(len(rows), dtype=np.int64), length + 2)
    safe_neighbours = np.maximum(neighbours, 0)
    costs = euclidean_pairs(original, np.repeat(rows, neighbours.shape[1]), safe_neighbours.ravel()).reshape(
        neighbours.shape
    )
    return _build_lists_without_self(rows, neighbours, np.where(neighbours < 0, np.inf, costs))


def _compute_distances_to_all(original: MicrodataOriginal, rows: IntArray) -> FloatArray:
    all_rows = np.tile(np.arange(original.rows), len(rows))
    return euclidean_pairs(original, np.repeat(rows, original.rows), all_rows).reshape(len(rows), -1)


def _build_lists_without_self(rows: IntArray, neighbours: IntArray, costs: FloatArray) -> CandidateLists:
    """Build lists from neighbours, nearest first, without the row itself.

    The last neighbour is not listed; its cost is the lower bound for all unlisted ones. If a row is not among
    its own neighbours, because many are equally near, one more neighbour is dropped at the end.
    """
    is_self = neighbours == rows[:, np.newaxis]
    is_self[~is_self.any(axis=1), -1] = True
    width = neighbours.shape[1] - 1
    columns, costs = neighbours[~is_self].reshape(-1, width), costs[~is_self].reshape(-1, width)
    return CandidateLists(columns[:, :-1], costs[:, :-1], costs[:, -1])


def _sort_all_distances(
    rows: IntArray, length: int, compute_distances: Callable[[IntArray], FloatArray], original_count: int
) -> CandidateLists:
    """Build lists from ``compute_distances(block_rows)``, (block rows, n), one block of rows at a time."""
    return select_candidates(
        (_exclude_self(block_rows, compute_distances) for block_rows in _iter_blocks(rows, original_count)),
        min(length, original_count - 1),
    )


def _iter_blocks(rows: IntArray, original_count: int) -> Iterator[IntArray]:
    step = max(MAX_PAIRS_PER_BLOCK // original_count, 1)
    yield from (rows[first : first + step] for first in range(0, len(rows), step))


def _exclude_self(rows: IntArray, compute_distances: Callable[[IntArray], FloatArray]) -> FloatArray:
    costs = compute_distances(rows)
    costs[np.arange(len(rows)), rows] = np.inf
    return costs


def _identity_target(original: MicrodataOriginal) -> MicrodataTarget:
    return memoize(original.memo, ("identity target",), lambda: build_target(original, original.table))
