"""Likeness of customers by what they bought.

Set and multiset Jaccard coefficients J and distances 1 - J; J of two empty baskets is 1, of an empty and
another one 0 (P3 Definition 1; P2 §4.1).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy.sparse import csc_array, csr_array

from anoncup.geometry.arrays import FloatArray, IntArray, Sparse, SparseCounts, SparseWeights
from anoncup.geometry.kernels.baskets import coefficients_of_all, largest_products, most_alike
from anoncup.tracks.memo import once
from anoncup.tracks.transactions.release import PreparedTransactions, TransactionRelease, TransactionTarget

Kind = Literal["jaccard", "jaccard_quantity"]

BLOCK = 2**22
"""Pairs that are compared at a time."""
TIE = 1e-12
"""Scores this close, relative to the larger, are equal: rounding must not choose."""


@dataclass(frozen=True, slots=True)
class Searchable:
    """The customers of M as they are searched, those with the most purchases first.

    ``rows`` (n,): their numbers; ``totals`` (n,): their purchases; ``baskets`` (n, goods) and, by columns,
    ``buyers``.
    """

    rows: IntArray
    totals: IntArray
    baskets: SparseCounts
    buyers: "csc_array[np.int64]"


def most_similar(target: TransactionTarget, kind: Kind) -> IntArray:
    """The customer of M with the largest J for each of M', (n',).

    Ties to the lower row; an empty basket: abstain (-1).
    """
    after, before = _amounts(target.baskets, kind), _searchable(target.original, kind)
    spans = _through(wide(before.buyers.indptr), after.shape[1])
    order = _most_telling_first(after, np.diff(spans))
    starts, goods, amounts = parts(after)
    by_row = starts, goods[order], amounts[order]
    by_good = spans, *parts(before.buyers)[1:]
    return most_alike(*by_row, *by_good, *parts(before.baskets), before.totals, before.rows, 1.0 - TIE)


def similarities(
    target: TransactionTarget, kind: Kind, rows: IntArray | None = None
) -> Iterator[tuple[IntArray, FloatArray]]:
    """J of the given customers of M' (default: all) with all of M, by blocks of rows: (rows, (rows, n))."""
    baskets = _amounts(target.baskets, kind)
    original = _amounts(target.original.baskets, kind)
    return _blocks(baskets, original, np.arange(target.rows) if rows is None else rows)


def distance_matrix(original: PreparedTransactions, kind: Kind) -> FloatArray:
    """1 - J of every pair of customers of M, (n, n); symmetric, zeros on the diagonal."""

    def measure() -> FloatArray:
        baskets = _amounts(original.baskets, kind)
        blocks = [block for _, block in _blocks(baskets, baskets, np.arange(original.rows))]
        return 1.0 - np.concatenate(blocks)

    return once(original.kept, ("distances", kind), measure)


def pair_distances(
    original: PreparedTransactions, rows: IntArray, others: IntArray, kind: Kind
) -> FloatArray:
    """1 - J of the customers of M in ``rows`` and in ``others``, one by one."""
    baskets = _amounts(original.baskets, kind)
    first, second = baskets[rows], baskets[others]
    return 1.0 - coefficients(totals(first.minimum(second)), totals(first), totals(second))


def distances_to_source(release: TransactionRelease, kind: Kind) -> FloatArray:
    """1 - J of every customer of M' and his own basket in M, (n',), in [0, 1]."""
    after = _amounts(release.target.baskets, kind)
    before = widened(_amounts(release.original.baskets, kind)[release.source], after.shape[1])
    return 1.0 - coefficients(totals(after.minimum(before)), totals(after), totals(before))


def distances_to_others(release: TransactionRelease, kind: Kind) -> FloatArray:
    """1 - J of every customer of M' and the most similar customer of M but his own, (n',); none: infinite."""
    found = np.full(release.target.rows, np.inf)
    for rows, scores in similarities(release.target, kind):
        scores[np.arange(len(rows)), release.source[rows]] = -np.inf
        found[rows] = 1.0 - scores.max(axis=1)
    return found


