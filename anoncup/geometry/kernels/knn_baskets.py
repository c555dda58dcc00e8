"""The compiled loop behind the nearest other baskets."""

import numpy as np

from anoncup.geometry.arrays import FloatArray, IntArray
from anoncup.geometry.kernels.compilation import compiled


@compiled
def nearest_baskets(  # noqa: PLR0917 - compiled code takes plain arrays by position
    chosen: IntArray,
    starts: IntArray,
    goods: IntArray,
    amounts: IntArray,
    buyer_starts: IntArray,
    buyers: IntArray,
    bought: IntArray,
    totals: IntArray,
    found: IntArray,
    costs: FloatArray,
) -> None:  # pragma: no cover - compiled
    """Fill a line of ``found`` and ``costs`` for each chosen basket: those that share most with it, nearest
    first.

    One less shared over united amounts; equally near ones by number. Baskets by rows, then by goods, as in
    ``shared_goods``. Lines come full of -1 and of the distance of those that share nothing.
    """
    customers, width = starts.shape[0] - 1, found.shape[1]
    shared, met = np.zeros(customers, dtype=np.int64), np.empty(customers, dtype=np.int64)
    for line in range(chosen.shape[0]):
        basket, size, held = chosen[line], 0, 0
        for place in range(starts[basket], starts[basket + 1]):
            for one in range(buyer_starts[goods[place]], buyer_starts[goods[place] + 1]):
                other = buyers[one]
                if shared[other] == 0:
                    met[size] = other
                    size += 1
                shared[other] += min(amounts[place], bought[one])
        for place in range(size):
            other = met[place]
            distance = 1.0 - shared[other] / (totals[basket] + totals[other] - shared[other])
            shared[other] = 0
            if other == basket:
                continue
            slot = min(held, width - 1)
            if held == width and (
                distance > costs[line, slot] or (distance == costs[line, slot] and other > found[line, slot])
            ):
                continue
            held = min(held + 1, width)
            while slot > 0 and (
                distance < costs[line, slot - 1]
                or (distance == costs[line, slot - 1] and other < found[line, slot - 1])
            ):
                costs[line, slot], found[line, slot] = costs[line, slot - 1], found[line, slot - 1]
                slot -= 1
            costs[line, slot], found[line, slot] = distance, other
