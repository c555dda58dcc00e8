"""Kernels that compare pairs of baskets and pairs of goods."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from anoncup.geometry.arrays import FloatArray, IntArray
from anoncup.geometry.kernels.compilation import compile_loop


class SparseRows(NamedTuple):
    """A sparse table: row i has ``entries[starts[i]:starts[i + 1]]`` in the ``columns`` at these places."""

    starts: IntArray
    columns: IntArray
    entries: npt.NDArray[Any]


@compile_loop
def jaccard_matrix(
    baskets: SparseRows, buyers: SparseRows, basket_sizes: IntArray
) -> FloatArray:  # pragma: no cover - compiled
    """Return the Jaccard coefficient of every basket and customer, (baskets, customers); 1 if both are empty.

    ``baskets`` has the amount of each good in each basket, ``buyers`` the amount that each customer bought of
    each good, by good. The customers' own baskets have the ``basket_sizes`` (customers,).
    """
    customers = basket_sizes.shape[0]
    coefficients = np.empty((baskets.starts.shape[0] - 1, customers))
    shared = np.empty(customers, dtype=np.int64)
    for basket in range(coefficients.shape[0]):
        shared[:] = 0
        total = 0
        for entry in range(baskets.starts[basket], baskets.starts[basket + 1]):
            good, amount = baskets.columns[entry], baskets.entries[entry]
            total += amount
            if good + 1 >= buyers.starts.shape[0]:
                continue
            for purchase in range(buyers.starts[good], buyers.starts[good + 1]):
                shared[buyers.columns[purchase]] += min(amount, buyers.entries[purchase])
        for customer in range(customers):
            union = total + basket_sizes[customer] - shared[customer]
            coefficients[basket, customer] = shared[customer] / union if union > 0 else 1.0
    return coefficients


@compile_loop
def find_largest_products(
    table: SparseRows, other_table: SparseRows, column_count: int, tie_ratio: float
) -> IntArray:  # pragma: no cover - compiled
    """Return the column of the largest entry in each row of a product of two sparse tables, or -1.

    If no entry is above 0, the result is -1. Entries of at least ``tie_ratio`` times the largest are ties,
    which go to the lowest column.
    """
    best_columns = np.full(table.starts.shape[0] - 1, -1, dtype=np.int64)
    sums = np.empty(column_count)
    for row in range(best_columns.shape[0]):
        sums[:] = 0.0
        for entry in range(table.starts[row], table.starts[row + 1]):
            other_row, weight = table.columns[entry], table.entries[entry]
            for other_entry in range(other_table.starts[other_row], other_table.starts[other_row + 1]):
                sums[other_table.columns[other_entry]] += weight * other_table.entries[other_entry]
        largest = 0.0
        for column in range(column_count):
            largest = max(largest, sums[column])
        column = 0
        while largest > 0.0 and sums[column] < largest * tie_ratio:
            column += 1
        if largest > 0.0:
            best_columns[row] = column
    return best_columns


_PAIR_MASK, _NIBBLE_MASK, _BYTE_MASK = 0x5555555555555555, 0x3333333333333333, 0x0F0F0F0F0F0F0F0F
_BYTE_ONES = 0x0101010101010101


@compile_loop
def _count_bits(word: np.uint64) -> int:  # pragma: no cover - compiled
    """Return the number of set bits, by adding up neighbouring pairs, nibbles and bytes."""
    word = word - ((word >> np.uint64(1)) & np.uint64(_PAIR_MASK))
    word = (word & np.uint64(_NIBBLE_MASK)) + ((word >> np.uint64(2)) & np.uint64(_NIBBLE_MASK))
    word = (word + (word >> np.uint64(4))) & np.uint64(_BYTE_MASK)
    return int((word * np.uint64(_BYTE_ONES)) >> np.uint64(56))


@compile_loop
def count_common_buyers(
    buyers: SparseRows, customer_count: int, goods: IntArray, other_goods: IntArray
) -> IntArray:  # pragma: no cover - compiled
    """Return how many customers bought both ``goods[i]`` and ``other_goods[i]``, for every i.

    The columns of ``buyers`` are the customers who bought each good.
    """
    words = (customer_count + 63) // 64
    bits = np.zeros((buyers.starts.shape[0] - 1, words), dtype=np.uint64)
    for good in range(bits.shape[0]):
        for buyer in buyers.columns[buyers.starts[good] : buyers.starts[good + 1]]:
            bits[good, buyer // 64] |= np.uint64(1) << np.uint64(buyer % 64)
    counts = np.empty(goods.shape[0], dtype=np.int64)
    for pair in range(counts.shape[0]):
        good, other_good, common = goods[pair], other_goods[pair], 0
        for word in range(words):
            common += _count_bits(bits[good, word] & bits[other_good, word])
        counts[pair] = common
    return counts
