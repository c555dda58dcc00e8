"""Attackers that give no customer of M away twice: the assignment of the largest sum of Jaccard coefficients.

An empty basket abstains. Among equally good assignments one is taken.
"""

from collections.abc import Iterator

import numpy as np

from anoncup.geometry.arrays import FloatArray, IntArray
from anoncup.geometry.assignment import listing_of, match_dense, match_listed, note_of
from anoncup.tracks.linkage.attack_rates import ABSTAIN, Noted
from anoncup.tracks.linkage.parameters import DENSE_LIMIT
from anoncup.tracks.transactions.baskets import Kind, similarities
from anoncup.tracks.transactions.release import TransactionTarget


def jaccard_assignment(target: TransactionTarget, *, dense_limit: int = DENSE_LIMIT) -> IntArray | Noted:
    """Customers of M' to distinct ones of M by their sets of goods.

    With more than ``dense_limit`` customers in M by lists of the most similar; the answer then says so.
    """
    return _assigned(target, "jaccard", dense_limit)


def jaccard_quantity_assignment(
    target: TransactionTarget, *, dense_limit: int = DENSE_LIMIT
) -> IntArray | Noted:
    """As :func:`jaccard_assignment` by quantities."""
    return _assigned(target, "jaccard_quantity", dense_limit)


def _assigned(target: TransactionTarget, kind: Kind, dense_limit: int) -> IntArray | Noted:
    guess = np.full(target.rows, ABSTAIN, dtype=np.int64)
    filled, customers = np.flatnonzero(np.diff(target.baskets.indptr)), target.original.rows
    if not len(filled):
        return guess
    if customers <= dense_limit:
        guess[filled] = match_dense(np.concatenate(list(_distances(target, kind, filled))))
        return guess

    def blocks(rows: IntArray, columns: IntArray) -> Iterator[FloatArray]:
        return (np.take(part, columns, axis=1) for part in _distances(target, kind, filled[rows]))

    matching = match_listed(listing_of(blocks), len(filled), customers)
    guess[filled] = matching.column_of
    return Noted(guess, note_of(matching, rows=customers, dense_limit=dense_limit))


def _distances(target: TransactionTarget, kind: Kind, rows: IntArray) -> Iterator[FloatArray]:
    return (1.0 - scores for _, scores in similarities(target, kind, rows))
