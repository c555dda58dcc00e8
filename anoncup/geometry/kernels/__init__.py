"""The compiled loops, by what they are for. Everything else is numpy.

A plain version of each stands in the tests, and must agree with it.
"""

import numpy as np

from anoncup.geometry.kernels import (
    assignment,
    baskets,
    gower,
    groups,
    knn_baskets,
    knn_gower,
    octree_bvh,
    pairing,
    paths,
    trees,
)
from anoncup.geometry.kernels.assignment import place_rows, shortest
from anoncup.geometry.kernels.baskets import (
    coefficients_of_all,
    cosine_gaps,
    goods_bought_together,
    largest_products,
    most_alike,
)
from anoncup.geometry.kernels.compilation import Compiled
from anoncup.geometry.kernels.gower import gower_rows_apart, nearest_other
from anoncup.geometry.kernels.groups import (
    find,
    first_alike,
    join_digits,
    number_texts,
    place_by_group,
    plant,
)
from anoncup.geometry.kernels.knn_baskets import nearest_baskets
from anoncup.geometry.kernels.knn_gower import gower_several
from anoncup.geometry.kernels.octree_bvh import grow_eights, scan, search, several
from anoncup.geometry.kernels.pairing import largest_excess, pair_up
from anoncup.geometry.kernels.paths import assign_in_turn, double_all, odd_walk
from anoncup.geometry.kernels.trees import grow


def load() -> None:
    """Compile all there is, or load it from the cache: to be done before a process enters its sandbox."""
    warm()
    warm_bounds()


def keep_nothing() -> None:
    """What is compiled from now on stays in this process: the cache is code that others run."""
    Compiled.kept = False
    for loop in list_loops():
        loop.stays_here()


def open_caches() -> None:
    """Compile what every table needs, and let this process load the rest from the cache and write nothing.

    To be done before it enters a sandbox: numba opens no cache that it could not write.
    """
    warm_tables()
    for loop in list_loops():
        loop.open_cache()


def list_loops() -> list[Compiled]:
    modules = (
        assignment,
        baskets,
        octree_bvh,
        groups,
        gower,
        knn_gower,
        knn_baskets,
        pairing,
        paths,
        trees,
    )
    return [loop for module in modules for loop in vars(module).values() if isinstance(loop, Compiled)]


def warm() -> None:
    """Compile what scoring needs, or load it from the cache: to be done before a process forks."""
    warm_microdata()
    warm_baskets()


def warm_tables() -> None:
    """Compile what reading and preparing a table needs."""
    numbers, codes = np.zeros(1, dtype=np.int64), np.zeros((1, 1), dtype=np.int64)
    bounds, letters = np.frombuffer(bytes(16), dtype=np.int64), np.frombuffer(b"", dtype=np.uint8)
    number_texts(
        bounds, letters, np.full(1, -1, dtype=np.int64), numbers.copy(), numbers.copy(), numbers.copy()
    )
    join_digits(codes, numbers + 1, numbers.copy())
    plant(numbers, np.full(2, -1))
    find(numbers.copy(), numbers, np.full(2, -1))


def warm_microdata() -> None:
    warm_tables()
    numbers, cells, codes = np.zeros(1, dtype=np.int64), np.zeros((1, 1)), np.zeros((1, 1), dtype=np.int64)
    leaf, found = np.full(1, -1, dtype=np.int64), np.zeros((1, 1), dtype=np.int64)
    tree = (cells, numbers, numbers, numbers + 1, leaf, numbers, cells, cells)
    place_by_group(numbers, numbers.copy(), leaf.copy())
    first_alike(numbers, cells, numbers, cells, np.full(2, -1), True, leaf.copy())
    index = (numbers, np.arange(2), leaf, *(cells, codes, numbers, numbers > 0, cells, cells, codes))
    grow_eights(cells, *index)
    scan(cells, numbers, cells, *index[:3], False, leaf, numbers.copy())
    search(cells, numbers, *index[2:], False, leaf, numbers.copy())
    several(cells, numbers, cells, *index, cells.copy(), found)
    spans, widths, short = np.arange(2), np.ones(1), codes.astype(np.int32)
    blocks = np.zeros((1, knn_gower.BLOCK), dtype=np.uint8)
    gower_several(
        cells, spans, short, numbers, short, blocks, widths, widths, numbers, *tree, cells.copy(), found
    )
    nearest_other(codes, cells)
    gower_rows_apart(short, cells, short, cells, widths)
    grow(1, 1, cells, numbers, numbers, numbers + 1, leaf, numbers, cells, cells, leaf.copy())
    place_rows(numbers, numbers, numbers, numbers, widths, widths, widths, widths, leaf.copy(), leaf.copy())


def warm_baskets() -> None:
    spans, numbers = np.arange(2), np.zeros(1, dtype=np.int64)
    entries = spans, numbers, np.zeros(1)
    coefficients_of_all(*(spans, numbers, numbers) * 2, numbers)
    largest_products(*entries, *entries, np.ones(1), 1.0)
    shortest(np.zeros((1, 1)), 1)
    most_alike(*(spans, numbers, numbers) * 3, numbers, numbers, 1.0)
    goods_bought_together(spans, numbers, spans, numbers)
    cosine_gaps(numbers, numbers, np.zeros(1), np.zeros(1), spans, numbers, 1)


def warm_bounds() -> None:
    """Compile what the bounds on excessive anonymization need; scoring does not."""
    costs, nearest = np.array([[np.inf, 1.0], [1.0, np.inf]]), np.array([[1, 0], [0, 1]])
    _, partners, _, _ = assign_in_turn(costs, nearest, np.arange(1, 3))
    double_all(costs, partners)
    odd_walk(np.array([0, 0]), np.zeros(0, np.int64), np.zeros(0), np.zeros(0, np.bool_), 0, 1.0)
    pair = np.arange(3), np.array([1, 0]), np.ones(2), np.ones(2)
    course = pair_up(*pair, np.ones(1, np.int64))[-1]
    largest_excess(*pair, np.arange(3), course)
    one, spans = np.zeros(1, np.int64), np.arange(2)
    nearest_baskets(one, spans, one, one, spans, one, one, one, one[:, np.newaxis] - 1, np.ones((1, 1)))
