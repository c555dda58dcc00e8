"""What an anonymized table of transactions lost (PWS Cup 2016; P2 §5, P3 §4.3). 0 is best everywhere.

All are finite for every finite table and do not depend on the order of the rows.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from anoncup.geometry.arrays import FloatArray, IntArray, SparseCounts
from anoncup.geometry.encoding import Vocabulary, group_rows
from anoncup.geometry.kernels.baskets import cosine_gaps, goods_bought_together
from anoncup.geometry.stable_sums import restored
from anoncup.tracks.memo import once
from anoncup.tracks.transactions.baskets import TIE, parts
from anoncup.tracks.transactions.files import MASTER
from anoncup.tracks.transactions.release import History, PreparedTransactions, TransactionRelease, last_day
from anoncup.tracks.transactions.spending import (
    Table,
    has_rows,
    last_days,
    mean_prices,
    receipts,
    room_of,
    spends,
)

LISTED_GOODS = 100
"""How many goods ``top_goods`` compares."""
CLASSES = 10
"""Classes of each of R, F and M."""


def cmae_price(release: TransactionRelease) -> float:
    """U1-cMAE: mean difference of the cells' mean prices in the cross-table sex by country; in money, >= 0.

    A customer's price is the mean of the unit prices in his rows, a cell's the mean over its customers that
    have rows; an empty cell counts 0. Cells: the sexes times the countries that occur in M or M'.
    """
    return _cross_gap(release, mean_prices)


def cmae_spend(release: TransactionRelease) -> float:
    """U2-cMAE: as :func:`cmae_price` with every customer's total spend; in money, >= 0."""
    return _cross_gap(release, spends)


def rfm(release: TransactionRelease) -> float:
    """U3-RFM: mean difference of the counts in the 10 x 10 x 10 cells of recency, frequency and money; >= 0.

    Recency: days from the last purchase to the last date of the original T; frequency: receipts; money: total
    spend. A class is the number of deciles of the original customers below the value. A customer without rows
    is in no cell.
    """
    original, target = release.original, release.target
    tables: tuple[Table, Table] = (original, target)
    room = room_of(*tables)
    day = last_day(original)
    before, after = (_recency_frequency_money(table, day, room) for table in tables)
    cells = [np.zeros(len(table[0]), dtype=np.int64) for table in (before, after)]
    for values, others in zip(before, after, strict=True):
        cuts = deciles(values)
        for place, column in enumerate((values, others)):
            cells[place] = cells[place] * CLASSES + classes_above(column, cuts)
    counts = [np.bincount(cell, minlength=CLASSES**3) for cell in cells]
    return float(np.abs(counts[0] - counts[1]).sum()) / CLASSES**3


def row_difference(release: TransactionRelease) -> float:
    """|m' - m|, the difference of the numbers of transactions; >= 0."""
    return abs(signed_row_difference(release)["signed"])


def signed_row_difference(release: TransactionRelease) -> dict[str, float]:
    """m' - m: above 0 for dummies, below for deletions."""
    return {"signed": float(len(release.target.history.owner) - len(release.original.history.owner))}


def original_records(original: PreparedTransactions) -> float:
    """The scale of ``row_difference``: the number of original transactions."""
    return float(len(original.history.owner))


def goods_cosine(release: TransactionRelease) -> float:
    """How far the cosines of pairs of goods moved, relative to their sum, in [0, 1] (PWS Cup 2017, E1).

    Over the pairs of goods with a common buyer in T; the cosine of two goods is that of their columns in the
    table of who bought what at all. 0 where T has no such pair.
    """
    original = release.original
    pairs, before = once(original.kept, ("cosines",), lambda: _pair_cosines(original))
    total = float(before.sum())
    after = release.target.baskets[:, : original.baskets.shape[1]]
    gaps = cosine_gaps(*pairs, before, _lengths(after), *parts(after.tocsc())[:2], after.shape[0])
    return min(float(gaps.sum()) / total, 1.0) if total > 0 else 0.0


