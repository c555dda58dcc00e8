"""Utility measures of the monthly track; each is in [0, 1], 0 is best.

T is the original table of transactions and AT the anonymized one. q[g, u] is the total quantity of good g
that user u bought. Users are customers in T and pseudonyms in AT; goods are those of T. (After the utility
measures of PWS Cup 2017.)
"""

from collections.abc import Callable
from math import fsum

import numpy as np
from scipy.sparse import coo_array, csr_array, triu

from anoncup.geometry.arrays import FloatArray, IntArray, SparseCounts, SparseWeights
from anoncup.geometry.encoding import factorize, get_column_texts
from anoncup.tracks.memo import memoize
from anoncup.tracks.monthly.original import MonthlyOriginal, PurchaseRecords
from anoncup.tracks.monthly.release import MonthlyRelease

_QUANTITY_LEVELS = np.array([12, 24, 36, 48, 60, 72])
_MAX_SMALL_QUANTITY = 11
_TOP_COUNT = 100
_MAX_DAYS_PER_MONTH = 31
_GOODS_PER_BLOCK = 512
"""Number of rows of the table of cosines that are held in memory at a time."""


def itemcf_levels(release: MonthlyRelease) -> float:
    """Return the change of the cosines of goods, where q counts as its level: q // 12, at most 6."""
    return _cosine_change(release, lambda amounts: np.searchsorted(_QUANTITY_LEVELS, amounts, side="right"))


def itemcf_small(release: MonthlyRelease) -> float:
    """Return the change of the cosines of goods, where a q above 11 counts 0."""
    return _cosine_change(release, lambda amounts: np.where(amounts <= _MAX_SMALL_QUANTITY, amounts, 0))


def top_goods(release: MonthlyRelease) -> float:
    r"""Return |top100(T) \ top100(AT)| / 100, which is 0 if T has at most 100 goods.

    All goods of T are ranked in both tables, so goods without buyers can be among the top 100 of AT.
    """
    original_top, release_top = (_find_top_goods(amounts) for amounts in _get_amounts(release))
    return len(np.setdiff1d(original_top, release_top)) / _TOP_COUNT


def top_cf(release: MonthlyRelease) -> float:
    """Return the change of the cosines of the top goods of T, where every q > 0 counts 1."""
    original_amounts, release_amounts = _get_amounts(release)
    top = _find_top_goods(original_amounts)
    return cosine_distance(
        _map_amounts(original_amounts[top], np.sign), _map_amounts(release_amounts[top], np.sign)
    )


def date_shift(release: MonthlyRelease) -> float:
    """Return Σ |days moved| over the kept rows / (31 · rows of T)."""
    original_records, release_records = release.original.records, release.records
    days = np.abs(release_records.day - original_records.day)[release_records.is_kept].sum()
    return int(days) / (_MAX_DAYS_PER_MONTH * release_records.rows)


def price_ratio(release: MonthlyRelease) -> float:
    """Return Σ (1 - lower price / higher price) over the kept rows / rows of T.

    The prices are those of T and of AT; a row counts 0 if both are 0.
    """
    is_kept, rows = release.records.is_kept, release.records.rows
    original_prices, release_prices = release.original.records.price[is_kept], release.records.price[is_kept]
    low, high = np.minimum(original_prices, release_prices), np.maximum(original_prices, release_prices)
    ratio: FloatArray = np.divide(low, high, out=np.ones_like(low), where=high > 0)
    return fsum((1 - ratio).tolist()) / rows


def deleted(release: MonthlyRelease) -> float:
    """Return 1 - kept rows / rows of T."""
    deleted_count = np.count_nonzero(~release.records.is_kept)
    return int(deleted_count) / release.records.rows


_QuantityMap = Callable[[IntArray], IntArray]


def _cosine_change(release: MonthlyRelease, map_quantities: _QuantityMap) -> float:
    original_amounts, release_amounts = _get_amounts(release)
    return cosine_distance(
        _map_amounts(original_amounts, map_quantities), _map_amounts(release_amounts, map_quantities)
    )


