"""Attackers that guess every customer of M at most once, by the largest sum of Jaccard coefficients.

Customers of M' with empty baskets abstain. If several assignments are equally good, one of them is returned.
"""

from collections.abc import Iterator

import numpy as np

from anoncup.geometry.arrays import FloatArray, IntArray
from anoncup.geometry.assignment import candidates_from_blocks, describe_assignment, match_dense, match_sparse
from anoncup.tracks.linkage.attack_rates import ABSTAIN, AnnotatedGuess
from anoncup.tracks.linkage.question import DENSE_LIMIT
from anoncup.tracks.transactions.baskets import JaccardKind, iter_similarities
from anoncup.tracks.transactions.release import TransactionTarget


def jaccard_assignment(
    target: TransactionTarget, *, dense_limit: int = DENSE_LIMIT
) -> IntArray | AnnotatedGuess:
    """Assign customers of M' to distinct customers of M by their sets of goods, (n',).

    With more than ``dense_limit`` customers in M, only lists of the most similar ones are searched, and the
    guess carries a note about it.
    """
    return _assign_distinct(target, "jaccard", dense_limit)


def jaccard_quantity_assignment(
    target: TransactionTarget, *, dense_limit: int = DENSE_LIMIT
) -> IntArray | AnnotatedGuess:
    """Assign customers like ``jaccard_assignment``, but by quantities."""
    return _assign_distinct(target, "jaccard_quantity", dense_limit)


def _assign_distinct(
    target: TransactionTarget, kind: JaccardKind, dense_limit: int
) -> IntArray | AnnotatedGuess:
    guess = np.full(target.rows, ABSTAIN, dtype=np.int64)
    buyers, customer_count = target.find_buyers(), target.original.rows
    if not len(buyers):
        return guess
    if customer_count <= dense_limit:
        guess[buyers] = match_dense(np.concatenate(list(_iter_distances(target, kind, buyers))))
        return guess

    def iter_cost_blocks(rows: IntArray, columns: IntArray) -> Iterator[FloatArray]:
        return (np.take(block, columns, axis=1) for block in _iter_distances(target, kind, buyers[rows]))

    matching = match_sparse(candidates_from_blocks(iter_cost_blocks), len(buyers), customer_count)
    guess[buyers] = matching.columns
    return AnnotatedGuess(guess, describe_assignment(matching, rows=customer_count, dense_limit=dense_limit))


def _iter_distances(target: TransactionTarget, kind: JaccardKind, rows: IntArray) -> Iterator[FloatArray]:
    blocks = iter_similarities(target.baskets, target.original.baskets, kind, rows)
    return (1.0 - scores for _, scores in blocks)
