"""Utility measures of PWS Cup 2016 (P3 §4.1; ``anoncup.tracks`` lists the papers) and two of later cups.

Each function has the name that its measure has in competition files. The measures tell how much the
anonymized tables M' and T' differ from the original M and T, so 0 is best.
"""

from collections.abc import Callable

import numpy as np
import pandas as pd
from scipy.sparse import triu

from anoncup.geometry.arrays import FloatArray, IntArray, SparseCounts
from anoncup.geometry.kernels.baskets import count_common_buyers
from anoncup.tracks.memo import memoize
from anoncup.tracks.transactions.baskets import TIE_TOLERANCE, count_buyers, unpack_sparse
from anoncup.tracks.transactions.files import MASTER_COLUMNS
from anoncup.tracks.transactions.release import (
    EncodedTables,
    ScoredTransactions,
    TransactionHistory,
    TransactionOriginal,
)

_CROSS_COLUMNS = ["sex", "country"]
"""Columns of the cross-table of U1-cMAE and U2-cMAE."""
_TOP_GOODS_COUNT = 100
"""Number of goods that ``top_goods`` compares."""
_RFM_CLASSES = 10
"""Number of classes of recency, of frequency and of money."""


def cmae_price(release: ScoredTransactions) -> float:
    """Return U1-cMAE, the mean difference of mean prices in the cross-table of sex and country; >= 0.

    The price of a customer is the mean unit price of their rows. The price of a cell is the mean over its
    customers with rows, or 0 if there are none. There is a cell for each sex and country that occur in M or
    M'. The result is an amount of money.
    """
    return _compute_cmae(release, TransactionHistory.average_prices)


def cmae_spend(release: ScoredTransactions) -> float:
    """Return U2-cMAE, which is like ``cmae_price`` for the customers' total spends; >= 0."""
    return _compute_cmae(release, TransactionHistory.sum_spends)


def find_largest_price(original: TransactionOriginal) -> float:
    """Return the largest unit price, because ``cmae_price`` reads prices only."""
    return float(original.history.price.max(initial=0.0))


def find_largest_spend(original: TransactionOriginal) -> float:
    """Return the largest price times quantity of a row, because ``cmae_spend`` adds these amounts up."""
    return float((original.history.price * original.history.quantity).max(initial=0.0))


def rfm(release: ScoredTransactions) -> float:
    """Return U3-RFM, the mean difference of counts in the cells of recency, frequency and money; >= 0.

    There are 10 x 10 x 10 cells. Recency is the number of days from the last purchase to the last date of the
    original T, frequency the number of receipts, and money the total spend. The class of a value is the
    number of deciles of the original customers below it. Customers without rows are in no cell.
    """
    last_day = int(release.original.history.day.max())
    values = _compute_rfm(release.original.history, last_day)
    deciles = [np.quantile(column, np.arange(1, _RFM_CLASSES) / _RFM_CLASSES) for column in values]
    counts = _count_rfm_cells(values, deciles)
    release_counts = _count_rfm_cells(_compute_rfm(release.target.history, last_day), deciles)
    return float(np.abs(counts - release_counts).sum()) / _RFM_CLASSES**3


def row_difference(release: ScoredTransactions) -> float:
    """Return |m' - m|, the absolute difference of the numbers of transactions."""
    return abs(signed_row_difference(release)["signed"])


def signed_row_difference(release: ScoredTransactions) -> dict[str, float]:
    """Return m' - m, which is positive for dummies and negative for deletions."""
    return {"signed": float(len(release.target.history.owner) - len(release.original.history.owner))}


def count_original_records(original: TransactionOriginal) -> float:
    """Return the number of original transactions, which is the scale of ``row_difference``."""
    return float(len(original.history.owner))


