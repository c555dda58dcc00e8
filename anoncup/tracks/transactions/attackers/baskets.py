"""Attackers that recognize customers by their baskets (P3 §2.2; ``anoncup.tracks`` lists the papers).

They guess original customers (M, T) for anonymized ones (M', T') and abstain for empty baskets.
"""

import numpy as np

from anoncup.geometry.arrays import IntArray
from anoncup.geometry.encoding import assign_groups
from anoncup.tracks.linkage.attack_rates import ABSTAIN, KnownCluster
from anoncup.tracks.transactions.baskets import (
    apply_weights,
    find_best_columns,
    find_best_product_columns,
    find_most_similar,
    iter_similarities,
)
from anoncup.tracks.transactions.release import TransactionTarget, group_by_basket


def jaccard(target: TransactionTarget) -> IntArray:
    """Guess the customer with the most similar set of goods (P3 Algorithm 1); ties go to the first row."""
    return find_most_similar(target, "jaccard")


def jaccard_quantity(target: TransactionTarget) -> IntArray:
    """Guess like :func:`jaccard`, but by quantities q: sum of min(q, q') / sum of max(q, q')."""
    return find_most_similar(target, "jaccard_quantity")


def tfidf(target: TransactionTarget) -> IntArray:
    """Guess the customer with the largest cosine of TF-IDF weights (P3 Algorithm 3).

    The weight of a good is ln(n / buyers in T) + 1 on both sides. Goods that do not occur in T have no
    weight, and a basket of such goods abstains. (The term frequency is the same for all goods of a basket, so
    it does not change a cosine.)
    """
    original = target.original
    known_goods = original.baskets.shape[1]
    weights = np.log(original.rows / np.bincount(original.baskets.indices, minlength=known_goods)) + 1.0
    original_vectors = apply_weights(original.baskets, weights)
    target_vectors = apply_weights(target.baskets[:, :known_goods], weights)
    norms = np.sqrt(np.asarray(original_vectors.power(2).sum(axis=1)))
    return find_best_product_columns(
        target_vectors, original_vectors.T.tocsr(), np.where(norms > 0, norms, 1.0)
    )


def master_match(target: TransactionTarget) -> IntArray:
    """Guess the customer with the same sex, birthday and country, or abstain if there is none.

    If there are several, the one with the most similar set of goods is guessed; ties go to the first row.
    """
    grouping = target.original.group_by_master()
    group_of = assign_groups(grouping, target.master)
    guess = np.full(target.rows, ABSTAIN, dtype=np.int64)
    for rows, scores in iter_similarities(target, "jaccard", np.flatnonzero(group_of >= 0)):
        is_same = group_of[rows][:, None] == grouping.group_ids
        guess[rows] = find_best_columns(np.where(is_same, scores, -1.0))
    return guess


def random_in_cluster(target: TransactionTarget) -> KnownCluster:
    """Guess at random among customers with equal sets of goods (P3 §4.1), so the rate is clusters / n'.

    This assumes that the attacker knows the cluster of each customer.
    """
    classes = group_by_basket(target)
    return KnownCluster(np.bincount(classes)[classes])
