"""Loops compiled with numba, for computations that numpy alone does too slowly.

The tests contain a plain Python version of each loop, with which it must agree.
"""

import numpy as np

from anoncup.geometry.kernels import assignment, baskets, gower, knn_gower, nearest
from anoncup.geometry.kernels.compilation import CompiledLoop


def disable_cache_writes() -> None:
    """Stop writing compiled loops to the cache, because other processes run the code in it."""
    CompiledLoop.writes_cache = False
    for loop in CompiledLoop.all_loops:
        loop.disable_cache()


def load() -> None:
    """Compile all loops, or load them from the cache.

    Should be called before a process forks, and must be before it enters its sandbox.
    """
    _warm_microdata()
    _warm_baskets()


def _warm_microdata() -> None:
    rows, codes, values = np.zeros(1, dtype=np.int64), np.zeros((1, 1), dtype=np.int64), np.zeros((1, 1))
    widths = np.ones(1)
    gower.gower_sums(codes=codes, values=values, other_codes=codes, other_values=values, widths=widths)
    index = knn_gower.build_gower_index(rows=rows, class_ids=rows, codes=codes, values=values, widths=widths)
    knn_gower.find_k_nearest_by_gower(index, codes=codes, values=values, count=1)
    nearest.select_nearest(points=values, queries=values, candidates=rows, starts=rows, sizes=rows, count=1)
    lists = assignment.CostLists(starts=rows, ends=rows, columns=rows, costs=widths, unlisted_bounds=widths)
    assignment.extend_matching(assignment.make_empty_matching(1, 1), rows=rows, lists=lists)


def _warm_baskets() -> None:
    starts, zeros = np.arange(2), np.zeros(1, dtype=np.int64)
    counts = baskets.SparseRows(starts, zeros, zeros)
    weights = baskets.SparseRows(starts, zeros, np.zeros(1))
    baskets.jaccard_matrix(counts, counts, zeros)
    baskets.find_largest_products(weights, weights, 1, 1.0)
    assignment.find_k_smallest(np.zeros((1, 1)), 1)
    baskets.count_common_buyers(counts, 1, zeros, zeros)
