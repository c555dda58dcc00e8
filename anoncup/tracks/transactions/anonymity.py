"""k-anonymity of customers by their master data and by their baskets.

Reported beside the utility; high is good.
"""

import numpy as np

from anoncup.geometry.arrays import IntArray
from anoncup.tracks.transactions.release import TransactionRelease, group_by_basket, group_by_master


def k_min(release: TransactionRelease) -> float:
    """Fewest customers of M' with the same sex, birthday and country, in 1..n'."""
    return _min_class_size(group_by_master(release.target))


def k_mean(release: TransactionRelease) -> float:
    """Mean number of customers of M' with the same sex, birthday and country, in 1..n'."""
    return _mean_class_size(group_by_master(release.target))


def basket_k_min(release: TransactionRelease) -> float:
    """Fewest customers with the same set of goods, in 1..n'."""
    return _min_class_size(group_by_basket(release.target))


def basket_k_mean(release: TransactionRelease) -> float:
    """Mean number of customers with the same set of goods, in 1..n'."""
    return _mean_class_size(group_by_basket(release.target))


def _min_class_size(classes: IntArray) -> float:
    return float(np.bincount(classes).min())


def _mean_class_size(classes: IntArray) -> float:
    return len(classes) / (int(classes.max()) + 1)