def _get_amounts(release: MonthlyRelease) -> tuple[SparseCounts, SparseCounts]:
    """Return q of T and of AT, (goods, users), with goods in the alphabetical order of their ids."""
    return _sum_original_quantities(release.original), _sum_release_quantities(release)


@memoize
def _sum_original_quantities(original: MonthlyOriginal) -> SparseCounts:
    return _sum_quantities(original, original.records)


@memoize
def _sum_release_quantities(release: MonthlyRelease) -> SparseCounts:
    return _sum_quantities(release.original, release.records)


def _sum_quantities(original: MonthlyOriginal, records: PurchaseRecords) -> SparseCounts:
    rows = records.cells[records.is_kept]
    all_goods = sorted(set(get_column_texts(original.records.cells, "good")))
    users, user_ids = factorize(rows["customer"])
    goods, _ = factorize(rows["good"], all_goods)
    entries = (records.quantity[records.is_kept], (goods, users))
    return coo_array(entries, shape=(len(all_goods), len(user_ids))).tocsr()


def _map_amounts(amounts: SparseCounts, map_quantities: _QuantityMap) -> SparseCounts:
    """Apply a function to every q and drop zeros."""
    result = csr_array(
        (map_quantities(amounts.data).astype(np.int64), amounts.indices, amounts.indptr),
        shape=amounts.shape,
        copy=True,
    )
    result.eliminate_zeros()
    return result


def _find_top_goods(amounts: SparseCounts) -> IntArray:
    """Return the first 100 of all goods, bought or not, by (number of users, id) descending."""
    users = np.diff(amounts.indptr)
    return np.lexsort((np.arange(len(users)), users))[::-1][:_TOP_COUNT]


def cosine_distance(
    original_amounts: SparseCounts, release_amounts: SparseCounts, *, goods_per_block: int = _GOODS_PER_BLOCK
) -> float:
    """Return min(1, Σ |a - c| / Σ a) over the pairs of goods with a > 0, in [0, 1]; 0 means no change.

    a are the cosines of ``original_amounts`` and c those of ``release_amounts``, both (goods, users). The
    result is 0 if Σ a is 0. Each pair is counted once, which gives the same quotient as ordered pairs.

    The cosine of two goods g and h is Σ q[g, u] q[h, u] over the users u, divided by the square root of the
    product of their Σ q², or 0 if one of these is 0. (Item-based collaborative filtering: Sarwar, Karypis,
    Konstan, Riedl, WWW 2001.)
    """
    difference = total = 0.0
    for first in range(0, original_amounts.shape[0], goods_per_block):
        original_cosines, release_cosines = (
            _compute_cosines(amounts, first, first + goods_per_block)
            for amounts in (original_amounts, release_amounts)
        )
        difference += float(abs(original_cosines - release_cosines.multiply(original_cosines > 0)).sum())
        total += float(original_cosines.sum())
    return min(1.0, difference / total) if total else 0.0


def _compute_cosines(amounts: SparseCounts, first: int, end: int) -> SparseWeights:
    """Return the cosines of the goods ``first`` to ``end`` - 1 with all later goods, (end - first, goods).

    Sums of whole numbers are exact, so the result does not depend on the order of the users.
    """
    squares = _sum_squares(amounts)
    dots = triu(amounts[first:end] @ amounts.T, k=first + 1, format="coo")
    rows, columns = dots.coords
    values = dots.data / np.sqrt(squares[rows + first] * squares[columns])
    return csr_array((values, (rows, columns)), shape=dots.shape)


def _sum_squares(amounts: SparseCounts) -> IntArray:
    """Return Σ q² of every good, (goods,)."""
    result: IntArray = np.asarray(amounts.multiply(amounts).sum(axis=1), dtype=np.int64).ravel()
    return result
