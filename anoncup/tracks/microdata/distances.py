"""Gower's distance between rows, for tables with categorical and numeric columns.

X is the original with n rows, Y the release with n' rows, Q the quasi-identifiers and S the sensitive
columns. Gower, "A general coefficient of similarity and some of its properties", 1971.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from anoncup.geometry.arrays import FloatArray, IntArray
from anoncup.geometry.encoding import group_rows, sort_rows_by_group
from anoncup.geometry.kernels import gower as kernels
from anoncup.geometry.kernels import knn_gower
from anoncup.geometry.kernels.gower import SMALLEST_WIDTH
from anoncup.geometry.nearest_neighbours import (
    KdForest,
    allocate_neighbour_lists,
    build_forest,
    list_forest_arrays,
)
from anoncup.geometry.stable_sums import find_scale_exponent
from anoncup.tracks.memo import memoize, memoize_if_small
from anoncup.tracks.microdata.release import MicrodataOriginal, MicrodataTarget, ScoredMicrodata

NEAREST_COUNT = 3
"""Number of nearest rows of X by Gower's distance that are found once and shared by all attackers."""
ROWS_PER_BLOCK = 10_000
"""Number of rows subtracted at a time, which limits the memory for intermediate arrays."""
_MAX_COORDINATE = 2.0**500
"""Limit of Euclidean coordinates, relative to the original's largest one.

Squares stay finite, and so far away, differences between rows of X are lost to rounding anyway.
"""


def compute_cell_differences(release: ScoredMicrodata) -> FloatArray:
    """Return |x - y| / range of X for every sensitive cell of Y and its source, (n', |S|), unclipped.

    In columns that are constant in X, equal cells have the difference 0 and others 1. Differences beyond
    float64's range are infinite.
    """
    original, target, source = release.original, release.target, release.answer

    def compute() -> FloatArray:
        result, column_ranges = np.empty(target.values.shape), compute_ranges(original)
        for first in range(0, target.rows, ROWS_PER_BLOCK):
            block = slice(first, first + ROWS_PER_BLOCK)
            result[block] = scale_differences(
                original.values[source[block]], target.values[block], column_ranges
            )
        return result

    return memoize_if_small(release.memo, ("differences",), target.rows, compute)


def compute_ranges(original: MicrodataOriginal) -> tuple[IntArray, FloatArray]:
    """Return the ``find_scale_exponent`` of each sensitive column, and max - min scaled by it."""

    def compute() -> tuple[IntArray, FloatArray]:
        exponents = np.array([find_scale_exponent(column) for column in original.values.T], dtype=np.int64)
        scaled = np.ldexp(original.values, exponents)
        return exponents, scaled.max(axis=0) - scaled.min(axis=0)

    return memoize(original.memo, ("ranges",), compute)


def scale_differences(x: FloatArray, y: FloatArray, column_ranges: tuple[IntArray, FloatArray]) -> FloatArray:
    """Return |x - y| / range as :func:`compute_cell_differences`; columns are last, and arrays broadcast."""
    exponents, widths = column_ranges
    with np.errstate(over="ignore"):
        differences = np.abs(np.ldexp(x, exponents) - np.ldexp(y, exponents))
        shares = differences / np.where(widths > 0, widths, 1.0)
    result: FloatArray = np.where(widths > 0, shares, (x != y).astype(np.float64))
    return result


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
    original, (range_exponents, widths) = target.original, compute_ranges(target.original)
    exponents = np.where(widths > 0, range_exponents, 0)
    with np.errstate(over="ignore"):
        values = np.ldexp(target.values[rows], exponents)
    original_values = np.ascontiguousarray(np.ldexp(original.values, exponents).T)
    codes, original_codes = target.codes[rows].astype(np.int32), original.codes.T.astype(np.int32, order="C")
    return kernels.gower_sum_matrix(
        codes, values, original_codes, original_values, np.where(widths > 0, widths, SMALLEST_WIDTH)
    )


