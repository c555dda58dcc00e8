"""Attackers that recognize customers by baskets or spends (P3 §2.2; ``anoncup.tracks`` lists the papers).

I(u) is the set of goods of a customer u of M, and I(u') that of a customer of M'. All guesses are rows of M,
counted from 0, or -1 for an empty basket; ties go to the lower row.
"""

import numpy as np

from anoncup.geometry.arrays import FloatArray, IntArray
from anoncup.geometry.encoding import assign_groups, group_rows
from anoncup.tracks.linkage.attack_rates import ABSTAIN, KnownCluster
from anoncup.tracks.transactions.anonymity import group_by_basket
from anoncup.tracks.transactions.baskets import (
    TIE_TOLERANCE,
    JaccardKind,
    compute_goods_weights,
    find_best_columns,
    find_best_product_columns,
    iter_similarities,
    weigh_baskets,
)
from anoncup.tracks.transactions.release import TransactionTarget


def jaccard(target: TransactionTarget) -> IntArray:
    """Guess arg max_i J(I(u'_j), I(u_i)) for each customer j of M', (n',) (P3 Algorithm 1)."""
    return _guess_most_similar(target, "jaccard")


def jaccard_quantity(target: TransactionTarget) -> IntArray:
    """Guess like ``jaccard``, but by quantities q: sum of min(q, q') / sum of max(q, q')."""
    return _guess_most_similar(target, "jaccard_quantity")


def tfidf(target: TransactionTarget) -> IntArray:
    """Guess the customer with the largest cosine of TF-IDF weights, (n',) (weights of P3 Algorithm 3).

    n and D_j come from M and T on both sides. Goods that do not occur in T have no weight, and a basket of
    such goods abstains.
    """
    baskets = target.original.baskets
    goods_weights = compute_goods_weights(baskets)
    released_vectors = weigh_baskets(target.baskets[:, : baskets.shape[1]], goods_weights)
    original_vectors = weigh_baskets(baskets, goods_weights)
    return find_best_product_columns(released_vectors, original_vectors.T.tocsr())


def master_match(target: TransactionTarget) -> IntArray:
    """Guess the customer with the same sex, birthday and country, (n',), or abstain if there is none.

    If there are several, the one with the highest J of the sets of goods is guessed.
    """
    original_groups = group_rows(target.original.master)
    groups = assign_groups(original_groups, target.master)
    guess = np.full(target.rows, ABSTAIN, dtype=np.int64)
    present = np.flatnonzero(groups >= 0)
    for rows, scores in iter_similarities(target.baskets, target.original.baskets, "jaccard", present):
        is_same = groups[rows, np.newaxis] == original_groups.group_ids
        guess[rows] = find_best_columns(np.where(is_same, scores, -1.0))
    return guess


def random_in_cluster(target: TransactionTarget) -> KnownCluster:
    """Guess at random among the customers with equal I(u'), so the rate is clusters / n' (P3 §4.1).

    This assumes that the attacker knows the cluster of each customer.
    """
    clusters = group_by_basket(target)
    return KnownCluster(np.bincount(clusters)[clusters])


def _guess_most_similar(target: TransactionTarget, kind: JaccardKind) -> IntArray:
    guess = np.full(target.rows, ABSTAIN, dtype=np.int64)
    buyers = target.find_buyers()
    for rows, scores in iter_similarities(target.baskets, target.original.baskets, kind, buyers):
        guess[rows] = find_best_columns(scores)
    return guess


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
