"""Distances between rows: Gower's, for tables with discrete and numeric columns."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from anoncup.geometry.arrays import FloatArray, IntArray
from anoncup.geometry.encoding import group_rows, rows_by_group
from anoncup.geometry.kernels import gower as kernels
from anoncup.geometry.kernels import knn_gower
from anoncup.geometry.kernels.gower import SMALLEST
from anoncup.geometry.nearest_neighbours import Forest, build_forest, no_rows_yet, tree_of
from anoncup.geometry.stable_sums import headroom
from anoncup.tracks.memo import kept_of_few, once
from anoncup.tracks.microdata.release import PreparedOriginal, Release, Target

NEAREST = 3
"""Rows of X nearest to each row of Y by Gower's distance that are found once for all attackers."""
PART = 10_000
"""Rows that are subtracted at a time: all of them would be in memory several times over."""
FARTHEST = 2.0**500
"""Where Euclidean coordinates end, in units of the original's largest: squares stay finite, no digit of a
difference between two rows of X is left that far away."""


def differences(release: Release) -> FloatArray:
    """|x - y| / range of X for every sensitive cell of Y and its source, (n', |S|), unclipped.

    A column constant in X: 0 where equal, else 1. Beyond float64's range: infinite.
    """
    original, target, source = release.original, release.target, release.source

    def by_parts() -> FloatArray:
        apart, of = np.empty(target.values.shape), ranges(original)
        for first in range(0, target.rows, PART):
            some = slice(first, first + PART)
            apart[some] = scaled_differences(original.values[source[some]], target.values[some], of)
        return apart

    return kept_of_few(release.kept, ("differences",), target.rows, by_parts)


def ranges(original: PreparedOriginal) -> tuple[IntArray, FloatArray]:
    """Each sensitive column's exponent of :func:`headroom` and its max - min under it."""

    def measure() -> tuple[IntArray, FloatArray]:
        rooms = np.array([headroom(column) for column in original.values.T], dtype=np.int64)
        scaled = np.ldexp(original.values, rooms)
        return rooms, scaled.max(axis=0) - scaled.min(axis=0)

    return once(original.kept, ("ranges",), measure)


def scaled_differences(x: FloatArray, y: FloatArray, of: tuple[IntArray, FloatArray]) -> FloatArray:
    """|x - y| / range, columns last; see :func:`differences`. The arrays broadcast."""
    rooms, widths = of
    with np.errstate(over="ignore"):
        gaps = np.abs(np.ldexp(x, rooms) - np.ldexp(y, rooms))
        shares = gaps / np.where(widths > 0, widths, 1.0)
    apart: FloatArray = np.where(widths > 0, shares, (x != y).astype(np.float64))
    return apart


def gower_rows(release: Release) -> FloatArray:
    """Gower's distance of every row of Y to its source, (n',), in [0, 1].

    Mean over all columns of 0/1 mismatch (quasi-identifiers) and |x - y| / range of X capped at 1
    (sensitive).
    """
    codes = release.original.codes[release.source]
    return _gower(codes != release.target.codes, differences(release))


def gower_block(target: Target, first: int, last: int) -> FloatArray:
    """Gower's distances of rows first..last-1 of Y to all rows of X, (last - first, n)."""
    return gower_sums(target, np.arange(first, min(last, target.rows))) / max(_columns(target.original), 1)


def gower_sums(target: Target, rows: IntArray) -> FloatArray:
    """Gower's distances times the number of columns, of the given rows of Y to all rows of X.

    Shape (rows, n). Columns are added in the order Q, then S.
    """
    original, (rooms, widths) = target.original, ranges(target.original)
    exponents = np.where(widths > 0, rooms, 0)
    with np.errstate(over="ignore"):
        values = np.ldexp(target.values[rows], exponents)
    others = np.ascontiguousarray(np.ldexp(original.values, exponents).T)
    codes, other_codes = target.codes[rows].astype(np.int32), original.codes.T.astype(np.int32, order="C")
    return kernels.gower_rows_apart(
        codes, values, other_codes, others, np.where(widths > 0, widths, SMALLEST)
    )


def gower_nearest_other(original: PreparedOriginal) -> FloatArray:
    """For every row of X Gower's distance to its nearest other row, (n,); a row alone has none: infinite."""
    rooms, widths = ranges(original)
    scaled = np.ldexp(original.values, rooms)
    units = (scaled - scaled.min(axis=0)) / np.where(widths > 0, widths, 1.0)
    order = np.lexsort(original.codes.T) if original.codes.shape[1] else np.arange(original.rows)
    nearest = np.empty(original.rows)
    nearest[order] = kernels.nearest_other(original.codes[order], np.ascontiguousarray(units[order]))
    means: FloatArray = nearest / max(original.codes.shape[1] + units.shape[1], 1)
    return means


@dataclass(frozen=True, slots=True)
class GowerIndex:
    """Rows of the original as the search by Gower's distance wants them.

    A tree for each class of equal quasi-identifiers, which has ``class_codes`` (trees, |Q|), then one of all
    rows; ``class_bytes`` (columns, trees in whole blocks) are the codes modulo 256 of all columns but those
    beyond the 254th; ``class_at`` is each point's class. ``tree_of_class`` (classes of X,), -1 = none of the
    rows. Values in the trees are times 2**``exponents`` (|S|); the columns' ranges are then ``widths`` (|S|),
    none 0.
    """

    forest: Forest
    class_codes: knn_gower.Codes
    class_bytes: knn_gower.Bytes
    class_at: IntArray
    tree_of_class: IntArray
    exponents: IntArray
    widths: FloatArray