def gower_nearest_other(original: MicrodataOriginal) -> FloatArray:
    """Return Gower's distance of every row of X to its nearest other row, (n,); infinite for a single row."""
    exponents, widths = compute_ranges(original)
    scaled = np.ldexp(original.values, exponents)
    unit_values = (scaled - scaled.min(axis=0)) / np.where(widths > 0, widths, 1.0)
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
    ``tree_of_class`` (classes of X,) the tree of each class, or -1 if none of its rows is indexed. Values in
    the trees are multiplied by 2**``exponents`` (|S|); the columns' ranges are then ``widths`` (|S|), none 0.
    """

    forest: KdForest
    class_codes: knn_gower.CodeArray
    class_bytes: knn_gower.ByteArray
    class_of_point: IntArray
    tree_of_class: IntArray
    exponents: IntArray
    widths: FloatArray


def build_whole_gower_index(original: MicrodataOriginal) -> GowerIndex:
    """Build the index of all rows of X."""
    all_rows, key = np.arange(original.rows), ("gower index",)
    return memoize_if_small(original.memo, key, original.rows, lambda: build_gower_index(original, all_rows))


def build_gower_index(original: MicrodataOriginal, rows: IntArray) -> GowerIndex:
    """Build the index of the given rows of X, which must be in ascending order."""
    range_exponents, widths = compute_ranges(original)
    width_exponents = np.frexp(widths)[1]
    grouping = original.group_by(original.columns.quasi_identifiers)
    classes, first_rows, trees = np.unique(grouping.group_ids[rows], return_index=True, return_inverse=True)
    tree_of_class = np.full(grouping.count, -1, dtype=np.int64)
    tree_of_class[classes] = np.arange(len(classes))
    forest = _build_class_and_whole_trees(
        np.ldexp(original.values[rows], range_exponents - width_exponents), trees
    )
    codes = original.codes[rows[first_rows]]
    return GowerIndex(
        forest=forest,
        class_of_point=trees[forest.rows],
        class_codes=codes.astype(np.int32),
        class_bytes=_pack_code_bytes(codes),
        tree_of_class=tree_of_class,
        exponents=range_exponents - width_exponents,
        widths=np.where(widths > 0, np.ldexp(widths, -width_exponents), SMALLEST_WIDTH),
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
    with np.errstate(over="ignore"):
        queries = np.ldexp(target.values[ordered_rows], index.exponents)
    sums, neighbours = allocate_neighbour_lists(len(rows), count)
    knn_gower.search_k_nearest_gower(
        queries, np.append(span_starts, len(rows)), target.codes[span_rows].astype(np.int32),
        np.where(matches[span_rows] < 0, -1, index.tree_of_class[matches[span_rows]]),
        index.class_codes, index.class_bytes, index.widths,
        np.zeros(len(rows)) if minimum_sums is None else minimum_sums[order],
        index.class_of_point, *list_forest_arrays(index.forest), sums, neighbours,
    )  # fmt: skip
    inverse_order = np.argsort(order)
    return np.where(np.isfinite(sums), neighbours, -1)[inverse_order], sums[inverse_order]


def find_nearest_by_gower(target: MicrodataTarget) -> tuple[IntArray, FloatArray]:
    """Return the ``NEAREST_COUNT`` nearest rows of X for every row of Y, and Gower's sums; memoized."""

    def search() -> tuple[IntArray, FloatArray]:
        return search_gower_index(
            target, build_whole_gower_index(target.original), np.arange(target.rows), NEAREST_COUNT
        )

    return memoize(target.memo, ("nearest by Gower",), search)


def _mask_unknown_codes(target: MicrodataTarget) -> IntArray:
    """Return the codes of Y, (n', |Q|), with -1 for texts that do not occur in X."""
    sizes = np.array([len(vocabulary) for vocabulary in target.original.vocabularies], dtype=np.int64)
    masked_codes: IntArray = np.where(target.codes < sizes, target.codes, -1)
    return masked_codes


def group_by_known_codes(target: MicrodataTarget) -> IntArray:
    """Return group numbers of the rows of Y by their known codes, (n',), ordered by the last code first."""
    key = ("known classes",)
    return memoize(target.memo, key, lambda: group_rows(_mask_unknown_codes(target)[:, ::-1] + 1).group_ids)


def scale_to_unit(target: MicrodataTarget, sensitive: Sequence[str]) -> tuple[FloatArray, FloatArray]:
    """Scale sensitive columns of X and Y by one power of two that makes X's largest value less than 1.

    Euclidean distances of the scaled values keep their order and never overflow.
    """
    column_indices = [target.original.columns.sensitive.index(name) for name in sensitive]
    x, y = target.original.values[:, column_indices], target.values[:, column_indices]
    exponent = int(np.frexp(np.abs(x).max(initial=0.0))[1])
    with np.errstate(over="ignore"):
        return np.ldexp(x, -exponent), np.clip(np.ldexp(y, -exponent), -_MAX_COORDINATE, _MAX_COORDINATE)


def _build_class_and_whole_trees(points: FloatArray, group_of: IntArray) -> KdForest:
    """Build a tree for each group, then one of all points."""
    rows, sizes = len(points), np.bincount(group_of)
    members = np.concatenate((sort_rows_by_group(group_of, sizes), np.arange(rows)))
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