def goods_cosine(release: ScoredTransactions) -> float:
    """Return the change of the cosines of pairs of goods relative to their sum, in [0, 1] (PWS Cup 2017, E1).

    Both sums run over the pairs of goods with a common buyer in T; without such a pair the value is 0. The
    cosine of two goods is that of their columns in the binary table of customers and goods.
    """
    first, second, cosines = _compute_pair_cosines(release.original)
    baskets = release.target.baskets[:, : release.original.baskets.shape[1]]
    shared = count_common_buyers(unpack_sparse(baskets.T.tocsr()), baskets.shape[0], first, second)
    norms = _compute_norms(baskets)
    release_cosines = shared / (norms[first] * norms[second])
    change, total = float(np.abs(cosines - release_cosines).sum()), float(cosines.sum())
    return min(change / total, 1.0) if total > 0 else 0.0


def top_goods(release: ScoredTransactions) -> float:
    """Return the share of the top 100 goods of T that are not among the top 100 of T', in [0, 1].

    Goods are ranked by the number of buyers; ties go to the lower id. If T has fewer than 100 goods, all of
    them are compared.
    """
    original_top = _find_most_bought(release.original)
    release_top = set(_find_most_bought(release.target))
    return sum(good not in release_top for good in original_top) / len(original_top)


def _compute_cmae(
    release: ScoredTransactions, compute_values: Callable[[TransactionHistory], FloatArray]
) -> float:
    """Return the sum over the cells of |mean in M - mean in M'|, divided by the number of cells.

    The cells are all pairs of a sex and a country, those that no customer has included.
    """
    original_means, release_means = (
        _average_cells(table, compute_values(table.history)) for table in (release.original, release.target)
    )
    total = float(original_means.sub(release_means, fill_value=0.0).abs().sum())
    for name in _CROSS_COLUMNS:
        total /= len(release.target.number_texts(name)[1])
    return total


def _average_cells(table: EncodedTables, values: FloatArray) -> pd.Series:
    """Return the mean value of the customers with rows in each cell that has some, by sex and country."""
    customers = pd.DataFrame(table.master, columns=list(MASTER_COLUMNS)).assign(value=values)
    means: pd.Series = customers[table.history.has_rows()].groupby(_CROSS_COLUMNS)["value"].mean()
    return means


def _compute_rfm(history: TransactionHistory, last_day: int) -> list[FloatArray]:
    """Return the recency, frequency and money of the customers with rows."""
    columns = (last_day - history.find_last_days(), history.count_receipts(), history.sum_spends())
    return [column[history.has_rows()].astype(np.float64) for column in columns]


def _count_rfm_cells(values: list[FloatArray], deciles: list[FloatArray]) -> IntArray:
    """Return the number of customers in each of the 1,000 cells.

    A decile that is equal within rounding is not below a value.
    """
    classes = [
        (column[:, np.newaxis] > thresholds + np.abs(thresholds) * TIE_TOLERANCE).sum(axis=1)
        for column, thresholds in zip(values, deciles, strict=True)
    ]
    cells = np.ravel_multi_index(tuple(classes), (_RFM_CLASSES,) * len(classes))
    return np.bincount(cells, minlength=_RFM_CLASSES ** len(classes))


@memoize
def _compute_pair_cosines(original: TransactionOriginal) -> tuple[IntArray, IntArray, FloatArray]:
    """Return the pairs of goods with a common buyer, each once, as two arrays, and their cosines."""
    bought = original.baskets.sign()
    pairs = triu(bought.T.tocsr() @ bought, 1).tocsr().tocoo()
    first, second = pairs.row.astype(np.int64), pairs.col.astype(np.int64)
    norms = _compute_norms(bought)
    return first, second, pairs.data / (norms[first] * norms[second])


def _compute_norms(baskets: SparseCounts) -> FloatArray:
    """Return the norm of each good's column in the binary table, or 1 for goods that nobody bought."""
    return np.sqrt(np.maximum(count_buyers(baskets), 1).astype(np.float64))


@memoize
def _find_most_bought(table: EncodedTables) -> list[str]:
    """Return up to 100 goods by number of buyers, largest first, then by id."""
    counts = zip(table.number_texts("goods")[1], count_buyers(table.baskets), strict=True)
    ranking = sorted((-int(count), good) for good, count in counts if count)
    return [good for _, good in ranking[:_TOP_GOODS_COUNT]]
