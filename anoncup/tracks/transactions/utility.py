"""Utility measures of PWS Cup 2016, as in §5 of Nojima et al. (P2 in ``anoncup.tracks``) and §4.3 of P3.

Each function has the name that its measure has in competition files. The measures tell how much the
anonymized tables M' and T' differ from the original M and T, so 0 is best.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from scipy.sparse import triu

from anoncup.geometry.arrays import FloatArray, IntArray, SparseCounts
from anoncup.geometry.encoding import group_rows
from anoncup.geometry.kernels.baskets import cosine_gaps
from anoncup.tracks.memo import memoize
from anoncup.tracks.transactions.baskets import TIE_TOLERANCE, unpack_sparse
from anoncup.tracks.transactions.files import MASTER_COLUMNS
from anoncup.tracks.transactions.release import (
    ScoredTransactions,
    TransactionHistory,
    TransactionOriginal,
    find_last_day,
)
from anoncup.tracks.transactions.spending import (
    EncodedTables,
    average_prices,
    count_receipts,
    find_last_purchase_days,
    has_rows,
    sum_spends,
)

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
    return _cell_mean_difference(release, average_prices)


def cmae_spend(release: ScoredTransactions) -> float:
    """Return U2-cMAE, which is like :func:`cmae_price` for the customers' total spends; >= 0."""
    return _cell_mean_difference(release, sum_spends)


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
    original, target = release.original, release.target
    tables: tuple[EncodedTables, EncodedTables] = (original, target)
    reference_day = find_last_day(original)
    original_rfm, release_rfm = (_compute_rfm(table, reference_day) for table in tables)
    cells = [np.zeros(len(table[0]), dtype=np.int64) for table in (original_rfm, release_rfm)]
    for values, release_values in zip(original_rfm, release_rfm, strict=True):
        thresholds = _compute_deciles(values)
        for index, column in enumerate((values, release_values)):
            cells[index] = cells[index] * _RFM_CLASSES + _count_thresholds_below(column, thresholds)
    counts = [np.bincount(cell, minlength=_RFM_CLASSES**3) for cell in cells]
    return float(np.abs(counts[0] - counts[1]).sum()) / _RFM_CLASSES**3


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
    original = release.original
    pairs, original_cosines = _compute_pair_cosines(original)
    total = float(original_cosines.sum())
    release_baskets = release.target.baskets[:, : original.baskets.shape[1]]
    gaps = cosine_gaps(
        *pairs,
        original_cosines,
        _compute_column_norms(release_baskets),
        *unpack_sparse(release_baskets.tocsc())[:2],
        release_baskets.shape[0],
    )
    return min(float(gaps.sum()) / total, 1.0) if total > 0 else 0.0


def top_goods(release: ScoredTransactions) -> float:
    """Return the share of the top 100 goods of T that are not among the top 100 of T', in [0, 1].

    Goods are ranked by the number of buyers; ties go to the lower id. If T has fewer than 100 goods, all of
    them are compared.
    """
    original_top = _find_most_bought(release.original)
    release_top = set(_find_most_bought(release.target))
    return sum(good not in release_top for good in original_top) / len(original_top)


def _count_buyers(baskets: SparseCounts) -> IntArray:
    """Return how many customers bought each good, (goods,)."""
    return np.bincount(baskets.indices, minlength=baskets.shape[1])


def _compute_deciles(values: FloatArray) -> FloatArray:
    """Return the 9 deciles by linear interpolation; a decile that falls on a value is exactly that value."""
    sorted_values = np.sort(values)
    thresholds = []
    for tenth in range(1, _RFM_CLASSES):
        rank, remainder = divmod((len(sorted_values) - 1) * tenth, _RFM_CLASSES)
        low, high = sorted_values[rank], sorted_values[min(rank + 1, len(sorted_values) - 1)]
        thresholds.append(low + (high - low) * remainder / _RFM_CLASSES if remainder else low)
    return np.array(thresholds)


def _count_thresholds_below(values: FloatArray, thresholds: FloatArray) -> IntArray:
    """Return the number of thresholds below each value; a threshold that is equal within rounding is not."""
    return np.asarray(
        (values[:, None] > thresholds + np.abs(thresholds) * TIE_TOLERANCE).sum(axis=1), dtype=np.int64
    )


@memoize
def _find_most_bought(table: EncodedTables) -> list[str]:
    """Return up to 100 goods by number of buyers, largest first, then by id."""
    counts = zip(table.vocabularies.goods, _count_buyers(table.baskets), strict=True)
    ranking = sorted((-int(count), good) for good, count in counts if count)
    return [good for _, good in ranking[:_TOP_GOODS_COUNT]]


def _cell_mean_difference(
    release: ScoredTransactions, compute_values: Callable[[TransactionHistory, int], FloatArray]
) -> float:
    """Return the sum of |difference of the two tables' means| over the cells of sex and country, per cell.

    ``compute_values(history, rows)`` returns the averaged value of each customer. The number of
    cells is that of all pairs of values, those that no customer has included.
    """
    original, target = release.original, release.target
    tables: tuple[EncodedTables, EncodedTables] = (original, target)
    column_indices = [MASTER_COLUMNS.index(name) for name in ("sex", "country")]
    cells = group_rows(np.concatenate((original.master, target.master))[:, column_indices])
    original_means, release_means = (
        _cell_means(table_cells, has_rows(table), compute_values(table.history, table.rows), cells.count)
        for table_cells, table in zip(np.split(cells.group_ids, [original.rows]), tables, strict=True)
    )
    total = float(np.abs(original_means - release_means).sum())
    for column_index in column_indices:
        total /= len(target.vocabularies.master[column_index])
    return total


def _cell_means(
    cells: IntArray, has_value: npt.NDArray[np.bool_], values: FloatArray, count: int
) -> FloatArray:
    """Return the mean value of each cell, or 0 for empty cells."""
    cells, values = cells[has_value], values[has_value]
    sums = np.bincount(cells, values, count)
    means: FloatArray = sums / np.maximum(np.bincount(cells, minlength=count), 1)
    return means


@memoize
def _compute_pair_cosines(original: TransactionOriginal) -> tuple[tuple[IntArray, IntArray], FloatArray]:
    """Return the pairs of goods with a common buyer, each once, and their cosines."""
    baskets, norms = original.baskets, _compute_column_norms(original.baskets)
    bought = baskets.sign()
    pairs = triu(bought.T.tocsr() @ bought, 1).tocsr().tocoo()
    first, second = pairs.row.astype(np.int64), pairs.col.astype(np.int64)
    return (first, second), pairs.data / (norms[first] * norms[second])


def _compute_column_norms(baskets: SparseCounts) -> FloatArray:
    """Return the norm of each good's column in the binary table of customers and goods, (goods,)."""
    return np.sqrt(_count_buyers(baskets).astype(np.float64))


def _compute_rfm(table: EncodedTables, reference_day: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the recency, frequency and money of the customers with rows."""
    history, customers, has_value = table.history, table.rows, has_rows(table)
    last_purchases = find_last_purchase_days(history, customers)
    columns = (
        reference_day - last_purchases,
        count_receipts(history, customers),
        sum_spends(history, customers),
    )
    recency, frequency, money = (column[has_value].astype(np.float64) for column in columns)
    return recency, frequency, money
