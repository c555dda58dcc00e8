"""k-anonymity of the n' customers of the anonymized table M' by their master data and by their baskets.

High values are good. These measures are only reported and have no weight in the utility.
"""

import numpy as np
import pandas as pd

from anoncup.geometry.arrays import IntArray
from anoncup.geometry.encoding import group_rows
from anoncup.tracks.memo import memoize
from anoncup.tracks.transactions.release import ScoredTransactions, TransactionTarget


def k_min(release: ScoredTransactions) -> float:
    """Return the smallest number of customers with the same sex, birthday and country, in 1..n'."""
    return float(group_rows(release.target.master).sizes.min())


def k_mean(release: ScoredTransactions) -> float:
    """Return the mean size of the groups of customers with the same sex, birthday and country, in 1..n'."""
    return release.target.rows / group_rows(release.target.master).count


def basket_k_min(release: ScoredTransactions) -> float:
    """Return the smallest number of customers with the same set of goods, in 1..n'."""
    return float(np.bincount(group_by_basket(release.target)).min())


def basket_k_mean(release: ScoredTransactions) -> float:
    """Return the mean size of the groups of customers with the same set of goods, in 1..n'."""
    return release.target.rows / (int(group_by_basket(release.target).max()) + 1)


@memoize
def group_by_basket(target: TransactionTarget) -> IntArray:
    """Return the class of every customer of M' by the set of goods, (n',)."""
    goods = np.split(target.baskets.indices, target.baskets.indptr[1:-1])
    classes, _ = pd.factorize(np.array([basket.tobytes() for basket in goods], dtype=object))
    return np.asarray(classes, dtype=np.int64)
