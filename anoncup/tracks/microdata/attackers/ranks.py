"""Attackers that use only sensitive values: they compare ranks or look for the nearest value.

X is the original with n rows and Y the release with n' rows. ``anoncup.tracks`` lists the papers P0 and P1.
"""

from collections.abc import Sequence

import numpy as np

from anoncup.geometry.arrays import FloatArray, IntArray
from anoncup.tracks.microdata.attackers.quasi_identifiers import find_nearest_of_all
from anoncup.tracks.microdata.release import MicrodataTarget, find_column_indices


def sort(target: MicrodataTarget, *, sensitive: Sequence[str] | None = None) -> IntArray:
    """Rank both tables by the sum of the sensitive columns and match equal ranks (E3 of P0, §2.3).

    Columns are added in their order, and ties are ranked in row order. Rank r of Y is matched with rank r of
    X even if rows were deleted.
    """
    names = target.original.columns.sensitive if sensitive is None else sensitive
    column_indices, original = find_column_indices(names, target.original.columns.sensitive), target.original
    order = original.order_by(("sum", *names), lambda: sum_rows(original.values[:, column_indices]))
    return _match_ranks(order, sum_rows(target.values[:, column_indices]), np.arange(target.rows))


def sa_rank(target: MicrodataTarget, *, column: str | None = None) -> IntArray:
    """Rank both tables by one column and match rank r of Y with rank floor((r - 1) n / n') + 1 of X.

    This is E4 of P0 and Algorithm 4 ("SA21") of P1. The default column is the first sensitive one.
    """
    original = target.original
    name = original.columns.sensitive[0] if column is None else column
    column_index = original.columns.sensitive.index(name)
    order = original.order_by(("column", name), lambda: original.values[:, column_index])
    return _match_ranks(
        order, target.values[:, column_index], np.arange(target.rows) * original.rows // target.rows
    )


def sa_nearest(target: MicrodataTarget, *, column: str | None = None) -> IntArray:
    """Guess the row with the nearest value in one column, as P0 describes E4; ties go to the first row.

    The default column is the first sensitive one.
    """
    sensitive = target.original.columns.sensitive[:1] if column is None else (column,)
    return find_nearest_of_all(target, sensitive, np.arange(target.rows), absolute=True)


def sum_rows(values: FloatArray) -> FloatArray:
    """Return the sum of each row, added in column order; infinite beyond float64's range."""
    total = np.zeros(len(values))
    with np.errstate(over="ignore"):
        for column in values.T:
            total += column
    return total


def _match_ranks(order: IntArray, values: FloatArray, ranks: IntArray) -> IntArray:
    """Match the row of Y at rank r with the row of X at rank ``ranks[r]``; ``order`` lists X by rank."""
    guess = np.empty(len(values), dtype=np.int64)
    guess[np.argsort(values, kind="stable")] = order[ranks]
    return guess
