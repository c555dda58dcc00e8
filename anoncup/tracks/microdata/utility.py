"""The utility measures U1 to U6 of PWS Cup 2015, as the paper on the cup defines them in §3.3.

The paper is IPSJ Journal, vol. 57, no. 9, pp. 1900-1910, 2016. Each function has the name that its measure
has in competition files. The measures tell how much an anonymized table Y differs from the original X, so 0
is best. X has n rows, Y has n'.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from anoncup.geometry.arrays import FloatArray, IntArray
from anoncup.geometry.encoding import group_rows
from anoncup.geometry.statistics import compute_correlations, mean, standard_deviation
from anoncup.tracks.memo import memoize
from anoncup.tracks.microdata.distances import compute_cell_differences
from anoncup.tracks.microdata.release import (
    MicrodataOriginal,
    ScoredMicrodata,
    choose_columns,
    find_column_indices,
)


def mean_mae(release: ScoredMicrodata) -> float:
    """Return U1, the mean over the sensitive columns of |mean in X - mean in Y|; in data units, >= 0."""
    columns = zip(release.original.values.T, release.target.values.T, strict=True)
    return mean(abs(x.mean() - y.mean()) for x, y in columns)


def mean_deviation(original: MicrodataOriginal) -> float:
    """Return the mean standard deviation of the sensitive columns, which is the scale of U1.

    U is computed from measures divided by their scales. By default, the scale is a measure's mean over null
    releases, in which the values of each column are shuffled independently. U1 is 0 for these, because
    shuffling a column does not change its mean.
    """
    return mean(standard_deviation(column) for column in original.values.T)


def find_largest_sensitive_cell(original: MicrodataOriginal) -> float:
    """Return the largest absolute sensitive value, because U1 reads all sensitive columns."""
    return float(np.abs(original.values).max(initial=0.0))


def find_largest_target_cell(
    original: MicrodataOriginal,
    *,
    columns: Sequence[str] | None = None,  # a parameter of the measure
    target: Sequence[str] | None = None,
) -> float:
    """Return the largest absolute value of the target columns of ``cross_mean``."""
    names = original.columns.sensitive[:1] if target is None else target
    return float(np.abs(original.select(names)).max(initial=0.0))


def cross_mean(
    release: ScoredMicrodata, *, columns: Sequence[str] | None = None, target: Sequence[str] | None = None
) -> float:
    """Return U2, the mean difference of cell means in a cross-table; in data units, >= 0.

    The cross-table over ``columns`` (default: all quasi-identifiers) has a cell for every combination of
    values that occur in X or in Y; the mean of an empty cell is 0. The result is averaged over the columns
    ``target`` (default: the first sensitive one).
    """
    names = release.original.columns.sensitive[:1] if target is None else target
    table = _build_cross_table(release, choose_columns(columns, release.original.columns.quasi_identifiers))
    values = zip(release.original.select(names).T, release.target.select(names).T, strict=True)
    return mean(
        float(np.abs(table.average(table.original_rows, x) - table.average(table.release_rows, y)).sum())
        / table.cell_count
        for x, y in values
    )


def cross_count(release: ScoredMicrodata, *, columns: Sequence[str] | None = None) -> float:
    """Return U3, the mean difference of cell counts in the cross-table of ``cross_mean``; >= 0."""
    table = _build_cross_table(release, choose_columns(columns, release.original.columns.quasi_identifiers))
    gaps = table.count(table.original_rows) - table.count(table.release_rows)
    return float(np.abs(gaps).sum()) / table.cell_count


def cor_mae(release: ScoredMicrodata) -> float:
    """Return U4, the mean difference of Pearson's r over the pairs of sensitive columns; in [0, 2].

    A constant column has r = 0 with every other one. The value is 0 with fewer than two columns.
    """
    release_correlations = compute_correlations(list(release.target.values.T))
    return mean(np.abs(_correlate_original(release.original) - release_correlations))


@memoize
def _correlate_original(original: MicrodataOriginal) -> FloatArray:
    return compute_correlations(list(original.values.T))


def information_loss(release: ScoredMicrodata) -> float:
    """Return U5 (information loss), the mean over the sensitive cells of |x - y| / (max X - min X); >= 0.

    Differences are not clipped. In a column that is constant in X, an equal cell counts 0 and any other 1.
    """
    return mean(compute_cell_differences(release).ravel())


def row_difference(release: ScoredMicrodata) -> float:
    """Return U6, the number of deleted rows, n - n'."""
    return float(release.original.rows - release.target.rows)


def count_original_rows(original: MicrodataOriginal) -> float:
    """Return the number of original rows, which is the scale of U6."""
    return float(original.rows)


@dataclass(frozen=True, slots=True)
class CrossTable:
    """A cross-table of X and of Y: the number of the cell of each of their rows, (n,) and (n',).

    Only the ``occupied_count`` cells with rows have numbers. ``cell_count`` counts all cells; it is a float
    because there may be more than any integer type can count.
    """

    original_rows: IntArray
    release_rows: IntArray
    occupied_count: int
    cell_count: float

    def count(self, rows: IntArray) -> IntArray:
        """Return the number of rows in each occupied cell."""
        return np.bincount(rows, minlength=self.occupied_count)

    def average(self, rows: IntArray, values: FloatArray) -> FloatArray:
        """Return the mean of the values in each occupied cell, 0 without values."""
        sums = np.bincount(rows, weights=values, minlength=self.occupied_count)
        means: FloatArray = sums / np.maximum(self.count(rows), 1)
        return means


@memoize
def _build_cross_table(release: ScoredMicrodata, columns: tuple[str, ...]) -> CrossTable:
    original, target = release.original, release.target
    indices = find_column_indices(columns, original.columns.quasi_identifiers)
    cells = group_rows(np.concatenate([table.codes[:, indices] for table in (original, target)]))
    original_rows, release_rows = np.split(cells.group_ids, [original.rows])
    cell_count = math.prod(float(target.widths[index]) for index in indices)
    return CrossTable(original_rows, release_rows, cells.count, cell_count)
