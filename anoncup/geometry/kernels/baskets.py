"""The compiled loops over pairs of baskets and of goods."""

import numpy as np

from anoncup.geometry.arrays import FloatArray, IntArray
from anoncup.geometry.kernels.compilation import compiled


@compiled
def coefficients_of_all(  # noqa: PLR0917 - compiled code takes plain arrays by position
    starts: IntArray,
    goods: IntArray,
    amounts: IntArray,
    buyer_starts: IntArray,
    buyers: IntArray,
    bought: IntArray,
    totals: IntArray,
) -> FloatArray:  # pragma: no cover - compiled
    """Jaccard's coefficient of every basket and customer, (baskets, customers); two empty ones: 1.

    Baskets by rows (``goods[starts[j]:starts[j + 1]]``), the customers to compare with by columns
    (``buyers[buyer_starts[g]:buyer_starts[g + 1]]`` bought good g) and with their ``totals``.
    """
    customers = totals.shape[0]
    found = np.empty((starts.shape[0] - 1, customers))
    shared = np.empty(customers, dtype=np.int64)
    for basket in range(found.shape[0]):
        shared[:] = 0
        total = 0
        for place in range(starts[basket], starts[basket + 1]):
            good, amount = goods[place], amounts[place]
            total += amount
            if good + 1 >= buyer_starts.shape[0]:
                continue
            for other in range(buyer_starts[good], buyer_starts[good + 1]):
                shared[buyers[other]] += min(amount, bought[other])
        for who in range(customers):
            union = total + totals[who] - shared[who]
            found[basket, who] = shared[who] / union if union > 0 else 1.0
    return found


@compiled
def largest_products(  # noqa: PLR0917 - compiled code takes plain arrays by position
    starts: IntArray,
    places: IntArray,
    weights: FloatArray,
    other_starts: IntArray,
    others: IntArray,
    other_weights: FloatArray,
    lengths: FloatArray,
    tied: float,
) -> IntArray:  # pragma: no cover - compiled
    """The column of each row's largest entry in the product of two sparse tables by rows; -1: none above 0.

    Entries are over the ``lengths`` of their columns, (columns,), and added up in the order of a row; from
    ``tied`` times the largest on they are equal, and the lowest column wins.
    """
    found = np.full(starts.shape[0] - 1, -1, dtype=np.int64)
    sums = np.empty(lengths.shape[0])
    for row in range(found.shape[0]):
        sums[:] = 0.0
        for at in range(starts[row], starts[row + 1]):
            place, weight = places[at], weights[at]
            for other in range(other_starts[place], other_starts[place + 1]):
                sums[others[other]] += weight * other_weights[other]
        largest = 0.0
        for column in range(sums.shape[0]):
            sums[column] /= lengths[column]
            largest = max(largest, sums[column])
        column = 0
        while largest > 0.0 and sums[column] < largest * tied:
            column += 1
        if largest > 0.0:
            found[row] = column
    return found


PAUSE = 64
"""Purchases that are counted before the first look at who leads."""


@compiled
def likeness(shared: int, total: int, other: int) -> float:  # pragma: no cover - compiled
    """Jaccard's coefficient of baskets of ``total`` and ``other`` purchases."""
    return shared / (total + other - shared)


@compiled
def in_common(wanted: IntArray, goods: IntArray, amounts: IntArray) -> int:  # pragma: no cover - compiled
    """Sum over the goods of min(amount, amount wanted)."""
    shared = 0
    for place in range(goods.shape[0]):
        shared += min(wanted[goods[place]], amounts[place])
    return shared


