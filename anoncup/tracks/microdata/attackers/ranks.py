"""Attackers that use sensitive values alone: ranks, and the nearest value."""

from collections.abc import Sequence

import numpy as np

from anoncup.geometry.arrays import FloatArray, IntArray
from anoncup.tracks.microdata.attackers.quasi_identifiers import nearest_of_all
from anoncup.tracks.microdata.release import Target, places_of


def sort(target: Target, *, sensitive: Sequence[str] | None = None) -> IntArray:
    """E3: rank both tables by the sum of the sensitive columns; equal ranks match (P0 §2.3).

    Sums in column order; equal sums rank in row order. With deleted rows rank r of Y still means rank r of X.
    """
    names = target.original.columns.sensitive if sensitive is None else sensitive
    places, original = places_of(names, target.original.columns.sensitive), target.original
    order = original.order_by(("sum", *names), lambda: row_sums(original.values[:, places]))
    return _matched(order, row_sums(target.values[:, places]), np.arange(target.rows))


def sa_rank(target: Target, *, column: str | None = None) -> IntArray:
    """E4: rank both tables by one column; rank r of Y means rank floor((r - 1) n / n') + 1 of X.

    P1 Algorithm 4, "SA21". Default column: the first sensitive one.
    """
    original = target.original
    name = original.columns.sensitive[0] if column is None else column
    place = original.columns.sensitive.index(name)
    order = original.order_by(("column", name), lambda: original.values[:, place])
    return _matched(order, target.values[:, place], np.arange(target.rows) * original.rows // target.rows)


def sa_nearest(target: Target, *, column: str | None = None) -> IntArray:
    """The nearest value in one column (P0's wording of E4), ties to the lower row.

    Default column: the first sensitive one.
    """
    sensitive = target.original.columns.sensitive[:1] if column is None else (column,)
    return nearest_of_all(target, sensitive, np.arange(target.rows), absolute=True)


def row_sums(values: FloatArray) -> FloatArray:
    """Sums of the columns, added one after the other in their order; beyond float64's range infinite."""
    total = np.zeros(len(values))
    with np.errstate(over="ignore"):
        for column in values.T:
            total += column
    return total


def _matched(order: IntArray, values: FloatArray, ranks: IntArray) -> IntArray:
    """Give the row of Y at rank r the row of X at rank ``ranks[r]``."""
    guess = np.empty(len(values), dtype=np.int64)
    guess[np.argsort(values, kind="stable")] = order[ranks]
    return guess
