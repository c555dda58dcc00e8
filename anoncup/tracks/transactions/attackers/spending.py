"""The attacker that compares the total spend of every customer."""

import numpy as np

from anoncup.geometry.arrays import FloatArray, IntArray
from anoncup.tracks.transactions.baskets import TIE_TOLERANCE
from anoncup.tracks.transactions.release import TransactionTarget


def sort_spend(target: TransactionTarget) -> IntArray:
    """Rank the customers of both tables by total spend (0 without rows) and match equal ranks, (n',).

    Customers with equal spends are ranked in row order.
    """
    guess = np.empty(target.rows, dtype=np.int64)
    original_order = _order_with_ties(target.original.history.sum_spends())
    guess[_order_with_ties(target.history.sum_spends())] = original_order[: target.rows]
    return guess


def _order_with_ties(values: FloatArray) -> IntArray:
    """Return the order of ascending values >= 0; ties within ``TIE_TOLERANCE`` keep their order."""
    order = np.argsort(values, kind="stable")
    sorted_values = values[order]
    steps = np.diff(sorted_values) > sorted_values[1:] * TIE_TOLERANCE
    return order[np.lexsort((order, np.concatenate(([0], np.cumsum(steps)))))]
