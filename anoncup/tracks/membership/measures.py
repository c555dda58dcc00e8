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
from anoncup.geometry.statistics import compute_correlations, mean
from anoncup.tracks.membership.decimals import exact_decimal, largest_float_up_to, smallest_float_from
from anoncup.tracks.membership.tables import TypedTable, find_equal_rows, sort_rows

MARGINAL_BINS = 20
_PAIR_BINS = 5
LOW_TAIL, HIGH_TAIL = Fraction(1, 100), Fraction(99, 100)
"""Numbers below or above these quantiles of the members are in the tails."""

_ColumnBins = tuple[IntArray, IntArray]
"""The bin numbers of one column for the members, (N,), and for the released rows, (n,)."""


def marginals(members: TypedTable, release_table: TypedTable) -> float:
    """Return the mean over the columns of the total variation distance of the two binned distributions."""
    return mean(
        total_variation(*column_bins) for column_bins in bin_columns(members, release_table, MARGINAL_BINS)
    )


def pairs(members: TypedTable, release_table: TypedTable) -> float:
    """Return the mean over the pairs of columns of the total variation distance of the two-way tables.

    Numeric columns have five bins. The value is 0 if there is no pair of columns.
    """
    column_bins = bin_columns(members, release_table, _PAIR_BINS)
    return mean(total_variation(*_cross_columns(a, b)) for a, b in combinations(column_bins, 2))


def correlations(members: TypedTable, release_table: TypedTable) -> float:
    """Return the mean over the pairs of numeric columns of half the difference of Pearson's coefficients.

    A constant column has correlation 0 with every other one. The value is 0 if there is no pair.
    """
    member_correlations, release_correlations = (
        compute_correlations(list(sort_rows(table).numbers.T)) for table in (members, release_table)
    )
    return mean(np.abs(member_correlations - release_correlations) / 2)


def tails(members: TypedTable, release_table: TypedTable) -> float:
    """Return the mean over the numeric columns of |share of released rows in the tails - share of members|.

    The tails lie below the members' 1 % quantile and above their 99 % quantile. The value is 0 without
    numeric columns.
    """
    columns = zip(members.numbers.T, release_table.numbers.T, strict=True)
    return mean(_compare_tails(*values) for values in columns)


def copies(members: TypedTable, release_table: TypedTable) -> float:
    """Return the share of released rows that equal a member in all columns."""
    return int(find_equal_rows(release_table, members).sum()) / release_table.rows


def bin_columns(members: TypedTable, release_table: TypedTable, bin_count: int) -> list[_ColumnBins]:
    """Return the bins of each column, numeric columns first."""
    numeric = zip(members.numbers.T, release_table.numbers.T, strict=True)
    return [_bin_column(*columns, bin_count) for columns in numeric] + list(
        zip(members.codes.T, release_table.codes.T, strict=True)
    )


def _cross_columns(first_bins: _ColumnBins, second_bins: _ColumnBins) -> _ColumnBins:
    """Return the bins of the cross-table of two columns."""
    width = max(int(bin_numbers.max()) for bin_numbers in second_bins) + 1
    return first_bins[0] * width + second_bins[0], first_bins[1] * width + second_bins[1]


def total_variation(bins_a: IntArray, bins_b: IntArray) -> float:
    """Return the total variation of two lists of bin numbers, in [0, 1]; 0 means no difference.

    It is half the sum over all bins of |share in the first list - share in the second|.
    """
    # Only bins that occur are counted, because a cross-table has far more.
    bins, positions = np.unique(np.concatenate((bins_a, bins_b)), return_inverse=True)
    counts_a, counts_b = (
        np.bincount(bin_numbers, minlength=len(bins)) for bin_numbers in np.split(positions, [len(bins_a)])
    )
    differences = np.abs(counts_a * len(bins_b) - counts_b * len(bins_a))
    return int(differences.sum()) / (2 * len(bins_a) * len(bins_b))


def _bin_column(member_values: FloatArray, release_values: FloatArray, bin_count: int) -> _ColumnBins:
    sorted_members = np.sort(member_values)
    quantiles = {quantile(sorted_members, Fraction(step, bin_count)) for step in range(1, bin_count)}
    edges = np.array(sorted({smallest_float_from(limit) for limit in quantiles}))
    return np.searchsorted(edges, member_values, side="right"), np.searchsorted(
        edges, release_values, side="right"
    )


def _compare_tails(member_values: FloatArray, release_values: FloatArray) -> float:
    """Return |share of released values in the members' tails - share of the members' own values there|."""
    sorted_members = np.sort(member_values)
    low = smallest_float_from(quantile(sorted_members, LOW_TAIL))
    high = largest_float_up_to(quantile(sorted_members, HIGH_TAIL))
    shares = [
        Fraction(int(((values < low) | (values > high)).sum()), len(values))
        for values in (member_values, release_values)
    ]
    return float(abs(shares[1] - shares[0]))


def quantile(sorted_values: FloatArray, share: Fraction) -> Fraction:
    """Return the exact quantile of sorted values, linear between ranks."""
    position = (len(sorted_values) - 1) * share
    lower_index, remainder = math.floor(position), position - math.floor(position)
    low = exact_decimal(sorted_values[lower_index])
    return low + (exact_decimal(sorted_values[lower_index + 1]) - low) * remainder if remainder else low
