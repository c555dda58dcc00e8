"""Gower's distance between rows, for tables with categorical and numeric columns.

X is the original with n rows, Y the release with n' rows, Q the quasi-identifiers and S the sensitive
columns. Gower, "A general coefficient of similarity and some of its properties", 1971.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from anoncup.geometry.arrays import FloatArray, IntArray
from anoncup.geometry.encoding import group_rows
from anoncup.geometry.kernels import gower as kernels
from anoncup.geometry.kernels import knn_gower
from anoncup.geometry.kernels.gower import SMALLEST_WIDTH
from anoncup.geometry.nearest_neighbours import (
    KdForest,
    allocate_neighbour_lists,
    build_forest,
    list_forest_arrays,
)
from anoncup.tracks.memo import memoize, memoize_if_small
from anoncup.tracks.microdata.release import MicrodataOriginal, MicrodataTarget, ScoredMicrodata

NEAREST_COUNT = 3
"""Number of nearest rows of X by Gower's distance that are found once and shared by all attackers."""
ROWS_PER_BLOCK = 10_000
"""Number of rows subtracted at a time, which limits the memory for intermediate arrays."""


@memoize_if_small
def compute_cell_differences(release: ScoredMicrodata) -> FloatArray:
    """Return |x - y| / range of X for every sensitive cell of Y and its source, (n', |S|), unclipped.

    In columns that are constant in X, equal cells have the difference 0 and others 1.
    """
    original, target, source = release.original, release.target, release.answer
    ranges, result = get_ranges(original), np.empty(target.values.shape)
    is_constant = ranges == SMALLEST_WIDTH
    for first in range(0, target.rows, ROWS_PER_BLOCK):
        block = slice(first, first + ROWS_PER_BLOCK)
        differences = np.abs(original.values[source[block]] - target.values[block])
        result[block] = np.where(
            is_constant, differences > 0, differences / np.where(is_constant, 1.0, ranges)
        )
    return result


@memoize
def get_ranges(original: MicrodataOriginal) -> FloatArray:
    """Return the range of each sensitive column, (|S|,).

    That of a constant column is the smallest positive float, by which any difference becomes infinite.
    """
    ranges = np.ptp(original.values, axis=0)
    return np.where(ranges > 0, ranges, SMALLEST_WIDTH)


def gower_to_source(release: ScoredMicrodata) -> FloatArray:
    """Return Gower's distance of every row of Y to its source, (n',), in [0, 1].

    It is the mean over all columns of the mismatch, 0 or 1, in quasi-identifiers and of |x - y| / range of X,
    at most 1, in sensitive columns.
    """
    codes = release.original.codes[release.answer]
    return _average_differences(codes != release.target.codes, compute_cell_differences(release))


def compute_gower_block(target: MicrodataTarget, first: int, last: int) -> FloatArray:
    """Return Gower's distances of rows first to last - 1 of Y to all rows of X, (last - first, n)."""
    return compute_gower_sums(target, np.arange(first, min(last, target.rows))) / max(
        _count_columns(target.original), 1
    )


def compute_gower_sums(target: MicrodataTarget, rows: IntArray) -> FloatArray:
    """Return Gower's sums, (rows, n): distances of rows of Y to all rows of X times the number of columns.

    Quasi-identifiers are added first, then sensitive columns.
    """
    original = target.original
    return kernels.gower_sum_matrix(
        target.codes[rows].astype(np.int32),
        target.values[rows],
        original.codes.T.astype(np.int32, order="C"),
        np.ascontiguousarray(original.values.T),
        get_ranges(original),
    )


def gower_nearest_other(original: MicrodataOriginal) -> FloatArray:
    """Return Gower's distance of every row of X to its nearest other row, (n,); infinite for a single row."""
    unit_values = (original.values - original.values.min(axis=0)) / get_ranges(original)
    order = np.lexsort(original.codes.T) if original.codes.shape[1] else np.arange(original.rows)
    nearest = np.empty(original.rows)
    nearest[order] = kernels.nearest_neighbour_sums(
        original.codes[order], np.ascontiguousarray(unit_values[order])
    )
    means: FloatArray = nearest / max(original.codes.shape[1] + unit_values.shape[1], 1)
    return means


@dataclass(frozen=True, slots=True)
class GowerIndex:
    """Search index of original rows for Gower's distance.

    ``forest`` has a tree for each class of equal quasi-identifiers, then one of all rows. ``class_codes``
    (trees, |Q|) are the codes of each class. ``class_bytes`` (columns, trees rounded up to whole blocks) are
    the codes modulo 256 of the first 254 columns. ``class_of_point`` is the class of each point, and
    ``tree_of_class`` (classes of X,) the tree of each class, or -1 if none of its rows is indexed.
    """

    forest: KdForest
    class_codes: knn_gower.CodeArray
    class_bytes: knn_gower.ByteArray
    class_of_point: IntArray
    tree_of_class: IntArray
    ranges: FloatArray


