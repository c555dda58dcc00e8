"""Attackers that recognize customers by what they bought (P3 §2.2). An empty basket: abstain."""

import numpy as np

from anoncup.geometry.arrays import IntArray
from anoncup.geometry.encoding import find_groups, group_rows
from anoncup.tracks.linkage.attack_rates import ABSTAIN, OwnCluster
from anoncup.tracks.memo import once
from anoncup.tracks.transactions.baskets import best, best_products, most_similar, similarities, weighted
from anoncup.tracks.transactions.release import TransactionTarget, basket_classes


def jaccard(target: TransactionTarget) -> IntArray:
    """The customer with the most similar set of goods (P3 Algorithm 1), ties to the lower row."""
    return most_similar(target, "jaccard")


def jaccard_quantity(target: TransactionTarget) -> IntArray:
    """As :func:`jaccard` by quantities: sum of min(q, q') / sum of max(q, q')."""
    return most_similar(target, "jaccard_quantity")


def tfidf(target: TransactionTarget) -> IntArray:
    """The customer with the largest cosine of TF-IDF weights (P3 Algorithm 3).

    A good weighs ln(n / buyers in T) + 1 on both sides; one unknown to T weighs nothing, and a basket of such
    goods abstains. (The term frequency is the same for all goods of a basket: it does not change a cosine.)
    """
    original = target.original
    known = original.baskets.shape[1]
    weights = np.log(original.rows / np.bincount(original.baskets.indices, minlength=known)) + 1.0
    before, after = weighted(original.baskets, weights), weighted(target.baskets[:, :known], weights)
    lengths = np.sqrt(np.asarray(before.power(2).sum(axis=1)))
    return best_products(after, before.T.tocsr(), np.where(lengths > 0, lengths, 1.0))


def master_match(target: TransactionTarget) -> IntArray:
    """The customer with the same sex, birthday and country; of several the most similar set of goods.

    None: abstain; equally similar: the lower row.
    """
    original = target.original
    grouping = once(original.kept, ("master",), lambda: group_rows(original.master))
    group = find_groups(grouping, target.master)
    guess = np.full(target.rows, ABSTAIN, dtype=np.int64)
    for rows, scores in similarities(target, "jaccard", np.flatnonzero(group >= 0)):
        same = group[rows][:, None] == grouping.group_of
        guess[rows] = best(np.where(same, scores, -1.0))
    return guess


def random_in_cluster(target: TransactionTarget) -> OwnCluster:
    """Customers with equal sets of goods are told apart by lot (P3 §4.1): rate = clusters / n'.

    It presumes that the attacker knows whose cluster it is.
    """
    classes = basket_classes(target)
    return OwnCluster(np.bincount(classes)[classes])
