"""Kernel of the k nearest baskets."""

import numpy as np

from anoncup.geometry.arrays import FloatArray, IntArray
from anoncup.geometry.kernels.compilation import compile_loop
from anoncup.geometry.kernels.knn_gower import insert_neighbour


@compile_loop
def nearest_baskets(  # noqa: PLR0917 - compiled code takes plain arrays by position
    baskets: IntArray,
    starts: IntArray,
    goods: IntArray,
    amounts: IntArray,
    buyer_starts: IntArray,
    buyers: IntArray,
    buyer_amounts: IntArray,
    totals: IntArray,
    neighbours: IntArray,
    costs: FloatArray,
) -> None:  # pragma: no cover - compiled
    """Fill a line of ``neighbours`` and ``costs`` for each basket with its nearest neighbours, nearest first.

    The distance is 1 minus the Jaccard coefficient; ties are sorted by number. Baskets and buyers are given
    as in ``jaccard_matrix``. Before, lines contain -1 and the distance of baskets that share nothing.
    """
    customers, width = starts.shape[0] - 1, neighbours.shape[1]
    shared, candidates = np.zeros(customers, dtype=np.int64), np.empty(customers, dtype=np.int64)
    for line in range(baskets.shape[0]):
        basket, candidate_count, list_length = baskets[line], 0, 0
        for entry in range(starts[basket], starts[basket + 1]):
            for purchase in range(buyer_starts[goods[entry]], buyer_starts[goods[entry] + 1]):
                neighbour = buyers[purchase]
                if shared[neighbour] == 0:
                    candidates[candidate_count] = neighbour
                    candidate_count += 1
                shared[neighbour] += min(amounts[entry], buyer_amounts[purchase])
        for entry in range(candidate_count):
            neighbour = candidates[entry]
            distance = 1.0 - shared[neighbour] / (totals[basket] + totals[neighbour] - shared[neighbour])
            shared[neighbour] = 0
            if neighbour == basket:
                continue
            if list_length == width and (
                distance > costs[line, width - 1]
                or (distance == costs[line, width - 1] and neighbour > neighbours[line, width - 1])
            ):
                continue
            list_length = min(list_length + 1, width)
            insert_neighbour(costs[line, :list_length], neighbours[line, :list_length], distance, neighbour)