@compiled
def most_alike(  # noqa: PLR0912, PLR0915, PLR0917 - compiled code takes plain arrays by position
    starts: IntArray,
    goods: IntArray,
    amounts: IntArray,
    buyer_starts: IntArray,
    buyers: IntArray,
    bought: IntArray,
    own_starts: IntArray,
    own_goods: IntArray,
    own_amounts: IntArray,
    totals: IntArray,
    rows: IntArray,
    tied: float,
) -> IntArray:  # pragma: no cover - compiled
    """The customer with the largest Jaccard coefficient for each basket, (baskets,); an empty basket: -1.

    Scores of ``tied`` times the largest are equal, and the least of ``rows``, the customers' numbers, wins.
    Baskets by rows and buyers by columns as in :func:`coefficients_of_all`, the goods of a basket in the
    order in which they are to be counted; ``own_...``: the customers' baskets by rows, the largest ``totals``
    (n,) first.

    Whoever is not met among the goods counted shares at most the rest, and whoever bought little is unlike
    a large basket: counting ends when neither can reach the best score known, and those who still can are
    held against the basket one by one, unless it is cheaper to count on.
    """
    customers = totals.shape[0]
    found = np.full(starts.shape[0] - 1, -1, dtype=np.int64)
    wanted = np.zeros(buyer_starts.shape[0] - 1, dtype=np.int64)
    shared, scores = np.zeros(customers, dtype=np.int64), np.zeros(customers)
    met = np.empty(customers + 1, dtype=np.int64)
    for basket in range(found.shape[0]):
        first, last = starts[basket], starts[basket + 1]
        total, left = 0, 0
        for place in range(first, last):
            good = goods[place]
            wanted[good] = amounts[place]
            total += amounts[place]
            left += buyer_starts[good + 1] - buyer_starts[good]
        if total == 0:
            continue
        size, limit, rest, counted, pause, enough = 0, customers, total, 0, PAUSE, 0.0
        for place in range(first, last):
            good, amount = goods[place], amounts[place]
            for other in range(buyer_starts[good], buyer_starts[good + 1]):
                who = buyers[other]
                if who >= limit:
                    break
                met[size] = who
                size += shared[who] == 0
                shared[who] += min(amount, bought[other])
                counted += 1
            rest -= amount
            left -= buyer_starts[good + 1] - buyer_starts[good]
            if counted < pause or rest == 0:
                continue
            pause = 2 * counted
            leader, best = 0, -1.0
            for who in met[:size]:
                score = likeness(shared[who], total, totals[who])
                if score > best:
                    leader, best = who, score
            own = slice(own_starts[leader], own_starts[leader + 1])
            common = in_common(wanted, own_goods[own], own_amounts[own])
            enough = max(enough, likeness(common, total, totals[leader]) * tied)
            while totals[limit - 1] / total < enough:
                limit -= 1
            if rest / total >= enough:
                continue
            cost = 0
            for who in met[:size]:
                if likeness(min(shared[who] + rest, totals[who]), total, totals[who]) >= enough:
                    cost += own_starts[who + 1] - own_starts[who]
            if cost <= left:
                break
        for place in range(size):
            who = met[place]
            scores[place] = likeness(min(shared[who] + rest, totals[who]), total, totals[who])
            if rest > 0 and scores[place] >= enough:
                own = slice(own_starts[who], own_starts[who + 1])
                common = in_common(wanted, own_goods[own], own_amounts[own])
                scores[place] = likeness(common, total, totals[who])
            enough = max(enough, scores[place] * tied)
        found[basket] = customers if size else 0
        for place in range(size):
            if scores[place] >= enough:
                found[basket] = min(found[basket], rows[met[place]])
            shared[met[place]] = 0
        for place in range(first, last):
            wanted[goods[place]] = 0
    return found


@compiled
def goods_bought_together(
    starts: IntArray, goods: IntArray, buyer_starts: IntArray, buyers: IntArray
) -> tuple[IntArray, IntArray, IntArray]:  # pragma: no cover - compiled
    """Every pair of goods with a common buyer: the first, the second (a higher number), common buyers.

    Baskets by rows and buyers by columns as in :func:`coefficients_of_all`.
    """
    count = buyer_starts.shape[0] - 1
    common = np.zeros(count, dtype=np.int64)
    met = np.empty(count, dtype=np.int64)
    found = 0
    for _ in range(2):  # first to count the pairs, then to write them down
        first = np.empty(found, dtype=np.int64)
        second = np.empty(found, dtype=np.int64)
        together = np.empty(found, dtype=np.int64)
        place = 0
        for good in range(count):
            size = 0
            for buyer in buyers[buyer_starts[good] : buyer_starts[good + 1]]:
                for other in goods[starts[buyer] : starts[buyer + 1]]:
                    if other <= good:
                        continue
                    if common[other] == 0:
                        met[size] = other
                        size += 1
                    common[other] += 1
            for other in met[:size]:
                if found > 0:
                    first[place] = good
                    second[place] = other
                    together[place] = common[other]
                place += 1
                common[other] = 0
        found = place
    return first, second, together


PAIRS, FOURS, EIGHTS = 0x5555555555555555, 0x3333333333333333, 0x0F0F0F0F0F0F0F0F
ONES = 0x0101010101010101


@compiled
def bit_count(word: np.uint64) -> int:  # pragma: no cover - compiled
    """How many bits are set: sums of neighbouring pairs, fours and bytes, then of all bytes."""
    word = word - ((word >> np.uint64(1)) & np.uint64(PAIRS))
    word = (word & np.uint64(FOURS)) + ((word >> np.uint64(2)) & np.uint64(FOURS))
    word = (word + (word >> np.uint64(4))) & np.uint64(EIGHTS)
    return int((word * np.uint64(ONES)) >> np.uint64(56))


@compiled
def cosine_gaps(  # noqa: PLR0917 - compiled code takes plain arrays by position
    first: IntArray,
    second: IntArray,
    cosines: FloatArray,
    lengths: FloatArray,
    buyer_starts: IntArray,
    buyers: IntArray,
    customers: int,
) -> FloatArray:  # pragma: no cover - compiled
    """How far the cosine of each pair of goods is from the one given, (pairs,).

    Cosine: customers who bought both, over the product of the ``lengths`` (goods,); that one at least 1.
    """
    words = (customers + 63) // 64
    bits = np.zeros((buyer_starts.shape[0] - 1, words), dtype=np.uint64)
    for good in range(bits.shape[0]):
        for buyer in buyers[buyer_starts[good] : buyer_starts[good + 1]]:
            bits[good, buyer // 64] |= np.uint64(1) << np.uint64(buyer % 64)
    gaps = np.empty(first.shape[0])
    for pair in range(first.shape[0]):
        one, other, common = first[pair], second[pair], 0
        for word in range(words):
            common += bit_count(bits[one, word] & bits[other, word])
        gaps[pair] = abs(cosines[pair] - common / max(lengths[one] * lengths[other], 1.0))
    return gaps
