"""Distances between rows: Gower's over all columns, and the Euclidean one over S, in raw units.

X is the original with n rows, Y the release with n' rows, Q the quasi-identifiers and S the sensitive
columns. Gower's distance of two rows is the mean over all columns of the mismatch, 0 or 1, in Q and of
|x - y| / range of X, at most 1, in S. If a column is constant in X, any other value counts 1. Distances are
in [0, 1]. "Gower's sum" is the distance times the number of columns, added in their order, Q first.

Gower, "A general coefficient of similarity and some of its properties", 1971.
"""

import numpy as np
from scipy.spatial.distance import cdist

from anoncup.geometry.arrays import BoolArray, FloatArray, IntArray
from anoncup.geometry.encoding import group_rows
from anoncup.geometry.kernels.gower import gower_sums
from anoncup.geometry.kernels.knn_gower import GowerIndex, build_gower_index, find_k_nearest_by_gower
from anoncup.geometry.nearest_neighbours import find_k_nearest_rows
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
    """Return ``scale_gaps`` of every sensitive cell of Y and its source, (n', |S|)."""
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


def gower_matrix(original: MicrodataOriginal) -> FloatArray:
    """Return Gower's distance between all rows of X, (n, n)."""
    sums = compute_gower_sums(build_target(original, original.table), np.arange(original.rows))
    return to_distances(sums, original)


def gower_to_others(release: ScoredMicrodata) -> FloatArray:
    """Return Gower's distance of every row of Y to the nearest row of X other than its source, (n',).

    It is infinite if there is no other row.
    """
    nearest_rows, sums = find_nearest_by_gower(release.target)
    return to_distances(_skip_source(nearest_rows, sums, release.answer), release.original)


def gower_pairs(original: MicrodataOriginal, rows: IntArray, other_rows: IntArray) -> FloatArray:
    """Return Gower's distance between ``rows[i]`` and ``other_rows[i]`` of X for every i."""
    codes, values = original.codes, original.values
    cell_differences = scale_gaps(original, values[rows] - values[other_rows])
    return average_columns(original, codes[rows] != codes[other_rows], cell_differences)


def euclidean_to_source(release: ScoredMicrodata) -> FloatArray:
    """Return the Euclidean distance of every row of Y to its source, (n',)."""
    return _compute_norms(release.target.values - release.original.values[release.answer])


def euclidean_matrix(original: MicrodataOriginal) -> FloatArray:
    """Return the Euclidean distance between all rows of X, (n, n)."""
    distances: FloatArray = cdist(original.values, original.values)
    return distances


def euclidean_to_others(release: ScoredMicrodata) -> FloatArray:
    """Return the Euclidean distance of every row of Y to the nearest row of X other than its source, (n',).

    It is infinite if there is no other row.
    """
    return _skip_source(*_find_two_nearest(release.original, release.target.values), release.answer)


def euclidean_nearest_other(original: MicrodataOriginal) -> FloatArray:
    """Return the Euclidean distance of each row of X to the nearest other one, (n,); infinite if none."""
    return _find_two_nearest(original, original.values)[1][:, 1]


def euclidean_pairs(original: MicrodataOriginal, rows: IntArray, other_rows: IntArray) -> FloatArray:
    """Return the Euclidean distance between ``rows[i]`` and ``other_rows[i]`` of X for every i."""
    return _compute_norms(original.values[other_rows] - original.values[rows])


def _compute_norms(gaps: FloatArray) -> FloatArray:
    """Return the Euclidean norm of each row."""
    norms: FloatArray = np.sqrt((gaps**2).sum(axis=1))
    return norms


def _find_two_nearest(original: MicrodataOriginal, values: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return the two nearest rows of X for each row of ``values``, and their distances, (rows, 2)."""
    index = original.index_classes((), original.columns.sensitive)
    whole_table = np.zeros(len(values), dtype=np.int64)
    rows, squares = find_k_nearest_rows(index, values, whole_table, 2)
    return rows, np.sqrt(squares)


def _skip_source(nearest_rows: IntArray, distances: FloatArray, source: IntArray) -> FloatArray:
    """Return the distance to the nearest row, or to the second nearest if the nearest is the source."""
    return np.where(nearest_rows[:, 0] == source, distances[:, 1], distances[:, 0])
