"""The attacker that compares the total spend of every customer."""

import numpy as np

from anoncup.geometry.arrays import FloatArray, IntArray
from anoncup.tracks.memo import memoize
from anoncup.tracks.transactions.baskets import TIE_TOLERANCE
from anoncup.tracks.transactions.release import TransactionTarget
from anoncup.tracks.transactions.spending import EncodedTables, sum_spends


def sort_spend(target: TransactionTarget) -> IntArray:
    """Rank the customers of both tables by total spend (0 without rows) and match equal ranks.

    Customers with equal spends are ranked in row order.
    """
    guess = np.empty(target.rows, dtype=np.int64)
    guess[_order_by_spend(target)] = _order_by_spend(target.original)[: target.rows]
    return guess


@memoize
def _order_by_spend(table: EncodedTables) -> IntArray:
    return _argsort_with_ties(sum_spends(table.history, table.rows))


def _argsort_with_ties(values: FloatArray) -> IntArray:
    """Return the order of ascending values >= 0; ties within ``TIE_TOLERANCE`` keep their order."""
    order = np.argsort(values, kind="stable")
    sorted_values = values[order]
    steps = np.diff(sorted_values) > sorted_values[1:] * TIE_TOLERANCE
    return order[np.lexsort((order, np.concatenate(([0], np.cumsum(steps)))))]
