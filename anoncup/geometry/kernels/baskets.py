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


_FIRST_CHECK = 64
"""Number of purchases that are counted before the first check whether counting can stop."""


@compile_loop
def jaccard(shared: int, total: int, other_total: int) -> float:  # pragma: no cover - compiled
    """Return the Jaccard coefficient of baskets with ``total`` and ``other_total`` purchases."""
    return shared / (total + other_total - shared)


@compile_loop
def count_shared(
    wanted_amounts: IntArray, goods: IntArray, amounts: IntArray
) -> int:  # pragma: no cover - compiled
    """Return the sum of min(amount, wanted amount) over the goods."""
    shared = 0
    for entry in range(goods.shape[0]):
        shared += min(wanted_amounts[goods[entry]], amounts[entry])
    return shared


@compile_loop
def find_most_similar_customers(  # noqa: PLR0912, PLR0915, PLR0917 - compiled code takes plain arrays by position
    starts: IntArray,
    goods: IntArray,
    amounts: IntArray,
    buyer_starts: IntArray,
    buyers: IntArray,
    buyer_amounts: IntArray,
    customer_starts: IntArray,
    customer_goods: IntArray,
    customer_amounts: IntArray,
    totals: IntArray,
    customer_numbers: IntArray,
    tie_ratio: float,
) -> IntArray:  # pragma: no cover - compiled
    """Return the customer with the largest Jaccard coefficient for each basket, (baskets,).

    The result is -1 for empty baskets.

    Coefficients of at least ``tie_ratio`` times the largest are ties, which go to the lowest of
    ``customer_numbers``. Baskets and buyers are given as in :func:`jaccard_matrix`; the goods of a basket are
    in the order in which they are to be counted. ``customer_…`` are the baskets of the customers, who are
    sorted by descending ``totals`` (n,).

    A customer who bought none of the goods counted so far shares at most the uncounted amount, and a small
    basket cannot resemble a large one. Counting stops when no such customer can reach the best known
    coefficient. The remaining candidates are then compared with the basket one by one, unless it is cheaper
    to go on counting.
    """
    customers = totals.shape[0]
    best_customers = np.full(starts.shape[0] - 1, -1, dtype=np.int64)
    wanted_amounts = np.zeros(buyer_starts.shape[0] - 1, dtype=np.int64)
    shared, scores = np.zeros(customers, dtype=np.int64), np.zeros(customers)
    candidates = np.empty(customers + 1, dtype=np.int64)
    for basket in range(best_customers.shape[0]):
        first, last = starts[basket], starts[basket + 1]
        total, purchases_left = 0, 0
        for entry in range(first, last):
            good = goods[entry]
            wanted_amounts[good] = amounts[entry]
            total += amounts[entry]
            purchases_left += buyer_starts[good + 1] - buyer_starts[good]
        if total == 0:
            continue
        candidate_count = 0
        customer_limit = customers
        uncounted_amount = total
        purchases_counted = 0
        next_check = _FIRST_CHECK
        threshold = 0.0
        for entry in range(first, last):
            good, amount = goods[entry], amounts[entry]
            for purchase in range(buyer_starts[good], buyer_starts[good + 1]):
                customer = buyers[purchase]
                if customer >= customer_limit:
                    break
                candidates[candidate_count] = customer
                candidate_count += shared[customer] == 0
                shared[customer] += min(amount, buyer_amounts[purchase])
                purchases_counted += 1
            uncounted_amount -= amount
            purchases_left -= buyer_starts[good + 1] - buyer_starts[good]
            if purchases_counted < next_check or uncounted_amount == 0:
                continue
            next_check = 2 * purchases_counted
            leader, best = 0, -1.0
            for customer in candidates[:candidate_count]:
                score = jaccard(shared[customer], total, totals[customer])
                if score > best:
                    leader, best = customer, score
            customer_entries = slice(customer_starts[leader], customer_starts[leader + 1])
            common = count_shared(
                wanted_amounts, customer_goods[customer_entries], customer_amounts[customer_entries]
            )
            threshold = max(threshold, jaccard(common, total, totals[leader]) * tie_ratio)
            while totals[customer_limit - 1] / total < threshold:
                customer_limit -= 1
            if uncounted_amount / total >= threshold:
                continue
            comparison_cost = 0
            for customer in candidates[:candidate_count]:
                if (
                    jaccard(
                        min(shared[customer] + uncounted_amount, totals[customer]), total, totals[customer]
                    )
                    >= threshold
                ):
                    comparison_cost += customer_starts[customer + 1] - customer_starts[customer]
            if comparison_cost <= purchases_left:
                break
        for entry in range(candidate_count):
            customer = candidates[entry]
            scores[entry] = jaccard(
                min(shared[customer] + uncounted_amount, totals[customer]), total, totals[customer]
            )
            if uncounted_amount > 0 and scores[entry] >= threshold:
                customer_entries = slice(customer_starts[customer], customer_starts[customer + 1])
                common = count_shared(
                    wanted_amounts, customer_goods[customer_entries], customer_amounts[customer_entries]
                )
                scores[entry] = jaccard(common, total, totals[customer])
            threshold = max(threshold, scores[entry] * tie_ratio)
        best_customers[basket] = customers if candidate_count else 0
        for entry in range(candidate_count):
            if scores[entry] >= threshold:
                best_customers[basket] = min(best_customers[basket], customer_numbers[candidates[entry]])
            shared[candidates[entry]] = 0
        for entry in range(first, last):
            wanted_amounts[goods[entry]] = 0
    return best_customers


@compile_loop
def count_common_buyers(
    starts: IntArray, goods: IntArray, buyer_starts: IntArray, buyers: IntArray
) -> tuple[IntArray, IntArray, IntArray]:  # pragma: no cover - compiled
    """Return all pairs of goods with a common buyer: the lower good, the higher good, the number of buyers.

    Baskets and buyers are given as in :func:`jaccard_matrix`.
    """
    count = buyer_starts.shape[0] - 1
    common_counts = np.zeros(count, dtype=np.int64)
    candidates = np.empty(count, dtype=np.int64)
    pair_count = 0
    for _ in range(2):  # the first pass counts the pairs, the second writes them
        first = np.empty(pair_count, dtype=np.int64)
        second = np.empty(pair_count, dtype=np.int64)
        common_buyers = np.empty(pair_count, dtype=np.int64)
        pair = 0
        for good in range(count):
            candidate_count = 0
            for buyer in buyers[buyer_starts[good] : buyer_starts[good + 1]]:
                for other_good in goods[starts[buyer] : starts[buyer + 1]]:
                    if other_good <= good:
                        continue
                    if common_counts[other_good] == 0:
                        candidates[candidate_count] = other_good
                        candidate_count += 1
                    common_counts[other_good] += 1
            for other_good in candidates[:candidate_count]:
                if pair_count > 0:
                    first[pair] = good
                    second[pair] = other_good
                    common_buyers[pair] = common_counts[other_good]
                pair += 1
                common_counts[other_good] = 0
        pair_count = pair
    return first, second, common_buyers


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
