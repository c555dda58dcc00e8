"""k-anonymity of customers: of what the table of customers says about them, and of their baskets.

Reported beside the utility; high is good.
"""

import numpy as np

from anoncup.geometry.arrays import IntArray
from anoncup.tracks.transactions.release import TransactionRelease, basket_classes, master_classes


def k_min(release: TransactionRelease) -> float:
    """Fewest customers of M' with the same sex, birthday and country, in 1..n'."""
    return _smallest(master_classes(release.target))


def k_mean(release: TransactionRelease) -> float:
    """Mean number of customers of M' with the same sex, birthday and country, in 1..n'."""
    return _mean(master_classes(release.target))


def basket_k_min(release: TransactionRelease) -> float:
    """Fewest customers with the same set of goods, in 1..n'."""
    return _smallest(basket_classes(release.target))


def basket_k_mean(release: TransactionRelease) -> float:
    """Mean number of customers with the same set of goods, in 1..n'."""
    return _mean(basket_classes(release.target))


def _smallest(classes: IntArray) -> float:
    return float(np.bincount(classes).min())


def _mean(classes: IntArray) -> float:
    return len(classes) / (int(classes.max()) + 1)
