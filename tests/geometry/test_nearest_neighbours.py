"""Nearest-neighbour search with trees finds exactly what a brute-force search finds."""

from collections.abc import Callable
from itertools import islice, permutations

import numpy as np
import pytest

from anoncup.geometry.arrays import FloatArray
from anoncup.geometry.encoding import group_rows
from anoncup.geometry.nearest_neighbours import build_index, find_k_nearest_rows, find_nearest_rows

ROWS = 700
SINGLE_GROUP = group_rows(np.zeros((ROWS, 0), dtype=np.int64))


def generate_points(kind: str, rng: np.random.Generator, columns: int = 4) -> FloatArray:
    shape = (ROWS, columns)
    generators: dict[str, Callable[[], FloatArray]] = {
        "normal": lambda: rng.standard_normal(shape),
        "grid": lambda: rng.integers(0, 4, shape).astype(float),
        "zeros": lambda: np.where(rng.random(shape) < 0.8, 0.0, rng.lognormal(10, 2, shape)),
        "identical": lambda: np.full(shape, 3.5),
        "constant": lambda: np.where(np.arange(columns) == 1, rng.integers(0, 50, shape), 7.0),
        "tiny": lambda: rng.integers(-3, 4, shape).astype(np.float64) * 1e-30,
        "huge": lambda: rng.integers(-2, 3, shape).astype(np.float64) * 1e29,
        "largest": lambda: rng.choice([-1e30, 1e30, 0.0, 1.0], shape),
        "mixed": lambda: rng.choice([0.0, 1e16, 1e16 + 2, 1e-30, 1e30, 1.0, 0.1, 0.3], shape),
        "outlier": lambda: np.where(rng.random(shape) < 0.001, 1e12, rng.integers(0, 9, shape) / 10),
    }
    return generators[kind]()


KINDS = ("normal", "grid", "zeros", "identical", "constant", "tiny", "huge", "largest", "mixed", "outlier")


def test_lowest_of_equidistant_rows_is_found_among_few_and_among_all() -> None:
    points = np.array(list(islice(permutations(range(6)), ROWS)), dtype=np.float64)[::-1].copy()
    centres = np.full((20, 6), 2.5)
    midpoints = (points[:ROWS:7] + points[1:ROWS:7]) / 2
    queries = np.concatenate((centres, midpoints))
    rows, _ = find_k_nearest_rows(
        build_index(points, SINGLE_GROUP), queries, np.zeros(len(queries), dtype=np.int64), 3
    )
    distances = ((queries[:, np.newaxis] - points) ** 2).sum(axis=2)  # exact for these numbers
    assert rows.tolist() == np.argsort(distances, axis=1, kind="stable")[:, :3].tolist()


@pytest.mark.parametrize("groups", [1, 6, 60])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("count", "columns"), [(1, 3), (7, 1), (200, 2), (7, 0)])
def test_k_nearest_rows_equal_a_sort_of_plain_sums(kind: str, groups: int, count: int, columns: int) -> None:
    rng = np.random.default_rng(16)
    points = generate_points(kind, rng)[:, :columns]
    queries, group_of = generate_points(kind, rng)[:, :columns], rng.permutation(np.arange(ROWS) % groups)
    is_kept, query_groups = rng.random(ROWS) < 0.9, rng.integers(-1, groups, ROWS)
    index = build_index(points, group_rows(group_of[:, None]), is_kept)
    rows, squares = find_k_nearest_rows(index, queries, query_groups, count)
    for query in range(0, ROWS, 5):
        candidates = np.flatnonzero(is_kept & (group_of == query_groups[query]))
        sums = np.zeros(len(candidates))
        for column in range(columns):
            sums += (points[candidates, column] - queries[query, column]) ** 2
        nearest = np.argsort(sums, kind="stable")[: min(count, np.isfinite(sums).sum())]
        assert rows[query].tolist() == [*candidates[nearest], *[-1] * (count - len(nearest))]
        assert squares[query].tolist() == [*sums[nearest], *[np.inf] * (count - len(nearest))]


def test_squares_are_rounded_before_addition() -> None:
    """(a, b) and (b, a) are equally far from 0 only if each square is rounded before the addition."""
    rng = np.random.default_rng(10)
    for a, b in rng.random((300, 2)):
        for copies in (1, 20):  # a linear scan and a tree
            index = build_index(
                np.array([[a, b], [b, a]] * copies), group_rows(np.zeros((2 * copies, 1), int))
            )
            assert find_nearest_rows(index, np.zeros((1, 2)), np.zeros(1, dtype=np.int64)).tolist() == [0]