def nearest_other(original: PreparedTransactions, kind: Kind) -> FloatArray:
    """1 - J of every customer of M and the most similar other one, (n,); one alone: infinite."""
    baskets = _amounts(original.baskets, kind)
    found = np.full(original.rows, np.inf)
    for rows, scores in _blocks(baskets, baskets, np.arange(original.rows)):
        scores[np.arange(len(rows)), rows] = -np.inf
        found[rows] = 1.0 - scores.max(axis=1)
    return found


def widened(baskets: SparseCounts, goods: int) -> SparseCounts:
    """The same baskets with more columns: goods that nobody bought."""
    parts = (baskets.data, baskets.indices, baskets.indptr)
    return csr_array(parts, shape=(baskets.shape[0], goods))


def weighted(baskets: Sparse, weights: FloatArray) -> SparseWeights:
    """The weight of its column in the place of every entry."""
    parts = (weights[baskets.indices], baskets.indices, baskets.indptr)
    return csr_array(parts, shape=baskets.shape)


def totals(baskets: SparseCounts) -> IntArray:
    """The sum of every row."""
    sums = np.concatenate(([0], np.cumsum(baskets.data)))
    return np.diff(sums[baskets.indptr])


def coefficients(shared: IntArray, total: IntArray, other: IntArray) -> FloatArray:
    """shared / (total + other - shared); of two empty baskets 1."""
    union = total + other - shared
    found: FloatArray = np.where(union > 0, shared / np.maximum(union, 1), 1.0)
    return found


def parts(table: Any) -> tuple[IntArray, IntArray, Any]:
    """Starts, places and entries of a sparse table, as the kernels take them."""
    return wide(table.indptr), wide(table.indices), table.data


def best_products(table: SparseWeights, other: SparseWeights, lengths: FloatArray) -> IntArray:
    """The column of the largest entry of each row of the matrix product, over the ``lengths`` (columns,).

    Ties as in :func:`best`; a row without an entry above 0: abstain (-1).
    """
    return largest_products(*parts(table), *parts(other), lengths, 1.0 - TIE)


def wide(array: npt.NDArray[np.signedinteger]) -> IntArray:
    """Indices as the kernels take them."""
    return np.asarray(array, dtype=np.int64)


def best(scores: FloatArray) -> IntArray:
    """The place of each row's largest score; scores within ``TIE`` are equal, the lowest place wins."""
    largest = scores.max(axis=1, keepdims=True)
    found: IntArray = (scores >= largest * (1.0 - TIE)).argmax(axis=1)
    return found


def _blocks(
    baskets: SparseCounts, original: SparseCounts, rows: IntArray
) -> Iterator[tuple[IntArray, FloatArray]]:
    by_good, bought = parts(original.tocsc()), totals(original)
    step = max(BLOCK // max(len(bought), 1), 1)
    for first in range(0, len(rows), step):
        chosen = rows[first : first + step]
        yield chosen, coefficients_of_all(*parts(baskets[chosen]), *by_good, bought)


def _searchable(original: PreparedTransactions, kind: Kind) -> Searchable:
    def derive() -> Searchable:
        baskets = _amounts(original.baskets, kind)
        bought = totals(baskets)
        rows = np.argsort(-bought, kind="stable")
        descending = baskets[rows]
        return Searchable(rows, bought[rows], descending, descending.tocsc())

    return once(original.kept, ("searchable", kind), derive)


def _through(spans: IntArray, goods: int) -> IntArray:
    """Ends of columns, with empty ones for goods that nobody bought."""
    return np.concatenate((spans, np.full(goods + 1 - len(spans), spans[-1])))


def _most_telling_first(baskets: SparseCounts, buyers: IntArray) -> IntArray:
    """The entries of each basket in the order of how many buyers there are to look at for each purchase."""
    cost = (buyers[baskets.indices] / baskets.data).astype(np.float32).view(np.int32)  # ordered as the floats
    return np.argsort(np.repeat(np.arange(baskets.shape[0]) << 32, np.diff(baskets.indptr)) | cost)


def _amounts(baskets: SparseCounts, kind: Kind) -> SparseCounts:
    """Quantities, or 1 for every good in the basket."""
    return baskets if kind == "jaccard_quantity" else baskets.sign()
