"""U1-U6 of PWS Cup 2015 (P0 Table 1; P1 §3.3): what an anonymized table lost. 0 is best everywhere.

All are finite for every finite table and do not depend on the order of the rows.
"""

from collections.abc import Sequence

import numpy as np

from anoncup.geometry.arrays import FloatArray, IntArray, columns_at
from anoncup.geometry.encoding import group_rows
from anoncup.geometry.stable_sums import (
    LARGEST,
    correlations,
    exact_in_any_order,
    finite_mean,
    headroom,
    mean,
    mean_of_scaled,
    standard_deviation,
)
from anoncup.tracks.memo import kept_of_few, once
from anoncup.tracks.microdata.distances import differences
from anoncup.tracks.microdata.release import PreparedOriginal, Release, Target, places_of


def mean_mae(release: Release) -> float:
    """U1: mean over the sensitive columns of |mean of X - mean of Y|; in the unit of the data, >= 0."""
    return mean_of_scaled(_mean_gap(x, y) for x, y in zip(*_both(release), strict=True))


def mean_deviation(original: PreparedOriginal) -> float:
    """The scale of U1, which no permutation moves: mean deviation of the sensitive columns."""
    return finite_mean(standard_deviation(column) for column in np.ascontiguousarray(original.values.T))


def cross_mean(
    release: Release, *, columns: Sequence[str] | None = None, target: Sequence[str] | None = None
) -> float:
    """U2: mean difference of the cells' means in the cross-table over ``columns``, averaged over ``target``.

    An empty cell's mean is 0. Cells: the product of the values each column takes in X or in Y.
    Defaults: all quasi-identifiers, the first sensitive column. In the unit of the data, >= 0.
    """
    roles = release.original.columns
    columns = roles.quasi_identifiers if columns is None else columns
    places = places_of(roles.sensitive[:1] if target is None else target, roles.sensitive)
    return mean_of_scaled(_cell_mean_gap(release, columns, place) for place in places)


def cross_count(release: Release, *, columns: Sequence[str] | None = None) -> float:
    """U3: mean difference of the cells' counts in the cross-table over ``columns`` (default: all Q); >= 0."""
    columns = release.original.columns.quasi_identifiers if columns is None else columns
    before, after = _cells(release, columns)
    most = max(before.max(initial=0), after.max(initial=0)) + 1
    gaps = np.bincount(before, minlength=most) - np.bincount(after, minlength=most)
    return _per_cell(release, columns, float(np.abs(gaps).sum()))


def cor_mae(release: Release) -> float:
    """U4: mean over the pairs of sensitive columns of the difference of Pearson's r; in [0, 2].

    A constant column has r = 0 with every other; fewer than two columns give 0.
    """
    before = once(release.original.kept, ("correlations",), lambda: correlations(_before(release)))
    return finite_mean(np.abs(before - correlations(_after(release))).tolist())


def information_loss(release: Release) -> float:
    """U5 (IL): mean over the sensitive cells of |x - y| / (max X - min X); >= 0, not clipped.

    A column that is constant in X counts 0 for an equal cell and 1 for another.
    """
    losses = differences(release)
    with np.errstate(over="ignore"):
        return min(float((losses / max(losses.size, 1)).sum()), LARGEST)


def row_difference(release: Release) -> float:
    """U6: number of deleted rows, n - n'."""
    return float(release.original.rows - release.target.rows)


def original_rows(original: PreparedOriginal) -> float:
    """The scale of U6."""
    return float(original.rows)


def _mean_gap(x: FloatArray, y: FloatArray) -> tuple[float, int]:
    """Return the difference of the means, and the exponent that it is scaled by: no float may hold it."""
    room = headroom(x, y)
    return abs(mean(np.ldexp(x, room)) - mean(np.ldexp(y, room))), room


def _cell_mean_gap(release: Release, columns: Sequence[str], place: int) -> tuple[float, int]:
    """Return the mean difference of the cells' means in one column, and the exponent that it is scaled by."""
    tables: list[PreparedOriginal | Target] = [release.original, release.target]
    cells = _cells(release, columns)
    values = [table.values[:, place] for table in tables]
    most, room = max(each.max(initial=0) for each in cells) + 1, headroom(*values)
    before, after = (
        _cell_means(*_addends(table, each, column), room, most)
        for table, each, column in zip(tables, cells, values, strict=True)
    )
    return _per_cell(release, columns, float(np.abs(before - after).sum())), room


def _addends(
    table: PreparedOriginal | Target, cells: IntArray, values: FloatArray
) -> tuple[IntArray, FloatArray]:
    """Cells and values in canonical order, unless sums are the same in every order."""
    if exact_in_any_order(values):
        return cells, values
    order = table.canonical()
    return cells[order], values[order]


def _cell_means(cells: IntArray, values: FloatArray, room: int, count: int) -> FloatArray:
    sums = np.bincount(cells, weights=np.ldexp(values, room), minlength=count)
    means: FloatArray = sums / np.maximum(np.bincount(cells, minlength=count), 1)
    return means


def _cells(release: Release, columns: Sequence[str]) -> tuple[IntArray, IntArray]:
    """Numbers of the occupied cells the rows of X and of Y fall in."""
    original, target = release.original, release.target
    places = places_of(columns, original.columns.quasi_identifiers)

    def number() -> tuple[IntArray, IntArray]:
        codes = columns_at(original.codes, places), columns_at(target.codes, places)
        cells = group_rows(np.concatenate(codes)).group_of
        return cells[: original.rows], cells[original.rows :]

    return once(release.kept, ("cells", *places), number)


def _per_cell(release: Release, columns: Sequence[str], total: float) -> float:
    """``total`` divided by the number of cells, which may be far too large for an integer type."""
    for place in places_of(columns, release.original.columns.quasi_identifiers):
        total /= release.target.widths[place]
    return total


def _both(release: Release) -> tuple[list[FloatArray], list[FloatArray]]:
    return _before(release), _after(release)


def _before(release: Release) -> list[FloatArray]:
    """The original's sensitive columns in canonical order."""
    return _ordered(release.original)


def _after(release: Release) -> list[FloatArray]:
    return _ordered(release.target)


def _ordered(table: PreparedOriginal | Target) -> list[FloatArray]:
    def order() -> list[FloatArray]:
        rows = table.canonical()
        return [column[rows] for column in table.values.T]

    return kept_of_few(table.kept, ("ordered",), table.rows, order)