def top_goods(release: TransactionRelease) -> float:
    """Share of the 100 goods with the most buyers in T that are not among those of T'; in [0, 1].

    Equally many buyers: the lower goods id. Fewer than 100 goods in T: the share is of all of them.
    """
    original, target = release.original, release.target
    before = once(original.kept, ("top",), lambda: most_bought(original.baskets, original.words.goods))
    after = set(most_bought(target.baskets, target.words.goods))
    return sum(good not in after for good in before) / len(before)


def buyer_counts(baskets: SparseCounts) -> IntArray:
    """How many customers bought each good, (goods,)."""
    return np.bincount(baskets.indices, minlength=baskets.shape[1])


def deciles(values: FloatArray) -> FloatArray:
    """The 9 deciles by linear interpolation; exact where they fall on a value."""
    ordered = np.sort(values)
    cuts = []
    for tenth in range(1, CLASSES):
        place, part = divmod((len(ordered) - 1) * tenth, CLASSES)
        low, high = ordered[place], ordered[min(place + 1, len(ordered) - 1)]
        cuts.append(low + (high - low) * part / CLASSES if part else low)
    return np.array(cuts)


def classes_above(values: FloatArray, cuts: FloatArray) -> IntArray:
    """The number of cuts below each value; within rounding of a cut is not above it."""
    return np.asarray((values[:, None] > cuts + np.abs(cuts) * TIE).sum(axis=1), dtype=np.int64)


def most_bought(baskets: SparseCounts, words: Vocabulary) -> list[str]:
    """Up to 100 goods by number of buyers, most first; equally many: by id."""
    counts = zip(words, buyer_counts(baskets), strict=True)
    listed = sorted((-int(count), good) for good, count in counts if count)
    return [good for _, good in listed[:LISTED_GOODS]]


def _cross_gap(release: TransactionRelease, of: Callable[[History, int, int], FloatArray]) -> float:
    original, target = release.original, release.target
    tables: tuple[Table, Table] = (original, target)
    room = room_of(*tables)
    places = [MASTER.index(name) for name in ("sex", "country")]
    cells = group_rows(np.concatenate((original.master, target.master))[:, places])
    before, after = (
        _cell_means(part, has_rows(table), of(table.history, table.rows, room), cells.count)
        for part, table in zip(np.split(cells.group_of, [original.rows]), tables, strict=True)
    )
    total = float(np.abs(before - after).sum())
    for place in places:
        total /= len(target.words.master[place])
    return restored(total, room)


def _cell_means(cells: IntArray, there: npt.NDArray[np.bool_], values: FloatArray, count: int) -> FloatArray:
    """Every cell's mean of the values that are there, added in ascending order; an empty cell's is 0."""
    cells, values = cells[there], values[there]
    order = np.lexsort((values, cells))
    sums = np.bincount(cells[order], values[order], count)
    means: FloatArray = sums / np.maximum(np.bincount(cells, minlength=count), 1)
    return means


def _pair_cosines(original: PreparedTransactions) -> tuple[tuple[IntArray, IntArray], FloatArray]:
    """The pairs of goods with a common buyer, each once, and their cosines."""
    baskets, lengths = original.baskets, _lengths(original.baskets)
    *pair, common = goods_bought_together(*parts(baskets)[:2], *parts(baskets.tocsc())[:2])
    return (pair[0], pair[1]), common / (lengths[pair[0]] * lengths[pair[1]])


def _lengths(baskets: SparseCounts) -> FloatArray:
    """Of the column of each good in the table of who bought what at all, (goods,)."""
    return np.sqrt(buyer_counts(baskets).astype(np.float64))


def _recency_frequency_money(table: Table, day: int, room: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """R, F, M of the customers that have rows."""
    history, customers, there = table.history, table.rows, has_rows(table)
    last = last_days(history, customers)
    columns = (day - last, receipts(history, customers), spends(history, customers, room))
    recency, frequency, money = (column[there].astype(np.float64) for column in columns)
    return recency, frequency, money
