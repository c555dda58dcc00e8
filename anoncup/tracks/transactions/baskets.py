"""Similarity of customers by their purchases: Jaccard coefficients J, distances 1 - J, and TF-IDF weights.

``baskets`` (customers, goods) are the quantities of the goods that each customer bought. J compares the sets
of goods ("jaccard") or the quantities ("jaccard_quantity"). J of two empty baskets is 1, and J of an empty
basket and another one is 0 (P3 Definition 1; P2 §4.1). M is the original table of n customers, M' the
anonymized one of n' customers. ``anoncup.tracks`` lists the papers.
"""

from collections.abc import Iterator
from typing import Literal

import numpy as np
from scipy.sparse import coo_array, csr_array

from anoncup.geometry.arrays import FloatArray, IntArray, Sparse, SparseCounts, SparseWeights
from anoncup.geometry.kernels.baskets import SparseRows, find_largest_products, jaccard_matrix
from anoncup.tracks.memo import memoize
from anoncup.tracks.transactions.release import ScoredTransactions, TransactionOriginal

JaccardKind = Literal["jaccard", "jaccard_quantity"]

MAX_PAIRS_PER_BLOCK = 2**22
"""Largest number of pairs of customers that are compared at a time."""
TIE_TOLERANCE = 1e-12
"""Scores that differ by a smaller share of the larger one are ties, so that rounding does not decide."""


