"""k-anonymity of the n' customers of the anonymized table M' by their master data and by their baskets.

High values are good. These measures are only reported and have no weight in the utility.
"""

import numpy as np

from anoncup.geometry.arrays import IntArray
from anoncup.tracks.transactions.release import ScoredTransactions, group_by_basket, group_by_master


def k_min(release: ScoredTransactions) -> float:
    """Return the smallest number of customers with the same sex, birthday and country, in 1..n'."""
    return _min_class_size(group_by_master(release.target))


def k_mean(release: ScoredTransactions) -> float:
    """Return the mean size of the groups of customers with the same sex, birthday and country, in 1..n'."""
    return _mean_class_size(group_by_master(release.target))


def basket_k_min(release: ScoredTransactions) -> float:
    """Return the smallest number of customers with the same set of goods, in 1..n'."""
    return _min_class_size(group_by_basket(release.target))


def basket_k_mean(release: ScoredTransactions) -> float:
    """Return the mean size of the groups of customers with the same set of goods, in 1..n'."""
    return _mean_class_size(group_by_basket(release.target))


def _min_class_size(classes: IntArray) -> float:
    return float(np.bincount(classes).min())


def _mean_class_size(classes: IntArray) -> float:
    return len(classes) / (int(classes.max()) + 1)
