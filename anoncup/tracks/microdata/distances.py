"""Gower's distance between rows, for tables with categorical and numeric columns.

X is the original with n rows, Y the release with n' rows, Q the quasi-identifiers and S the sensitive
columns. The distance of two rows is the mean over all columns of the mismatch, 0 or 1, in Q and of
|x - y| / range of X, at most 1, in S. If a column is constant in X, any other value counts 1. Distances are
in [0, 1]. "Gower's sum" is the distance times the number of columns, added in their order, Q first.

Gower, "A general coefficient of similarity and some of its properties", 1971.
"""

import numpy as np

from anoncup.geometry.arrays import BoolArray, FloatArray, IntArray
from anoncup.geometry.encoding import group_rows
from anoncup.geometry.kernels.gower import gower_sums
from anoncup.geometry.kernels.knn_gower import GowerIndex, build_gower_index, find_k_nearest_by_gower
from anoncup.tracks.memo import memoize
from anoncup.tracks.microdata.release import MicrodataOriginal, MicrodataTarget, ScoredMicrodata, build_target

NEAREST_COUNT = 3
"""Number of nearest rows of X, by either distance, that are found once and shared by all attackers."""


def gower_to_source(release: ScoredMicrodata) -> FloatArray:
    """Return Gower's distance of every row of Y to its source, (n',)."""
    codes = release.original.codes[release.answer]
    return average_columns(release.original, codes != release.target.codes, compute_cell_differences(release))


def average_columns(
    original: MicrodataOriginal, is_mismatch: BoolArray, cell_differences: FloatArray
) -> FloatArray:
    """Return Gower's distances, (pairs,), given mismatches in Q, (pairs, |Q|), and differences in S."""
    return to_distances(is_mismatch.sum(axis=1) + np.minimum(cell_differences, 1.0).sum(axis=1), original)


def to_distances(sums: FloatArray, original: MicrodataOriginal) -> FloatArray:
    """Divide Gower's sums by the number of columns."""
    roles = original.columns
    distances: FloatArray = sums / max(len(roles.quasi_identifiers) + len(roles.sensitive), 1)
    return distances


@memoize
def compute_cell_differences(release: ScoredMicrodata) -> FloatArray:
    """Return :func:`scale_gaps` of every sensitive cell of Y and its source, (n', |S|)."""
    original = release.original
    return scale_gaps(original, original.values[release.answer] - release.target.values)


def scale_gaps(original: MicrodataOriginal, gaps: FloatArray) -> FloatArray:
    """Return the absolute differences x - y divided by the range of X in each column, unclipped.

    In columns that are constant in X, equal cells have the difference 0 and others 1.
    """
    gaps, ranges = np.abs(gaps), get_ranges(original)
    return np.where(ranges > 0, gaps / np.where(ranges > 0, ranges, 1.0), gaps > 0)


@memoize
def get_ranges(original: MicrodataOriginal) -> FloatArray:
    """Return the range of each sensitive column of X, (|S|,)."""
    ranges: FloatArray = np.ptp(original.values, axis=0)
    return ranges


def gower_nearest_other(original: MicrodataOriginal) -> FloatArray:
    """Return Gower's distance of every row of X to its nearest other row, (n,); infinite for a single row."""
    target = build_target(original, original.table)
    sums = search_by_gower(target, np.arange(original.rows), count=2)[1]
    return to_distances(sums[:, 1], original)  # the row itself has the other of the two smallest sums, 0


def compute_gower_sums(target: MicrodataTarget, rows: IntArray) -> FloatArray:
    """Return Gower's sums of the given rows of Y for all rows of X, (rows, n)."""
    original = target.original
    return gower_sums(
        codes=target.codes[rows],
        values=target.values[rows],
        other_codes=original.codes,
        other_values=original.values,
        widths=get_ranges(original),
    )


@memoize
def find_nearest_by_gower(target: MicrodataTarget) -> tuple[IntArray, FloatArray]:
    """Return the ``NEAREST_COUNT`` nearest rows of X for every row of Y, and Gower's sums."""
    return search_by_gower(target, np.arange(target.rows), count=NEAREST_COUNT)


def search_by_gower(
    target: MicrodataTarget,
    rows: IntArray,
    *,
    count: int,
    candidates: IntArray | None = None,
    minimum_sums: FloatArray | None = None,
) -> tuple[IntArray, FloatArray]:
    """Return the ``count`` candidates nearest to each of ``rows`` of Y, nearest first, and Gower's sums.

    Candidates are rows of X, ascending; the default is all. Both results are (rows, count), padded with -1
    and infinity. Sums below ``minimum_sums`` (rows,) are raised to them, so that they are ties; ties go to
    the lower row.
    """
    original = target.original
    order = np.argsort(group_by_known_codes(target)[rows], kind="stable")
    neighbours, sums = find_k_nearest_by_gower(
        _index_all(original) if candidates is None else _index_rows(original, candidates),
        codes=target.codes[rows[order]],
        values=target.values[rows[order]],
        count=count,
        minimum_sums=None if minimum_sums is None else minimum_sums[order],
    )
    inverse_order = np.argsort(order)
    return neighbours[inverse_order], sums[inverse_order]


@memoize
def _index_all(original: MicrodataOriginal) -> GowerIndex:
    return _index_rows(original, np.arange(original.rows))


def _index_rows(original: MicrodataOriginal, rows: IntArray) -> GowerIndex:
    return build_gower_index(
        rows=rows,
        class_ids=original.group_by(original.columns.quasi_identifiers).group_ids,
        codes=original.codes,
        values=original.values,
        widths=get_ranges(original),
    )


@memoize
def group_by_known_codes(target: MicrodataTarget) -> IntArray:
    """Return group numbers of the rows of Y by their quasi-identifiers, (n',).

    Texts that do not occur in X are equal. Groups are ordered by the last column first.
    """
    sizes = np.array([len(vocabulary) for vocabulary in target.original.vocabularies], dtype=np.int64)
    known_codes: IntArray = np.where(target.codes < sizes, target.codes, -1)
    return group_rows(known_codes[:, ::-1]).group_ids
