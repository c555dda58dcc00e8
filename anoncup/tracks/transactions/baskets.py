"""Similarity of customers by their purchases.

Set and multiset Jaccard coefficients J and distances 1 - J. J of two empty baskets is 1; J of an empty basket
and another one is 0 (P3 Definition 1; P2 §4.1).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy.sparse import csc_array, csr_array

from anoncup.geometry.arrays import FloatArray, IntArray, Sparse, SparseCounts, SparseWeights
from anoncup.geometry.kernels.baskets import (
    find_largest_products,
    find_most_similar_customers,
    jaccard_matrix,
)
from anoncup.tracks.memo import memoize
from anoncup.tracks.transactions.release import PreparedTransactions, TransactionRelease, TransactionTarget

JaccardKind = Literal["jaccard", "jaccard_quantity"]

MAX_PAIRS_PER_BLOCK = 2**22
"""Number of pairs compared at a time."""
TIE_TOLERANCE = 1e-12
"""Scores this close, relative to the larger, are ties, so that rounding does not decide."""


@dataclass(frozen=True, slots=True)
class SearchableCustomers:
    """The customers of M arranged for the search, largest baskets first.

    ``rows`` (n,): their row numbers; ``totals`` (n,): the sizes of their baskets; ``baskets`` (n, goods), and
    the same by columns, ``buyers``.
    """

    rows: IntArray
    totals: IntArray
    baskets: SparseCounts
    buyers: "csc_array[np.int64]"


def find_most_similar(target: TransactionTarget, kind: JaccardKind) -> IntArray:
    """Return the customer of M with the largest J for each customer of M', (n',).

    Ties go to the lower row; an empty basket abstains (-1).
    """
    released, searchable = _select_amounts(target.baskets, kind), _build_searchable(target.original, kind)
    column_ends = _extend_column_ends(convert_to_int64(searchable.buyers.indptr), released.shape[1])
    order = _order_by_search_cost(released, np.diff(column_ends))
    starts, goods, amounts = unpack_sparse(released)
    released_rows = starts, goods[order], amounts[order]
    original_columns = column_ends, *unpack_sparse(searchable.buyers)[1:]
    return find_most_similar_customers(
        *released_rows,
        *original_columns,
        *unpack_sparse(searchable.baskets),
        searchable.totals,
        searchable.rows,
        1.0 - TIE_TOLERANCE,
    )


def iter_similarities(
    target: TransactionTarget, kind: JaccardKind, rows: IntArray | None = None
) -> Iterator[tuple[IntArray, FloatArray]]:
    """Yield J of the given customers of M' (default: all) with all of M, in blocks: (rows, (rows, n))."""
    baskets = _select_amounts(target.baskets, kind)
    original = _select_amounts(target.original.baskets, kind)
    return _iter_blocks(baskets, original, np.arange(target.rows) if rows is None else rows)


def distance_matrix(original: PreparedTransactions, kind: JaccardKind) -> FloatArray:
    """Return 1 - J of every pair of customers of M, (n, n); symmetric, zeros on the diagonal."""

    def compute() -> FloatArray:
        baskets = _select_amounts(original.baskets, kind)
        blocks = [block for _, block in _iter_blocks(baskets, baskets, np.arange(original.rows))]
        return 1.0 - np.concatenate(blocks)

    return memoize(original.memo, ("distances", kind), compute)


def pair_distances(
    original: PreparedTransactions, rows: IntArray, other_rows: IntArray, kind: JaccardKind
) -> FloatArray:
    """Return 1 - J of the customers of M in ``rows`` and ``other_rows``, pair by pair."""
    baskets = _select_amounts(original.baskets, kind)
    first, second = baskets[rows], baskets[other_rows]
    return 1.0 - jaccard_coefficients(
        row_totals(first.minimum(second)), row_totals(first), row_totals(second)
    )


def distances_to_source(release: TransactionRelease, kind: JaccardKind) -> FloatArray:
    """Return 1 - J of every customer of M' and his own basket in M, (n',), in [0, 1]."""
    released = _select_amounts(release.target.baskets, kind)
    own_baskets = widen(_select_amounts(release.original.baskets, kind)[release.source], released.shape[1])
    return 1.0 - jaccard_coefficients(
        row_totals(released.minimum(own_baskets)), row_totals(released), row_totals(own_baskets)
    )


def distances_to_others(release: TransactionRelease, kind: JaccardKind) -> FloatArray:
    """Return 1 - J of every customer of M' and the most similar other one of M, (n',); none: infinite."""
    distances = np.full(release.target.rows, np.inf)
    for rows, scores in iter_similarities(release.target, kind):
        scores[np.arange(len(rows)), release.source[rows]] = -np.inf
        distances[rows] = 1.0 - scores.max(axis=1)
    return distances


