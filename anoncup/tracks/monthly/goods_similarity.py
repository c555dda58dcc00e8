"""How similar goods are by who buys them, and how far two such tables are from each other.

Tables of amounts q are sparse, (goods, users); the cosine of two goods is Σ q[g, u] q[h, u] over users by the
root of the product of Σ q² of either, and 0 where one of these is 0. (Item-based collaborative filtering:
Sarwar, Karypis, Konstan, Riedl, WWW 2001.)
"""

import numpy as np
from scipy.sparse import csr_array, triu

from anoncup.geometry.arrays import IntArray, SparseCounts, SparseWeights

GOODS_AT_ONCE = 512
"""Rows of a table of cosines that are held in memory."""


def distance(before: SparseCounts, after: SparseCounts, *, at_once: int = GOODS_AT_ONCE) -> float:
    """min(1, Σ |a - c| / Σ a) over the pairs of goods with a > 0, in [0, 1]: 0, alike, is best.

    a are the cosines of ``before``, c those of ``after``, (goods, users of either); 0 if Σ a is 0. Each pair
    is taken once, which leaves the quotient over ordered pairs as it is.
    """
    apart = total = 0.0
    for first in range(0, before.shape[0], at_once):
        a, c = (cosines(amounts, first, first + at_once) for amounts in (before, after))
        apart += float(abs(a - c.multiply(a > 0)).sum())
        total += float(a.sum())
    return min(1.0, apart / total) if total else 0.0


def cosines(amounts: SparseCounts, first: int, end: int) -> SparseWeights:
    """The cosines of the goods ``first`` to ``end`` (excluded) with the goods after each, (some, goods).

    Products and squares are sums of whole numbers: nothing depends on the order of the users.
    """
    squares = squared(amounts)
    dots = triu(amounts[first:end] @ amounts.T, k=first + 1, format="coo")
    rows, columns = dots.coords
    values = dots.data / np.sqrt(squares[rows + first] * squares[columns])
    return csr_array((values, (rows, columns)), shape=dots.shape)


def squared(amounts: SparseCounts) -> IntArray:
    """Σ q² of every good, (goods,)."""
    found: IntArray = np.asarray(amounts.multiply(amounts).sum(axis=1), dtype=np.int64).ravel()
    return found
