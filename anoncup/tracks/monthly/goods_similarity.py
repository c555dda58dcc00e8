"""Cosine similarity of goods by their buyers, and the distance between two tables of similarities.

Tables of amounts q are sparse, (goods, users). The cosine of two goods g and h is Σ q[g, u] q[h, u] over the
users u, divided by the square root of the product of their Σ q², or 0 if one of these is 0. (Item-based
collaborative filtering: Sarwar, Karypis, Konstan, Riedl, WWW 2001.)
"""

import numpy as np
from scipy.sparse import csr_array, triu

from anoncup.geometry.arrays import IntArray, SparseCounts, SparseWeights

_GOODS_PER_BLOCK = 512
"""Number of rows of the table of cosines that are held in memory at a time."""


def cosine_distance(
    original_amounts: SparseCounts, release_amounts: SparseCounts, *, goods_per_block: int = _GOODS_PER_BLOCK
) -> float:
    """Return min(1, Σ |a - c| / Σ a) over the pairs of goods with a > 0, in [0, 1]; 0 means no change.

    a are the cosines of ``original_amounts`` and c those of ``release_amounts``, both (goods, users). The
    result is 0 if Σ a is 0. Each pair is counted once, which gives the same quotient as ordered pairs.
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
