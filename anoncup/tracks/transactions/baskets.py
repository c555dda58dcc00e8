"""Similarity of customers by their purchases: Jaccard coefficients J and distances 1 - J.

J compares the sets of goods ("jaccard") or the quantities ("jaccard_quantity"). J of two empty baskets is 1,
and J of an empty basket and another one is 0 (P3 Definition 1; P2 §4.1). M is the original table of n
customers, M' the anonymized one of n' customers. ``anoncup.tracks`` lists the papers.
"""

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from anoncup.geometry.arrays import FloatArray, IntArray, Sparse, SparseCounts, SparseWeights
from anoncup.geometry.kernels.baskets import find_largest_products, jaccard_matrix
from anoncup.tracks.memo import memoize
from anoncup.tracks.transactions.release import ScoredTransactions, TransactionOriginal, TransactionTarget

JaccardKind = Literal["jaccard", "jaccard_quantity"]

MAX_PAIRS_PER_BLOCK = 2**22
"""Largest number of pairs of customers that are compared at a time."""
TIE_TOLERANCE = 1e-12
"""Scores that differ by a smaller share of the larger one are ties, so that rounding does not decide."""


def find_most_similar(target: TransactionTarget, kind: JaccardKind) -> IntArray:
    """Return the customer of M with the largest J for each customer of M', (n',).

    Ties go to the first row of M; customers with an empty basket abstain (-1).
    """
    guess = np.full(target.baskets.shape[0], -1)
    for rows, scores in iter_similarities(target, kind, np.flatnonzero(np.diff(target.baskets.indptr))):
        guess[rows] = find_best_columns(scores)
    return guess


def iter_similarities(
    target: TransactionTarget, kind: JaccardKind, rows: IntArray | None = None
) -> Iterator[tuple[IntArray, FloatArray]]:
    """Yield blocks of rows of M' (default: all) with their J to all customers of M, (rows, n)."""
    baskets = _select_amounts(target.baskets, kind)
    original = _select_amounts(target.original.baskets, kind)
    return _iter_blocks(baskets, original, np.arange(target.rows) if rows is None else rows)


def _iter_own_similarities(
    original: TransactionOriginal, kind: JaccardKind, rows: IntArray
) -> Iterator[tuple[IntArray, FloatArray]]:
    """Yield blocks of rows of M with their J to all customers of M, (rows, n)."""
    baskets = _select_amounts(original.baskets, kind)
    return _iter_blocks(baskets, baskets, rows)


@memoize
def distance_matrix(original: TransactionOriginal, kind: JaccardKind) -> FloatArray:
    """Return 1 - J of every pair of customers of M, (n, n); symmetric, zeros on the diagonal."""
    blocks = _iter_own_similarities(original, kind, np.arange(original.rows))
    return 1.0 - np.concatenate([block for _, block in blocks])


def pair_distances(
    original: TransactionOriginal, rows: IntArray, other_rows: IntArray, kind: JaccardKind
) -> FloatArray:
    """Return 1 - J of the customers ``rows[i]`` and ``other_rows[i]`` of M for every i."""
    baskets = _select_amounts(original.baskets, kind)
    first_baskets, second_baskets = baskets[rows], baskets[other_rows]
    return 1.0 - jaccard_coefficients(
        sum_rows(first_baskets.minimum(second_baskets)), sum_rows(first_baskets), sum_rows(second_baskets)
    )


def distances_to_source(release: ScoredTransactions, kind: JaccardKind) -> FloatArray:
    """Return 1 - J of every customer of M' and the same customer's basket in M, (n',), in [0, 1]."""
    release_baskets = _select_amounts(release.target.baskets, kind)
    own_baskets = add_empty_columns(
        _select_amounts(release.original.baskets, kind)[release.answer], release_baskets.shape[1]
    )
    return 1.0 - jaccard_coefficients(
        sum_rows(release_baskets.minimum(own_baskets)), sum_rows(release_baskets), sum_rows(own_baskets)
    )


