"""The attacker that knows what everybody paid in all."""

import numpy as np

from anoncup.geometry.arrays import FloatArray, IntArray
from anoncup.tracks.memo import once
from anoncup.tracks.transactions.baskets import TIE
from anoncup.tracks.transactions.release import TransactionTarget
from anoncup.tracks.transactions.spending import Table, room_of, spends


def sort_spend(target: TransactionTarget) -> IntArray:
    """Rank both tables by total spend; rank r of M' means rank r of M. No rows: a spend of 0.

    Equal spends rank in row order.
    """
    original = target.original
    order = once(original.kept, ("spend order",), lambda: _ascending(original))
    guess = np.empty(target.rows, dtype=np.int64)
    guess[_ascending(target)] = order[: target.rows]
    return guess


def _ascending(table: Table) -> IntArray:
    return ranked(spends(table.history, table.rows, room_of(table)))


def ranked(values: FloatArray) -> IntArray:
    """Places in ascending order of values >= 0; neighbours within ``TIE`` are equal, in the order given."""
    order = np.argsort(values, kind="stable")
    ascending = values[order]
    steps = np.diff(ascending) > ascending[1:] * TIE
    return order[np.lexsort((order, np.concatenate(([0], np.cumsum(steps)))))]
