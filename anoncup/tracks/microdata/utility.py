"""The utility measures U1 to U6 of PWS Cup 2015, as the paper on the cup defines them in §3.3.

The paper is IPSJ Journal, vol. 57, no. 9, pp. 1900-1910, 2016. Each function has the name that its measure
has in competition files. The measures tell how much an anonymized table Y differs from the original X, so 0
is best. All values are finite for every finite table and do not depend on the order of the rows.
"""

from collections.abc import Sequence

import numpy as np

from anoncup.geometry.arrays import FloatArray, IntArray, slice_columns
from anoncup.geometry.encoding import group_rows
from anoncup.geometry.stable_sums import (
    LARGEST_FLOAT,
    compute_correlations,
    find_scale_exponent,
    finite_mean,
    is_sum_exact,
    mean,
    scaled_mean,
    standard_deviation,
)
from anoncup.tracks.memo import memoize, memoize_if_small
from anoncup.tracks.microdata.distances import compute_cell_differences
from anoncup.tracks.microdata.release import (
    MicrodataOriginal,
    MicrodataTarget,
    ScoredMicrodata,
    find_column_indices,
)


def mean_mae(release: ScoredMicrodata) -> float:
    """Return U1, the mean over the sensitive columns of |mean in X - mean in Y|; in data units, >= 0."""
    original_columns = _columns_in_canonical_order(release.original)
    release_columns = _columns_in_canonical_order(release.target)
    return scaled_mean(_mean_gap(x, y) for x, y in zip(original_columns, release_columns, strict=True))


def mean_deviation(original: MicrodataOriginal) -> float:
    """Return the mean standard deviation of the sensitive columns, which is the scale of U1.

    U is computed from measures divided by their scales. By default, the scale is a measure's mean over null
    releases, in which the values of each column are shuffled independently. U1 is 0 for these, because
    shuffling a column does not change its mean.
    """
    return finite_mean(standard_deviation(column) for column in np.ascontiguousarray(original.values.T))


def find_largest_sensitive_cell(original: MicrodataOriginal) -> float:
    """Return the largest absolute sensitive value, because U1 reads all sensitive columns."""
    return _find_largest(original.values)


def find_largest_target_cell(
    original: MicrodataOriginal,
    *,
    columns: Sequence[str] | None = None,  # a parameter of the measure
    target: Sequence[str] | None = None,
) -> float:
    """Return the largest absolute value of the target columns of :func:`cross_mean`."""
    return _find_largest(original.values[:, _find_target_indices(original, target)])


def cross_mean(
    release: ScoredMicrodata, *, columns: Sequence[str] | None = None, target: Sequence[str] | None = None
) -> float:
    """Return U2, the mean difference of cell means in a cross-table; in data units, >= 0.

    The cross-table over ``columns`` (default: all quasi-identifiers) has a cell for every combination of
    values that occur in X or in Y; the mean of an empty cell is 0. The result is averaged over the columns
    ``target`` (default: the first sensitive one).
    """
    columns = release.original.columns.quasi_identifiers if columns is None else columns
    column_indices = _find_target_indices(release.original, target)
    return scaled_mean(_cell_mean_gap(release, columns, column_index) for column_index in column_indices)


def cross_count(release: ScoredMicrodata, *, columns: Sequence[str] | None = None) -> float:
    """Return U3, the mean difference of cell counts in the cross-table of :func:`cross_mean`; >= 0."""
    columns = release.original.columns.quasi_identifiers if columns is None else columns
    original_cells, release_cells = _number_cells(release, columns)
    cell_count = max(original_cells.max(initial=0), release_cells.max(initial=0)) + 1
    count_differences = np.bincount(original_cells, minlength=cell_count) - np.bincount(
        release_cells, minlength=cell_count
    )
    return _divide_by_cells(release, columns, float(np.abs(count_differences).sum()))


def cor_mae(release: ScoredMicrodata) -> float:
    """Return U4, the mean difference of Pearson's r over the pairs of sensitive columns; in [0, 2].

    A constant column has r = 0 with every other one. The value is 0 with fewer than two columns.
    """
    original_correlations = memoize(
        release.original.memo,
        ("correlations",),
        lambda: compute_correlations(_columns_in_canonical_order(release.original)),
    )
    release_correlations = compute_correlations(_columns_in_canonical_order(release.target))
    return finite_mean(np.abs(original_correlations - release_correlations).tolist())