def distances_to_others(release: ScoredTransactions, kind: JaccardKind) -> FloatArray:
    """Return 1 - J of every customer of M' and the most similar other one of M, (n',); infinite if none."""
    distances = np.full(release.target.rows, np.inf)
    for rows, scores in iter_similarities(release.target, kind):
        scores[np.arange(len(rows)), release.answer[rows]] = -np.inf
        distances[rows] = 1.0 - scores.max(axis=1)
    return distances


def nearest_other(original: TransactionOriginal, kind: JaccardKind) -> FloatArray:
    """Return 1 - J of every customer of M and the most similar other one, (n,); infinite if none."""
    distances = np.full(original.rows, np.inf)
    for rows, scores in _iter_own_similarities(original, kind, np.arange(original.rows)):
        scores[np.arange(len(rows)), rows] = -np.inf
        distances[rows] = 1.0 - scores.max(axis=1)
    return distances


def add_empty_columns(baskets: SparseCounts, goods: int) -> SparseCounts:
    """Add columns for goods that nobody bought."""
    arrays = (baskets.data, baskets.indices, baskets.indptr)
    return csr_array(arrays, shape=(baskets.shape[0], goods))


def apply_weights(baskets: Sparse, weights: FloatArray) -> SparseWeights:
    """Replace every entry by the weight of its column."""
    arrays = (weights[baskets.indices], baskets.indices, baskets.indptr)
    return csr_array(arrays, shape=baskets.shape)


def sum_rows(baskets: SparseCounts) -> IntArray:
    """Return the sum of every row."""
    cumulative_sums = np.concatenate(([0], np.cumsum(baskets.data)))
    return np.diff(cumulative_sums[baskets.indptr])


def jaccard_coefficients(shared: IntArray, total: IntArray, other_total: IntArray) -> FloatArray:
    """Return shared / (total + other_total - shared), or 1 for two empty baskets."""
    union = total + other_total - shared
    result: FloatArray = np.where(union > 0, shared / np.maximum(union, 1), 1.0)
    return result


def unpack_sparse(table: Any) -> tuple[IntArray, IntArray, Any]:
    """Return the row starts, column indices and entries of a sparse table for the kernels."""
    return _convert_to_int64(table.indptr), _convert_to_int64(table.indices), table.data


def find_best_product_columns(
    table: SparseWeights, other_table: SparseWeights, norms: FloatArray
) -> IntArray:
    """Return the column of each row's largest entry in the matrix product divided by ``norms`` (columns,).

    Ties are broken as in :func:`find_best_columns`; a row without an entry above 0 gets -1.
    """
    return find_largest_products(
        *unpack_sparse(table), *unpack_sparse(other_table), norms, 1.0 - TIE_TOLERANCE
    )


def _convert_to_int64(array: npt.NDArray[np.signedinteger]) -> IntArray:
    """Convert indices to the type that the kernels require."""
    return np.asarray(array, dtype=np.int64)


def find_best_columns(scores: FloatArray) -> IntArray:
    """Return the column of each row's largest score; ties within ``TIE_TOLERANCE`` go to the first column."""
    largest = scores.max(axis=1, keepdims=True)
    columns: IntArray = (scores >= largest * (1.0 - TIE_TOLERANCE)).argmax(axis=1)
    return columns


def _iter_blocks(
    baskets: SparseCounts, original: SparseCounts, rows: IntArray
) -> Iterator[tuple[IntArray, FloatArray]]:
    original_columns, basket_sizes = unpack_sparse(original.tocsc()), sum_rows(original)
    step = max(MAX_PAIRS_PER_BLOCK // max(len(basket_sizes), 1), 1)
    for first in range(0, len(rows), step):
        block_rows = rows[first : first + step]
        yield block_rows, jaccard_matrix(*unpack_sparse(baskets[block_rows]), *original_columns, basket_sizes)


def _select_amounts(baskets: SparseCounts, kind: JaccardKind) -> SparseCounts:
    """Return the quantities or, for "jaccard", 1 for every good in the basket."""
    return baskets if kind == "jaccard_quantity" else baskets.sign()
