"""Distances between rows of the original X, and of a release Y to the nearest other rows of X.

Gower's distance is that of ``distances``. Euclidean distances are over the sensitive columns, in raw units.
"""

import numpy as np
from scipy.spatial.distance import cdist

from anoncup.geometry.arrays import FloatArray, IntArray
from anoncup.geometry.nearest_neighbours import find_k_nearest_rows
from anoncup.tracks.microdata.distances import (
    average_columns,
    compute_gower_sums,
    find_nearest_by_gower,
    scale_gaps,
    to_distances,
)
from anoncup.tracks.microdata.release import MicrodataOriginal, ScoredMicrodata, build_target


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