def information_loss(release: ScoredMicrodata) -> float:
    """Return U5 (information loss), the mean over the sensitive cells of |x - y| / (max X - min X); >= 0.

    Differences are not clipped. In a column that is constant in X, an equal cell counts 0 and any other 1.
    """
    losses = compute_cell_differences(release)
    with np.errstate(over="ignore"):
        return min(float((losses / max(losses.size, 1)).sum()), LARGEST_FLOAT)


def row_difference(release: ScoredMicrodata) -> float:
    """Return U6, the number of deleted rows, n - n'."""
    return float(release.original.rows - release.target.rows)


def count_original_rows(original: MicrodataOriginal) -> float:
    """Return the number of original rows, which is the scale of U6."""
    return float(original.rows)


def _find_largest(values: FloatArray) -> float:
    return max(float(values.max(initial=0.0)), -float(values.min(initial=0.0)))


def _find_target_indices(original: MicrodataOriginal, target: Sequence[str] | None) -> list[int]:
    sensitive = original.columns.sensitive
    return find_column_indices(sensitive[:1] if target is None else target, sensitive)


def _mean_gap(x: FloatArray, y: FloatArray) -> tuple[float, int]:
    """Return the difference of the means and its binary exponent; the unscaled value may overflow."""
    exponent = find_scale_exponent(x, y)
    return abs(mean(np.ldexp(x, exponent)) - mean(np.ldexp(y, exponent))), exponent


def _cell_mean_gap(release: ScoredMicrodata, columns: Sequence[str], column_index: int) -> tuple[float, int]:
    """Return the mean difference of the cells' means in one column, and its binary exponent."""
    tables: list[MicrodataOriginal | MicrodataTarget] = [release.original, release.target]
    cells = _number_cells(release, columns)
    values = [table.values[:, column_index] for table in tables]
    cell_count = max(table_cells.max(initial=0) for table_cells in cells) + 1
    exponent = find_scale_exponent(*values)
    original_means, release_means = (
        _cell_means(*_order_for_sums(table, table_cells, column), exponent, cell_count)
        for table, table_cells, column in zip(tables, cells, values, strict=True)
    )
    return _divide_by_cells(release, columns, float(np.abs(original_means - release_means).sum())), exponent


def _order_for_sums(
    table: MicrodataOriginal | MicrodataTarget, cells: IntArray, values: FloatArray
) -> tuple[IntArray, FloatArray]:
    """Return cells and values in canonical order; if sums are exact in any order, return them unchanged."""
    if is_sum_exact(values):
        return cells, values
    order = table.get_canonical_rows()
    return cells[order], values[order]


def _cell_means(cells: IntArray, values: FloatArray, exponent: int, count: int) -> FloatArray:
    sums = np.bincount(cells, weights=np.ldexp(values, exponent), minlength=count)
    means: FloatArray = sums / np.maximum(np.bincount(cells, minlength=count), 1)
    return means


def _number_cells(release: ScoredMicrodata, columns: Sequence[str]) -> tuple[IntArray, IntArray]:
    """Return the numbers of the occupied cells that the rows of X and of Y fall in."""
    original, target = release.original, release.target
    column_indices = find_column_indices(columns, original.columns.quasi_identifiers)

    def compute() -> tuple[IntArray, IntArray]:
        codes = [slice_columns(table.codes, column_indices) for table in (original, target)]
        cells = group_rows(np.concatenate(codes)).group_ids
        return cells[: original.rows], cells[original.rows :]

    return memoize(release.memo, ("cells", *column_indices), compute)


def _divide_by_cells(release: ScoredMicrodata, columns: Sequence[str], total: float) -> float:
    """Divide ``total`` by the number of cells, which may be far too large for an integer type."""
    for column_index in find_column_indices(columns, release.original.columns.quasi_identifiers):
        total /= release.target.widths[column_index]
    return total


def _columns_in_canonical_order(table: MicrodataOriginal | MicrodataTarget) -> list[FloatArray]:
    """Return the sensitive columns with their rows in canonical order, so that sums do not depend on it."""

    def compute() -> list[FloatArray]:
        rows = table.get_canonical_rows()
        return [column[rows] for column in table.values.T]

    return memoize_if_small(table.memo, ("ordered",), table.rows, compute)