def iter_similarities(
    baskets: SparseCounts, original_baskets: SparseCounts, kind: JaccardKind, rows: IntArray | None = None
) -> Iterator[tuple[IntArray, FloatArray]]:
    """Yield blocks of rows of ``baskets`` (default: all) with their J to all customers of M, (rows, n)."""
    baskets, original_baskets = _select_amounts(baskets, kind), _select_amounts(original_baskets, kind)
    rows = np.arange(baskets.shape[0]) if rows is None else rows
    buyers, basket_sizes = unpack_sparse(original_baskets.T.tocsr()), sum_rows(original_baskets)
    step = max(MAX_PAIRS_PER_BLOCK // max(len(basket_sizes), 1), 1)
    for first in range(0, len(rows), step):
        block = rows[first : first + step]
        yield block, jaccard_matrix(unpack_sparse(baskets[block]), buyers, basket_sizes)


@memoize
def distance_matrix(original: TransactionOriginal, kind: JaccardKind) -> FloatArray:
    """Return 1 - J of every pair of customers of M, (n, n); symmetric, zeros on the diagonal."""
    blocks = iter_similarities(original.baskets, original.baskets, kind)
    return 1.0 - np.concatenate([block for _, block in blocks])


def pair_distances(
    original: TransactionOriginal, rows: IntArray, other_rows: IntArray, kind: JaccardKind
) -> FloatArray:
    """Return 1 - J of the customers ``rows[i]`` and ``other_rows[i]`` of M for every i."""
    return _compute_distances(original.baskets[rows], original.baskets[other_rows], kind)


def distances_to_source(release: ScoredTransactions, kind: JaccardKind) -> FloatArray:
    """Return 1 - J of every customer of M' and the same customer's basket in M, (n',), in [0, 1]."""
    baskets = release.target.baskets
    own_baskets = add_empty_columns(release.original.baskets[release.answer], baskets.shape[1])
    return _compute_distances(baskets, own_baskets, kind)


def distances_to_others(release: ScoredTransactions, kind: JaccardKind) -> FloatArray:
    """Return 1 - J of every customer of M' and the most similar other one of M, (n',); infinite if none."""
    return _find_nearest_others(release.target.baskets, release.original.baskets, kind, release.answer)


def nearest_other(original: TransactionOriginal, kind: JaccardKind) -> FloatArray:
    """Return 1 - J of every customer of M and the most similar other one, (n,); infinite if none."""
    return _find_nearest_others(original.baskets, original.baskets, kind, np.arange(original.rows))


def jaccard_coefficients(shared: IntArray, total: IntArray, other_total: IntArray) -> FloatArray:
    """Return shared / (total + other_total - shared), or 1 for two empty baskets."""
    union = total + other_total - shared
    result: FloatArray = np.where(union > 0, shared / np.maximum(union, 1), 1.0)
    return result


def find_best_columns(scores: FloatArray) -> IntArray:
    """Return the column of each row's largest score; ties within ``TIE_TOLERANCE`` go to the first column."""
    largest = scores.max(axis=1, keepdims=True)
    columns: IntArray = (scores >= largest * (1.0 - TIE_TOLERANCE)).argmax(axis=1)
    return columns


def compute_goods_weights(baskets: SparseCounts) -> FloatArray:
    """Return log(n / |D_j|) + 1 for each good j, (goods,), where D_j are its buyers (P3 Alg. 3, Step 2)."""
    return np.log(baskets.shape[0] / count_buyers(baskets)) + 1.0


def weigh_baskets(baskets: SparseCounts, goods_weights: FloatArray) -> SparseWeights:
    """Return the vectors u' of TF-IDF weights, scaled to length 1 for cosines (P3 Alg. 3, Step 2).

    The term frequency of P3 is the same for all goods of a basket, so this scale replaces it.
    """
    vectors = apply_weights(baskets, goods_weights)
    norms = np.sqrt(vectors.power(2).sum(axis=1))
    vectors.data /= np.repeat(norms, np.diff(vectors.indptr))
    return vectors


def sum_rows(table: SparseCounts) -> IntArray:
    sums: IntArray = table.sum(axis=1)
    return sums


def count_buyers(baskets: SparseCounts) -> IntArray:
    """Return how many customers bought each good, (goods,)."""
    return np.bincount(baskets.indices, minlength=baskets.shape[1])


def find_best_product_columns(table: Sparse, other_table: Sparse) -> IntArray:
    """Return the column of each row's largest entry in the product of two tables, (rows,).

    Ties are broken as in ``find_best_columns``; a row without an entry above 0 gets -1.
    """
    weights, other_weights = table.astype(np.float64), other_table.astype(np.float64)
    column_count, tie_ratio = other_table.shape[1], 1.0 - TIE_TOLERANCE
    return find_largest_products(
        unpack_sparse(weights), unpack_sparse(other_weights), column_count, tie_ratio
    )


def build_incidence_matrix(rows: IntArray, columns: IntArray, shape: tuple[int, int]) -> SparseCounts:
    """Return a matrix with a 1 at every pair (row, column) that occurs at least once."""
    return coo_array((np.ones_like(rows), (rows, columns)), shape=shape).tocsr().sign()


def add_empty_columns(baskets: SparseCounts, goods: int) -> SparseCounts:
    """Add columns for goods that nobody bought."""
    arrays = (baskets.data, baskets.indices, baskets.indptr)
    return csr_array(arrays, shape=(baskets.shape[0], goods))


def apply_weights(baskets: Sparse, weights: FloatArray) -> SparseWeights:
    """Replace every entry by the weight of its column."""
    arrays = (weights[baskets.indices], baskets.indices, baskets.indptr)
    return csr_array(arrays, shape=baskets.shape)


def unpack_sparse(table: Sparse) -> SparseRows:
    """Return the arrays of a sparse table with the types that the kernels require."""
    return SparseRows(
        starts=table.indptr.astype(np.int64), columns=table.indices.astype(np.int64), entries=table.data
    )


def _select_amounts(baskets: SparseCounts, kind: JaccardKind) -> SparseCounts:
    """Return the quantities or, for "jaccard", 1 for every good in the basket."""
    return baskets if kind == "jaccard_quantity" else baskets.sign()


def _compute_distances(baskets: SparseCounts, other_baskets: SparseCounts, kind: JaccardKind) -> FloatArray:
    """Return 1 - J of each basket and the other one in the same row."""
    baskets, other_baskets = _select_amounts(baskets, kind), _select_amounts(other_baskets, kind)
    shared = sum_rows(baskets.minimum(other_baskets))
    return 1.0 - jaccard_coefficients(shared, sum_rows(baskets), sum_rows(other_baskets))


def _find_nearest_others(
    baskets: SparseCounts, original_baskets: SparseCounts, kind: JaccardKind, own_rows: IntArray
) -> FloatArray:
    """Return 1 - J of each basket and the most similar one of M except ``own_rows``; infinite if none."""
    distances = np.full(len(own_rows), np.inf)
    for rows, similarities in iter_similarities(baskets, original_baskets, kind):
        similarities[np.arange(len(rows)), own_rows[rows]] = -np.inf
        distances[rows] = 1.0 - similarities.max(axis=1)
    return distances
