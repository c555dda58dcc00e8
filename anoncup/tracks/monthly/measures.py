"""What a release of the monthly track loses: each measure lies in [0, 1], and 0 is best.

q[g, u] is the summed quantity of good g by user u; users are customers in T and pseudonyms in AT, goods those
of T. (After the utility measures of PWS Cup 2017.)
"""

from collections.abc import Callable
from math import fsum

import numpy as np
from scipy.sparse import coo_array, csr_array

from anoncup.geometry.arrays import BoolArray, FloatArray, IntArray, SparseCounts
from anoncup.geometry.encoding import encode, numbered, texts
from anoncup.tracks.memo import once
from anoncup.tracks.monthly.goods_similarity import distance
from anoncup.tracks.monthly.original import Original, Records
from anoncup.tracks.monthly.release import Release

LEVELS = np.array([12, 24, 36, 48, 60, 72])
MOST_SMALL = 11
TOP = 100
LONGEST_MONTH = 31


def itemcf_levels(release: Release) -> float:
    """How far cosines of goods move, of each q the number of thresholds 12, 24, ... 72 that it reaches."""
    return _moved(release, lambda amounts: np.searchsorted(LEVELS, amounts, side="right"))


def itemcf_small(release: Release) -> float:
    """How far cosines of goods move if a q above 11 counts 0."""
    return _moved(release, lambda amounts: np.where(amounts <= MOST_SMALL, amounts, 0))


def top_goods(release: Release) -> float:
    """Return |top100(T) \\ top100(AT)| / 100; 0 if T has at most a hundred goods.

    All goods of T are ranked in both tables, so goods that nobody has any more fill the hundred of AT.
    """
    before, after = (top_100(amounts) for amounts in _amounts(release))
    return len(np.setdiff1d(before, after)) / TOP


def top_cf(release: Release) -> float:
    """How far cosines of T's top goods move, a good bought counting 1."""
    before, after = _amounts(release)
    top = top_100(before)
    return distance(_replaced(before[top], np.sign), _replaced(after[top], np.sign))


def date_shift(release: Release) -> float:
    """Σ |days moved| over kept rows / (31 · rows of T)."""
    before, after = release.original.records, release.records
    days = np.abs(after.day - before.day)[after.kept].sum()
    return int(days) / (LONGEST_MONTH * after.rows)


def price_ratio(release: Release) -> float:
    """Σ (1 - min / max of the prices before and after) over kept rows / rows of T; 0 where both are 0."""
    kept, rows = release.records.kept, release.records.rows
    before, after = release.original.records.price[kept], release.records.price[kept]
    low, high = np.minimum(before, after), np.maximum(before, after)
    ratio: FloatArray = np.divide(low, high, out=np.ones_like(low), where=high > 0)
    return fsum((1 - ratio).tolist()) / rows


def deleted(release: Release) -> float:
    """1 - kept rows / rows of T."""
    gone = np.count_nonzero(~release.records.kept)
    return int(gone) / release.records.rows


Counts = Callable[[IntArray], IntArray]


def _moved(release: Release, counts: Counts) -> float:
    before, after = _amounts(release)
    return distance(_replaced(before, counts), _replaced(after, counts))


def _amounts(release: Release) -> tuple[SparseCounts, SparseCounts]:
    """q of T and of AT, (goods, users); goods ascend by id, as texts do."""
    original = release.original
    before = once(
        original.memo, ("amounts",), lambda: _summed(original, original.records, original.records.kept)
    )
    after = once(release.memo, ("amounts",), lambda: _summed(original, release.records, release.records.kept))
    return before, after


def _summed(original: Original, records: Records, kept: BoolArray) -> SparseCounts:
    rows = records.cells[kept]
    places = {good: place for place, good in enumerate(sorted(set(texts(original.records.cells, "good"))))}
    users, names = numbered(rows["customer"])
    goods = encode(texts(rows, "good"), places)
    entries = (records.quantity[kept], (goods, users))
    return coo_array(entries, shape=(len(places), len(names))).tocsr()


def _replaced(amounts: SparseCounts, counts: Counts) -> SparseCounts:
    """Every q replaced by what it counts; zeros are left out."""
    found = csr_array(
        (counts(amounts.data).astype(np.int64), amounts.indices, amounts.indptr),
        shape=amounts.shape,
        copy=True,
    )
    found.eliminate_zeros()
    return found


def top_100(amounts: SparseCounts) -> IntArray:
    """Return the first 100 of all goods, used or not, by (number of users, id) descending."""
    users = np.diff(amounts.indptr)
    return np.lexsort((np.arange(len(users)), users))[::-1][:TOP]
