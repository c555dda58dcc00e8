"""Utility measures of a release against the team's own members; each is in [0, 1], 0 is best.

Numeric columns are binned at the members' quantiles k/bins, linear between ranks (type 7 of Hyndman and Fan,
"Sample quantiles in statistical packages", 1996). Equal quantiles are one edge. A bin includes its lower
edge, not its upper one; the first and last are open. Each category is a bin. Numbers are compared with
quantiles as exact decimals, because a quantile rounded to a float64 puts equal numbers into the wrong bin.
"""

import math
from fractions import Fraction
from itertools import combinations

import numpy as np

from anoncup.geometry.arrays import FloatArray, IntArray
from anoncup.geometry.stable_sums import correlations as pearson
from anoncup.geometry.stable_sums import finite_mean
from anoncup.tracks.membership.rows import find_equal_rows, sort_rows
from anoncup.tracks.membership.tables import TypedTable

MARGINAL_BINS = 20
_PAIR_BINS = 5
LOW_TAIL, HIGH_TAIL = Fraction(1, 100), Fraction(99, 100)
"""Numbers below or above these quantiles of the members are in the tails."""

_ColumnBins = tuple[IntArray, IntArray]
"""The bin numbers of one column for the members, (N,), and for the released rows, (n,)."""


def marginals(members: TypedTable, released: TypedTable) -> float:
    """Mean over the columns of the total variation distance between the two distributions over the bins."""
    return finite_mean(
        total_variation(*column_bins) for column_bins in bin_columns(members, released, MARGINAL_BINS)
    )


def pairs(members: TypedTable, released: TypedTable) -> float:
    """Mean over the pairs of columns of the total variation distance of the two-way tables.

    Numeric columns have five bins. 0 without a pair of columns.
    """
    columns = bin_columns(members, released, _PAIR_BINS)
    return finite_mean(total_variation(*_cross_columns(a, b)) for a, b in combinations(columns, 2))


def correlations(members: TypedTable, released: TypedTable) -> float:
    """Mean over the pairs of numeric columns of half the difference between Pearson's coefficients.

    A constant column has correlation 0 with every other. 0 without a pair of numeric columns.
    """
    member_correlations, release_correlations = (
        pearson(list(sort_rows(table).numbers.T)) for table in (members, released)
    )
    return finite_mean(np.abs(member_correlations - release_correlations) / 2)


def tails(members: TypedTable, released: TypedTable) -> float:
    """Mean over the numeric columns of |share of released rows in the tails - .02|; 0 without such columns.

    In the tails: below the members' 1 % quantile or above their 99 % quantile. With few or tied members their
    own share may differ from .02; then even a copy has some distance.
    """
    shares = (
        _share_in_tails(*columns) for columns in zip(members.numbers.T, released.numbers.T, strict=True)
    )
    return finite_mean(min(abs(share - 0.02), 1.0) for share in shares)


def copies(members: TypedTable, released: TypedTable) -> float:
    """Share of the released rows that equal a member on all columns."""
    return int(find_equal_rows(released, members).sum()) / released.rows


def bin_columns(members: TypedTable, released: TypedTable, bins: int) -> list[_ColumnBins]:
    """Return the bins of each column, numeric columns first."""
    numeric = zip(members.numbers.T, released.numbers.T, strict=True)
    return [_bin_column(*columns, bins) for columns in numeric] + list(
        zip(members.codes.T, released.codes.T, strict=True)
    )


def _cross_columns(a: _ColumnBins, b: _ColumnBins) -> _ColumnBins:
    """Return the bins of the cross-table of two columns."""
    width = max(int(column_bins.max()) for column_bins in b) + 1
    return a[0] * width + b[0], a[1] * width + b[1]


def total_variation(a: IntArray, b: IntArray) -> float:
    """Return half the sum of |share in a - share in b| over all bins; in [0, 1], 0: same distribution."""
    # Few of the possible bins occur.
    bins, positions = np.unique(np.concatenate((a, b)), return_inverse=True)
    counts_a, counts_b = (
        np.bincount(bin_numbers, minlength=len(bins)) for bin_numbers in np.split(positions, [len(a)])
    )
    gaps = np.abs(counts_a * len(b) - counts_b * len(a))
    return int(gaps.sum()) / (2 * len(a) * len(b))


def _bin_column(members: FloatArray, released: FloatArray, bins: int) -> _ColumnBins:
    sorted_members = np.sort(members)
    quantiles = {quantile(sorted_members, Fraction(step, bins)) for step in range(1, bins)}
    edges = np.array(sorted({smallest_float_from(limit) for limit in quantiles}))
    return np.searchsorted(edges, members, side="right"), np.searchsorted(edges, released, side="right")


def _share_in_tails(members: FloatArray, released: FloatArray) -> float:
    sorted_members = np.sort(members)
    low = smallest_float_from(quantile(sorted_members, LOW_TAIL))
    high = largest_float_up_to(quantile(sorted_members, HIGH_TAIL))
    return int(((released < low) | (released > high)).sum()) / len(released)


def quantile(sorted_values: FloatArray, share: Fraction) -> Fraction:
    """Return the exact quantile of sorted values, linear between ranks."""
    position = (len(sorted_values) - 1) * share
    lower_index, remainder = math.floor(position), position - math.floor(position)
    low = exact_decimal(sorted_values[lower_index])
    return low + (exact_decimal(sorted_values[lower_index + 1]) - low) * remainder if remainder else low


def smallest_float_from(limit: Fraction) -> float:
    """Return the smallest float64 that is not below the limit."""
    value = float(limit)
    while exact_decimal(value) < limit:
        value = math.nextafter(value, math.inf)
    return value


def largest_float_up_to(limit: Fraction) -> float:
    """Return the largest float64 that is not above the limit."""
    return -smallest_float_from(-limit)


def exact_decimal(value: float) -> Fraction:
    """Return the shortest decimal that parses to this float64: the number as it was written."""
    return Fraction(repr(float(value)))
