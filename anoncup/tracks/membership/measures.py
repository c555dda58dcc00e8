"""What a release loses of the members it stands for: each in [0, 1], 0 best, against the team's own members.

Numeric columns are cut into bins at the members' quantiles k/bins, linear between ranks (type 7 of Hyndman
and Fan, "Sample quantiles in statistical packages", 1996); equal quantiles are one cut; a bin holds its lower
end and not its upper one, the first and the last are open. A category is a bin. Numbers are compared with
quantiles as exact decimals: a quantile that is rounded to a float64 puts equal numbers into the wrong bin.
"""

import math
from fractions import Fraction
from itertools import combinations

import numpy as np

from anoncup.geometry.arrays import FloatArray, IntArray
from anoncup.geometry.stable_sums import correlations as pearson
from anoncup.geometry.stable_sums import finite_mean
from anoncup.tracks.membership.rows import among, in_order
from anoncup.tracks.membership.tables import Table

BINS = 20
PAIR_BINS = 5
LOW, HIGH = Fraction(1, 100), Fraction(99, 100)
"""Between these quantiles of the members a number is not in the tails."""

Cells = tuple[IntArray, IntArray]
"""A column's bins of the members, (N,), and of the released rows, (n,)."""


def marginals(members: Table, released: Table) -> float:
    """Mean over the columns of the total variation distance between the two distributions over the bins."""
    return finite_mean(total_variation(*cells) for cells in binned(members, released, BINS))


def pairs(members: Table, released: Table) -> float:
    """Mean over the pairs of columns of the total variation distance of the two-way tables.

    Numeric columns in five bins. Without a pair of columns 0.
    """
    columns = binned(members, released, PAIR_BINS)
    return finite_mean(total_variation(*crossed(a, b)) for a, b in combinations(columns, 2))


def correlations(members: Table, released: Table) -> float:
    """Mean over the pairs of numeric columns of half the difference between Pearson's coefficients.

    A constant column correlates 0 with every other. Without a pair of numeric columns 0.
    """
    before, after = (pearson(list(in_order(table).numbers.T)) for table in (members, released))
    return finite_mean(np.abs(before - after) / 2)


def tails(members: Table, released: Table) -> float:
    """Mean over the numeric columns of |share of released rows in the tails - .02|; without any 0.

    In the tails: below the members' 1 % quantile or above their 99 % one. Members themselves may have other
    shares there, where they are few or equal: then a copy has some distance too.
    """
    shares = (_share_beyond(*columns) for columns in zip(members.numbers.T, released.numbers.T, strict=True))
    return finite_mean(min(abs(share - 0.02), 1.0) for share in shares)


def copies(members: Table, released: Table) -> float:
    """Share of the released rows that equal a member on all columns."""
    return int(among(released, members).sum()) / released.rows


def binned(members: Table, released: Table, bins: int) -> list[Cells]:
    """Each column's bins, numeric columns first."""
    numeric = zip(members.numbers.T, released.numbers.T, strict=True)
    return [_bins(*columns, bins) for columns in numeric] + list(
        zip(members.codes.T, released.codes.T, strict=True)
    )


def crossed(a: Cells, b: Cells) -> Cells:
    """The bins of two columns together."""
    width = max(int(cells.max()) for cells in b) + 1
    return a[0] * width + b[0], a[1] * width + b[1]


def total_variation(a: IntArray, b: IntArray) -> float:
    """Half the sum of |share in a - share in b| over all bins; in [0, 1], 0: the same distribution."""
    bins, places = np.unique(np.concatenate((a, b)), return_inverse=True)  # of many possible few occur
    before, after = (np.bincount(each, minlength=len(bins)) for each in np.split(places, [len(a)]))
    apart = np.abs(before * len(b) - after * len(a))
    return int(apart.sum()) / (2 * len(a) * len(b))


def _bins(members: FloatArray, released: FloatArray, bins: int) -> Cells:
    ordered = np.sort(members)
    quantiles = {quantile(ordered, Fraction(place, bins)) for place in range(1, bins)}
    edges = np.array(sorted({least_from(each) for each in quantiles}))
    return np.searchsorted(edges, members, side="right"), np.searchsorted(edges, released, side="right")


def _share_beyond(members: FloatArray, released: FloatArray) -> float:
    ordered = np.sort(members)
    low, high = least_from(quantile(ordered, LOW)), most_up_to(quantile(ordered, HIGH))
    return int(((released < low) | (released > high)).sum()) / len(released)


def quantile(ordered: FloatArray, share: Fraction) -> Fraction:
    """Return the exact quantile of sorted values, linear between ranks."""
    place = (len(ordered) - 1) * share
    below, part = math.floor(place), place - math.floor(place)
    low = decimal(ordered[below])
    return low + (decimal(ordered[below + 1]) - low) * part if part else low


def least_from(limit: Fraction) -> float:
    """Return the least float64 that is not below the limit."""
    found = float(limit)
    while decimal(found) < limit:
        found = math.nextafter(found, math.inf)
    return found


def most_up_to(limit: Fraction) -> float:
    """Return the largest float64 that is not above the limit."""
    return -least_from(-limit)


def decimal(value: float) -> Fraction:
    """Return the shortest decimal that is read as this float64: the number as somebody wrote it."""
    return Fraction(repr(float(value)))
