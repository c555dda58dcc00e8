"""Attackers that use sensitive values only: ranks, and the nearest value."""

from collections.abc import Sequence

import numpy as np

from anoncup.geometry.arrays import FloatArray, IntArray
from anoncup.tracks.microdata.attackers.quasi_identifiers import find_nearest_of_all
from anoncup.tracks.microdata.release import MicrodataTarget, find_column_indices


def sort(target: MicrodataTarget, *, sensitive: Sequence[str] | None = None) -> IntArray:
    """E3: rank both tables by the sum of the sensitive columns and match equal ranks (P0 §2.3).

    Sums in column order; ties rank in row order. With deleted rows, rank r of Y still means rank r of X.
    """
    names = target.original.columns.sensitive if sensitive is None else sensitive
    column_indices, original = find_column_indices(names, target.original.columns.sensitive), target.original
    order = original.order_by(("sum", *names), lambda: row_sums(original.values[:, column_indices]))
    return _match_ranks(order, row_sums(target.values[:, column_indices]), np.arange(target.rows))


def sa_rank(target: MicrodataTarget, *, column: str | None = None) -> IntArray:
    """E4: rank both tables by one column; rank r of Y means rank floor((r - 1) n / n') + 1 of X.

    P1 Algorithm 4, "SA21". Default column: the first sensitive one.
    """
    original = target.original
    name = original.columns.sensitive[0] if column is None else column
    column_index = original.columns.sensitive.index(name)
    order = original.order_by(("column", name), lambda: original.values[:, column_index])
    return _match_ranks(
        order, target.values[:, column_index], np.arange(target.rows) * original.rows // target.rows
    )


def sa_nearest(target: MicrodataTarget, *, column: str | None = None) -> IntArray:
    """Guess the nearest value in one column (P0's wording of E4), ties to the lower row.

    Default column: the first sensitive one.
    """
    sensitive = target.original.columns.sensitive[:1] if column is None else (column,)
    return find_nearest_of_all(target, sensitive, np.arange(target.rows), absolute=True)


def row_sums(values: FloatArray) -> FloatArray:
    """Return the sums of the columns, added in their order; infinite beyond float64's range."""
    total = np.zeros(len(values))
    with np.errstate(over="ignore"):
        for column in values.T:
            total += column
    return total


def _match_ranks(order: IntArray, values: FloatArray, ranks: IntArray) -> IntArray:
    """Guess for the row of Y at rank r the row of X at rank ``ranks[r]``."""
    guess = np.empty(len(values), dtype=np.int64)
    guess[np.argsort(values, kind="stable")] = order[ranks]
    return guess