@memoize_if_small
def build_whole_gower_index(original: MicrodataOriginal) -> GowerIndex:
    """Build the index of all rows of X."""
    return build_gower_index(original, np.arange(original.rows))


def build_gower_index(original: MicrodataOriginal, rows: IntArray) -> GowerIndex:
    """Build the index of the given rows of X, which must be in ascending order."""
    grouping = original.group_by(original.columns.quasi_identifiers)
    classes, first_rows, trees = np.unique(grouping.group_ids[rows], return_index=True, return_inverse=True)
    tree_of_class = np.full(grouping.count, -1, dtype=np.int64)
    tree_of_class[classes] = np.arange(len(classes))
    forest = _build_class_and_whole_trees(original.values[rows], trees)
    codes = original.codes[rows[first_rows]]
    return GowerIndex(
        forest=forest,
        class_of_point=trees[forest.rows],
        class_codes=codes.astype(np.int32),
        class_bytes=_pack_code_bytes(codes),
        tree_of_class=tree_of_class,
        ranges=get_ranges(original),
    )


def search_gower_index(
    target: MicrodataTarget,
    index: GowerIndex,
    rows: IntArray,
    count: int,
    *,
    minimum_sums: FloatArray | None = None,
) -> tuple[IntArray, FloatArray]:
    """Return the ``count`` indexed rows nearest to each of ``rows`` of Y, nearest first, and Gower's sums.

    Both results are (rows, count), padded with -1 and infinity. Row numbers are positions in the index, and
    sums are those of :func:`compute_gower_sums`. Sums below ``minimum_sums`` (rows,) are raised to them, so
    that they are ties; ties are in the order of rows.
    """
    class_of = group_by_known_codes(target)[rows]
    matches = target.match_classes(target.original.columns.quasi_identifiers)
    order = np.argsort(class_of, kind="stable")
    span_starts = np.flatnonzero(np.diff(class_of[order], prepend=-1))
    span_rows, ordered_rows = rows[order[span_starts]], rows[order]
    queries = target.values[ordered_rows]
    sums, neighbours = allocate_neighbour_lists(len(rows), count)
    knn_gower.search_k_nearest_gower(
        queries, np.append(span_starts, len(rows)), target.codes[span_rows].astype(np.int32),
        np.where(matches[span_rows] < 0, -1, index.tree_of_class[matches[span_rows]]),
        index.class_codes, index.class_bytes, index.ranges,
        np.zeros(len(rows)) if minimum_sums is None else minimum_sums[order],
        index.class_of_point, *list_forest_arrays(index.forest), sums, neighbours,
    )  # fmt: skip
    inverse_order = np.argsort(order)
    return np.where(np.isfinite(sums), neighbours, -1)[inverse_order], sums[inverse_order]


@memoize
def find_nearest_by_gower(target: MicrodataTarget) -> tuple[IntArray, FloatArray]:
    """Return the ``NEAREST_COUNT`` nearest rows of X for every row of Y, and Gower's sums."""
    index = build_whole_gower_index(target.original)
    return search_gower_index(target, index, np.arange(target.rows), NEAREST_COUNT)


def _mask_unknown_codes(target: MicrodataTarget) -> IntArray:
    """Return the codes of Y, (n', |Q|), with -1 for texts that do not occur in X."""
    sizes = np.array([len(vocabulary) for vocabulary in target.original.vocabularies], dtype=np.int64)
    masked_codes: IntArray = np.where(target.codes < sizes, target.codes, -1)
    return masked_codes


@memoize
def group_by_known_codes(target: MicrodataTarget) -> IntArray:
    """Return group numbers of the rows of Y by their known codes, (n',), ordered by the last code first."""
    return group_rows(_mask_unknown_codes(target)[:, ::-1] + 1).group_ids


def _build_class_and_whole_trees(points: FloatArray, group_of: IntArray) -> KdForest:
    """Build a tree for each group, then one of all points."""
    rows, sizes = len(points), np.bincount(group_of)
    members = np.concatenate((np.argsort(group_of, kind="stable"), np.arange(rows)))
    return build_forest(points, members, np.cumsum(np.concatenate(([0], sizes, [rows]))))


def _pack_code_bytes(codes: IntArray) -> knn_gower.ByteArray:
    """Return the lowest byte of every code, (columns, classes), padded with zeros to whole blocks."""
    columns = min(codes.shape[1], knn_gower.EXCLUDED - 1)
    packed = np.zeros(
        (columns, -(-len(codes) // knn_gower.BLOCK_SIZE) * knn_gower.BLOCK_SIZE), dtype=np.uint8
    )
    packed[:, : len(codes)] = codes[:, :columns].T
    return packed


def _count_columns(original: MicrodataOriginal) -> int:
    return len(original.columns.quasi_identifiers) + len(original.columns.sensitive)


def _average_differences(mismatches: npt.NDArray[np.bool_], shares: FloatArray) -> FloatArray:
    total = mismatches.sum(axis=-1) + np.minimum(shares, 1.0).sum(axis=-1)
    means: FloatArray = total / max(mismatches.shape[-1] + shares.shape[-1], 1)
    return means