def whole_gower_index(original: PreparedOriginal) -> GowerIndex:
    """Of all rows of X."""
    every, key = np.arange(original.rows), ("gower index",)
    return kept_of_few(original.kept, key, original.rows, lambda: gower_index(original, every))


def gower_index(original: PreparedOriginal, rows: IntArray) -> GowerIndex:
    """Of some rows of X, ascending."""
    rooms, widths = ranges(original)
    digits = np.frexp(widths)[1]
    grouping = original.grouping(original.columns.quasi_identifiers)
    classes, heads, trees = np.unique(grouping.group_of[rows], return_index=True, return_inverse=True)
    tree_of_class = np.full(grouping.count, -1, dtype=np.int64)
    tree_of_class[classes] = np.arange(len(classes))
    forest = _twofold(np.ldexp(original.values[rows], rooms - digits), trees)
    codes = original.codes[rows[heads]]
    return GowerIndex(
        forest=forest,
        class_at=trees[forest.rows],
        class_codes=codes.astype(np.int32),
        class_bytes=_bytes_in_blocks(codes),
        tree_of_class=tree_of_class,
        exponents=rooms - digits,
        widths=np.where(widths > 0, np.ldexp(widths, -digits), SMALLEST),
    )


def gower_nearest(
    target: Target,
    index: GowerIndex,
    rows: IntArray,
    count: int,
    *,
    floors: FloatArray | None = None,
) -> tuple[IntArray, FloatArray]:
    """The ``count`` indexed rows nearest to each of ``rows`` of Y, nearest first, and Gower's sums.

    Both (rows, count); where there are no more, -1 and infinity. Rows are counted within the index, sums are
    those of :func:`gower_sums`; those below ``floors`` (rows,) count as equal to it, and equal ones stand in
    the order of rows.
    """
    span_of, matches = known_classes(target)[rows], target.matches(target.original.columns.quasi_identifiers)
    order = np.argsort(span_of, kind="stable")
    firsts = np.flatnonzero(np.diff(span_of[order], prepend=-1))
    heads, ordered = rows[order[firsts]], rows[order]
    with np.errstate(over="ignore"):
        queries = np.ldexp(target.values[ordered], index.exponents)
    sums, found = no_rows_yet(len(rows), count)
    knn_gower.gower_several(
        queries, np.append(firsts, len(rows)), target.codes[heads].astype(np.int32),
        np.where(matches[heads] < 0, -1, index.tree_of_class[matches[heads]]),
        index.class_codes, index.class_bytes, index.widths,
        np.zeros(len(rows)) if floors is None else floors[order],
        index.class_at, *tree_of(index.forest), sums, found,
    )  # fmt: skip
    back = np.argsort(order)
    return np.where(np.isfinite(sums), found, -1)[back], sums[back]


def nearest_by_gower(target: Target) -> tuple[IntArray, FloatArray]:
    """The ``NEAREST`` rows of X for every row of Y, as :func:`gower_nearest` has them; kept."""

    def search() -> tuple[IntArray, FloatArray]:
        return gower_nearest(target, whole_gower_index(target.original), np.arange(target.rows), NEAREST)

    return once(target.kept, ("nearest by Gower",), search)


def known_codes(target: Target) -> IntArray:
    """The codes of Y with -1 for every text that X does not have, (n', |Q|)."""
    sizes = np.array([len(each) for each in target.original.vocabularies], dtype=np.int64)
    known: IntArray = np.where(target.codes < sizes, target.codes, -1)
    return known


def known_classes(target: Target) -> IntArray:
    """Rows of Y with the same known codes share a number, (n',); ascending by the last code, and so on."""
    key = ("known classes",)
    return once(target.kept, key, lambda: group_rows(known_codes(target)[:, ::-1] + 1).group_of)


def unit_values(target: Target, sensitive: Sequence[str]) -> tuple[FloatArray, FloatArray]:
    """Chosen sensitive columns of X and of Y under one power of two that makes X's largest less than 1.

    Euclidean distances in them keep the order and never overflow.
    """
    places = [target.original.columns.sensitive.index(name) for name in sensitive]
    x, y = target.original.values[:, places], target.values[:, places]
    exponent = int(np.frexp(np.abs(x).max(initial=0.0))[1])
    with np.errstate(over="ignore"):
        return np.ldexp(x, -exponent), np.clip(np.ldexp(y, -exponent), -FARTHEST, FARTHEST)


def _twofold(points: FloatArray, group_of: IntArray) -> Forest:
    """A tree for each group, then one of all points."""
    rows, sizes = len(points), np.bincount(group_of)
    members = np.concatenate((rows_by_group(group_of, sizes), np.arange(rows)))
    return build_forest(points, members, np.cumsum(np.concatenate(([0], sizes, [rows]))))


def _bytes_in_blocks(codes: IntArray) -> knn_gower.Bytes:
    """The lowest byte of every code of (classes, columns), a line for each column, filled up with zeros."""
    columns = min(codes.shape[1], knn_gower.ENTERED - 1)
    lines = np.zeros((columns, -(-len(codes) // knn_gower.BLOCK) * knn_gower.BLOCK), dtype=np.uint8)
    lines[:, : len(codes)] = codes[:, :columns].T
    return lines


def _columns(original: PreparedOriginal) -> int:
    return len(original.columns.quasi_identifiers) + len(original.columns.sensitive)


def _gower(mismatches: npt.NDArray[np.bool_], shares: FloatArray) -> FloatArray:
    total = mismatches.sum(axis=-1) + np.minimum(shares, 1.0).sum(axis=-1)
    means: FloatArray = total / max(mismatches.shape[-1] + shares.shape[-1], 1)
    return means
