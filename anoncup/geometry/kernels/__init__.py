"""Loops compiled with numba, for computations that numpy alone does too slowly.

The tests contain a plain Python version of each loop, with which it must agree.
"""

import numpy as np

from anoncup.geometry.kernels import (
    assignment,
    baskets,
    gower,
    knn_gower,
    nearest,
    trees,
)
from anoncup.geometry.kernels.compilation import CompiledLoop


def disable_cache_writes() -> None:
    """Stop writing compiled loops to the cache, because other processes run the code in it."""
    CompiledLoop.writes_cache = False
    for loop in CompiledLoop.all_loops:
        loop.disable_cache()


def load_caches() -> None:
    """Prepare to load loops from the cache without writing to it.

    Must be called before the process enters a sandbox, because numba does not open a cache that is not
    writable.
    """
    for loop in CompiledLoop.all_loops:
        loop.make_cache_readonly()


def load() -> None:
    """Compile all loops, or load them from the cache.

    Should be called before a process forks, and must be before it enters its sandbox.
    """
    _warm_microdata()
    warm_baskets()


def _warm_microdata() -> None:
    zeros = np.zeros(1, dtype=np.int64)
    values = np.zeros((1, 1))
    zero_codes = np.zeros((1, 1), dtype=np.int64)
    no_child, rows = np.full(1, -1, dtype=np.int64), np.zeros((1, 1), dtype=np.int64)
    tree = (values, zeros, zeros, zeros + 1, no_child, zeros, values, values)
    spans, widths, short_codes = np.arange(2), np.ones(1), zero_codes.astype(np.int32)
    blocks = np.zeros((1, knn_gower.BLOCK_SIZE), dtype=np.uint8)
    knn_gower.search_k_nearest_gower(
        values,
        spans,
        short_codes,
        zeros,
        short_codes,
        blocks,
        widths,
        widths,
        zeros,
        *tree,
        values.copy(),
        rows,
    )
    nearest.select_nearest(values, values, zeros, zeros, 1)
    gower.nearest_neighbour_sums(zero_codes, values)
    gower.gower_sum_matrix(short_codes, values, short_codes, values, widths)
    trees.build_kd_trees(
        1, 1, values, zeros, zeros, zeros + 1, no_child, zeros, values, values, no_child.copy()
    )
    assignment.place_rows(
        zeros, zeros, zeros, zeros, widths, widths, widths, widths, no_child.copy(), no_child.copy()
    )


def warm_baskets() -> None:
    offsets, zeros = np.arange(2), np.zeros(1, dtype=np.int64)
    entries = offsets, zeros, np.zeros(1)
    baskets.jaccard_matrix(*(offsets, zeros, zeros) * 2, zeros)
    baskets.find_largest_products(*entries, *entries, np.ones(1), 1.0)
    assignment.find_k_smallest(np.zeros((1, 1)), 1)
    baskets.cosine_gaps(zeros, zeros, np.zeros(1), np.zeros(1), offsets, zeros, 1)