def nearest_other(original: PreparedTransactions, kind: JaccardKind) -> FloatArray:
    """Return 1 - J of every customer of M and the most similar other one, (n,); none: infinite."""
    baskets = _select_amounts(original.baskets, kind)
    distances = np.full(original.rows, np.inf)
    for rows, scores in _iter_blocks(baskets, baskets, np.arange(original.rows)):
        scores[np.arange(len(rows)), rows] = -np.inf
        distances[rows] = 1.0 - scores.max(axis=1)
    return distances


def widen(baskets: SparseCounts, goods: int) -> SparseCounts:
    """Add columns for goods that nobody bought."""
    arrays = (baskets.data, baskets.indices, baskets.indptr)
    return csr_array(arrays, shape=(baskets.shape[0], goods))


def apply_weights(baskets: Sparse, weights: FloatArray) -> SparseWeights:
    """Replace every entry by the weight of its column."""
    arrays = (weights[baskets.indices], baskets.indices, baskets.indptr)
    return csr_array(arrays, shape=baskets.shape)


def row_totals(baskets: SparseCounts) -> IntArray:
    """Return the sum of every row."""
    cumulative = np.concatenate(([0], np.cumsum(baskets.data)))
    return np.diff(cumulative[baskets.indptr])


def jaccard_coefficients(shared: IntArray, total: IntArray, other_total: IntArray) -> FloatArray:
    """Return shared / (total + other - shared); 1 for two empty baskets."""
    union = total + other_total - shared
    result: FloatArray = np.where(union > 0, shared / np.maximum(union, 1), 1.0)
    return result


def unpack_sparse(table: Any) -> tuple[IntArray, IntArray, Any]:
    """Return row starts, column indices and entries of a sparse table, as the kernels take them."""
    return convert_to_int64(table.indptr), convert_to_int64(table.indices), table.data


def find_best_products(table: SparseWeights, other_table: SparseWeights, norms: FloatArray) -> IntArray:
    """Return the column of each row's largest entry in the matrix product divided by ``norms`` (columns,).

    Ties as in :func:`find_best`; a row without an entry above 0 abstains (-1).
    """
    return find_largest_products(
        *unpack_sparse(table), *unpack_sparse(other_table), norms, 1.0 - TIE_TOLERANCE
    )


def convert_to_int64(array: npt.NDArray[np.signedinteger]) -> IntArray:
    """Convert indices to the type that the kernels take."""
    return np.asarray(array, dtype=np.int64)


def find_best(scores: FloatArray) -> IntArray:
    """Return the column of each row's largest score; ties (``TIE_TOLERANCE``): the lowest column."""
    largest = scores.max(axis=1, keepdims=True)
    columns: IntArray = (scores >= largest * (1.0 - TIE_TOLERANCE)).argmax(axis=1)
    return columns


def _iter_blocks(
    baskets: SparseCounts, original: SparseCounts, rows: IntArray
) -> Iterator[tuple[IntArray, FloatArray]]:
    original_columns, basket_sizes = unpack_sparse(original.tocsc()), row_totals(original)
    step = max(MAX_PAIRS_PER_BLOCK // max(len(basket_sizes), 1), 1)
    for first in range(0, len(rows), step):
        block_rows = rows[first : first + step]
        yield block_rows, jaccard_matrix(*unpack_sparse(baskets[block_rows]), *original_columns, basket_sizes)


def _build_searchable(original: PreparedTransactions, kind: JaccardKind) -> SearchableCustomers:
    def build() -> SearchableCustomers:
        baskets = _select_amounts(original.baskets, kind)
        basket_sizes = row_totals(baskets)
        rows = np.argsort(-basket_sizes, kind="stable")
        descending = baskets[rows]
        return SearchableCustomers(rows, basket_sizes[rows], descending, descending.tocsc())

    return memoize(original.memo, ("searchable", kind), build)


def _extend_column_ends(column_ends: IntArray, goods: int) -> IntArray:
    """Extend the column ends by empty columns for goods that nobody bought."""
    return np.concatenate((column_ends, np.full(goods + 1 - len(column_ends), column_ends[-1])))


def _order_by_search_cost(baskets: SparseCounts, buyer_counts: IntArray) -> IntArray:
    """Sort the entries of each basket by the number of buyers to search per purchase."""
    # Positive floats sort like their bits.
    cost = (buyer_counts[baskets.indices] / baskets.data).astype(np.float32).view(np.int32)
    return np.argsort(np.repeat(np.arange(baskets.shape[0]) << 32, np.diff(baskets.indptr)) | cost)


def _select_amounts(baskets: SparseCounts, kind: JaccardKind) -> SparseCounts:
    """Return quantities, or 1 for every good in the basket."""
    return baskets if kind == "jaccard_quantity" else baskets.sign()
