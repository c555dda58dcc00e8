"""Kernels that compare pairs of baskets and pairs of goods."""

import numpy as np

from anoncup.geometry.arrays import FloatArray, IntArray
from anoncup.geometry.kernels.compilation import compile_loop


@compile_loop
def jaccard_matrix(  # noqa: PLR0917 - compiled code takes plain arrays by position
    starts: IntArray,
    goods: IntArray,
    amounts: IntArray,
    buyer_starts: IntArray,
    buyers: IntArray,
    buyer_amounts: IntArray,
    totals: IntArray,
) -> FloatArray:  # pragma: no cover - compiled
    """Return the Jaccard coefficient of every basket and customer, (baskets, customers); 1 if both are empty.

    Basket j contains ``goods[starts[j]:starts[j + 1]]`` with their ``amounts``. Good g was bought by
    ``buyers[buyer_starts[g]:buyer_starts[g + 1]]`` in ``buyer_amounts``; the customers have the ``totals``.
    """
    customers = totals.shape[0]
    coefficients = np.empty((starts.shape[0] - 1, customers))
    shared = np.empty(customers, dtype=np.int64)
    for basket in range(coefficients.shape[0]):
        shared[:] = 0
        total = 0
        for entry in range(starts[basket], starts[basket + 1]):
            good, amount = goods[entry], amounts[entry]
            total += amount
            if good + 1 >= buyer_starts.shape[0]:
                continue
            for purchase in range(buyer_starts[good], buyer_starts[good + 1]):
                shared[buyers[purchase]] += min(amount, buyer_amounts[purchase])
        for customer in range(customers):
            union = total + totals[customer] - shared[customer]
            coefficients[basket, customer] = shared[customer] / union if union > 0 else 1.0
    return coefficients


@compile_loop
def find_largest_products(  # noqa: PLR0917 - compiled code takes plain arrays by position
    starts: IntArray,
    columns: IntArray,
    weights: FloatArray,
    other_starts: IntArray,
    other_columns: IntArray,
    other_weights: FloatArray,
    norms: FloatArray,
    tie_ratio: float,
) -> IntArray:  # pragma: no cover - compiled
    """Return the column of the largest entry in each row of a product of two sparse tables, or -1.

    Entries of the product are divided by the ``norms`` (columns,) of their columns. If none is above 0, the
    result is -1. Entries of at least ``tie_ratio`` times the largest are ties, which go to the lowest column.
    """
    best_columns = np.full(starts.shape[0] - 1, -1, dtype=np.int64)
    sums = np.empty(norms.shape[0])
    for row in range(best_columns.shape[0]):
        sums[:] = 0.0
        for entry in range(starts[row], starts[row + 1]):
            column_index, weight = columns[entry], weights[entry]
            for other_entry in range(other_starts[column_index], other_starts[column_index + 1]):
                sums[other_columns[other_entry]] += weight * other_weights[other_entry]
        largest = 0.0
        for column in range(sums.shape[0]):
            sums[column] /= norms[column]
            largest = max(largest, sums[column])
        column = 0
        while largest > 0.0 and sums[column] < largest * tie_ratio:
            column += 1
        if largest > 0.0:
            best_columns[row] = column
    return best_columns


PAIR_MASK, NIBBLE_MASK, BYTE_MASK = 0x5555555555555555, 0x3333333333333333, 0x0F0F0F0F0F0F0F0F
_BYTE_ONES = 0x0101010101010101


@compile_loop
def count_bits(word: np.uint64) -> int:  # pragma: no cover - compiled
    """Return the number of set bits, by adding up neighbouring pairs, nibbles and bytes."""
    word = word - ((word >> np.uint64(1)) & np.uint64(PAIR_MASK))
    word = (word & np.uint64(NIBBLE_MASK)) + ((word >> np.uint64(2)) & np.uint64(NIBBLE_MASK))
    word = (word + (word >> np.uint64(4))) & np.uint64(BYTE_MASK)
    return int((word * np.uint64(_BYTE_ONES)) >> np.uint64(56))


@compile_loop
def cosine_gaps(  # noqa: PLR0917 - compiled code takes plain arrays by position
    first: IntArray,
    second: IntArray,
    reference_cosines: FloatArray,
    norms: FloatArray,
    buyer_starts: IntArray,
    buyers: IntArray,
    customers: int,
) -> FloatArray:  # pragma: no cover - compiled
    """Return the absolute difference between the cosine of each pair of goods and a reference, (pairs,).

    The cosine is the number of customers who bought both goods, divided by the product of their ``norms``
    (goods,), at least by 1.
    """
    words = (customers + 63) // 64
    bits = np.zeros((buyer_starts.shape[0] - 1, words), dtype=np.uint64)
    for good in range(bits.shape[0]):
        for buyer in buyers[buyer_starts[good] : buyer_starts[good + 1]]:
            bits[good, buyer // 64] |= np.uint64(1) << np.uint64(buyer % 64)
    differences = np.empty(first.shape[0])
    for pair in range(first.shape[0]):
        good_a, good_b, common = first[pair], second[pair], 0
        for word in range(words):
            common += count_bits(bits[good_a, word] & bits[good_b, word])
        differences[pair] = abs(reference_cosines[pair] - common / max(norms[good_a] * norms[good_b], 1.0))
    return differences
