"""The search trees find exactly what a search through all rows finds."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from anoncup.geometry import kernels
from anoncup.geometry.arrays import FloatArray, IntArray
from anoncup.geometry.encoding import group_rows
from anoncup.geometry.kernels import gower as nearest_kernels
from anoncup.geometry.kernels import groups as group_kernels
from anoncup.geometry.kernels import octree_bvh
from anoncup.geometry.kernels import trees as tree_kernels
from anoncup.geometry.nearest_neighbours import (
    LEAF,
    MANY,
    Forest,
    Index,
    build_forest,
    build_index,
    nearest_rows,
    several_nearest,
)
from anoncup.rules.settings import Columns
from anoncup.tracks.microdata.distances import gower_nearest_other
from anoncup.tracks.microdata.registry import ATTACKERS
from anoncup.tracks.microdata.release import prepare, target_of
from tests.scoring.guesses import guessed

REFERENCE_DATA = os.environ.get("ANONCUP_REFERENCE_DATA")
ROWS = 700
ALONE = group_rows(np.zeros((ROWS, 0), dtype=np.int64))


def brute_force(points: FloatArray, query: FloatArray, *, absolute: bool = False) -> int:
    total = np.zeros(len(points))
    with np.errstate(over="ignore"):
        for column in range(points.shape[1]):
            gap = points[:, column] - query[column]
            total = total + (np.abs(gap) if absolute else gap * gap)
    return int(total.argmin())


def drawn(kind: str, rng: np.random.Generator, columns: int = 4) -> FloatArray:
    shape = (ROWS, columns)
    kinds: dict[str, Callable[[], FloatArray]] = {
        "normal": lambda: rng.standard_normal(shape),
        "grid": lambda: rng.integers(0, 4, shape).astype(float),
        "zeros": lambda: np.where(rng.random(shape) < 0.8, 0.0, rng.lognormal(10, 2, shape)),
        "identical": lambda: np.full(shape, 3.5),
        "constant": lambda: np.where(np.arange(columns) == 1, rng.integers(0, 50, shape), 7.0),
        "tiny": lambda: rng.integers(-3, 4, shape).astype(np.float64) * 5e-324,
        "huge": lambda: rng.integers(-2, 3, shape).astype(np.float64) * 1e200,
        "largest": lambda: rng.choice([-1.7e308, 1.7e308, 0.0, 1.0], shape),
        "mixed": lambda: rng.choice([0.0, 1e16, 1e16 + 2, 1e-200, 1e200, 1.0, 0.1, 0.3], shape),
        "outlier": lambda: np.where(rng.random(shape) < 0.001, 1e12, rng.integers(0, 9, shape) / 10),
    }
    return kinds[kind]()


KINDS = ("normal", "grid", "zeros", "identical", "constant", "tiny", "huge", "largest", "mixed", "outlier")


@pytest.mark.parametrize("across", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_every_query_finds_what_brute_force_finds(kind: str, across: bool) -> None:
    rng = np.random.default_rng(7)
    points = drawn(kind, rng)
    queries = drawn("mixed" if across else kind, rng)[:200]
    found = nearest_rows(build_index(points, ALONE), queries, np.zeros(len(queries), dtype=np.int64))
    assert found.tolist() == [brute_force(points, query) for query in queries]


@pytest.mark.parametrize("kind", KINDS)
def test_one_column_is_searched_by_the_plain_difference(kind: str) -> None:
    rng = np.random.default_rng(8)
    points, queries = drawn(kind, rng, 1), drawn("mixed", rng, 1)[:200]
    found = nearest_rows(
        build_index(points, ALONE), queries, np.zeros(len(queries), dtype=np.int64), absolute=True
    )
    assert found.tolist() == [brute_force(points, query, absolute=True) for query in queries]


def test_a_group_is_searched_apart_from_the_others() -> None:
    rng = np.random.default_rng(9)
    points = drawn("grid", rng)
    group_of = rng.permutation(np.arange(ROWS) % 5)
    groups = rng.integers(-1, 5, ROWS)
    found = nearest_rows(build_index(points, group_rows(group_of[:, None])), drawn("grid", rng), groups)
    assert ((found == -1) == (groups == -1)).all()
    assert (group_of[found] == groups)[groups >= 0].all()


@pytest.mark.parametrize("groups", [1, 6, 60])
@pytest.mark.parametrize("kind", KINDS)
def test_a_row_that_is_barred_and_rows_that_are_not_kept_are_no_answer(kind: str, groups: int) -> None:
    rng = np.random.default_rng(14)
    points, group_of = drawn(kind, rng), rng.permutation(np.arange(ROWS) % groups)
    kept, barred = rng.random(ROWS) < 0.7, rng.integers(-1, ROWS, ROWS)
    index = build_index(points, group_rows(group_of[:, None]), kept)
    found = nearest_rows(index, points, group_of, barred=barred)
    for query, row in enumerate(found):
        among = np.flatnonzero(kept & (group_of == group_of[query]) & (np.arange(ROWS) != barred[query]))
        expected = among[brute_force(points[among], points[query])] if len(among) else -1
        assert row == expected


def test_many_queries_find_what_a_few_do() -> None:
    rng = np.random.default_rng(16)
    points, group_of = drawn("grid", rng), rng.permutation(np.arange(ROWS) % 30)
    index, times = build_index(points, group_rows(group_of[:, None])), MANY // ROWS + 1
    queries, groups, barred = drawn("grid", rng), rng.integers(-1, 30, ROWS), rng.integers(-1, ROWS, ROWS)
    few = nearest_rows(index, queries, groups, barred=barred)
    many = nearest_rows(
        index,
        *(np.concatenate([each] * times) for each in (queries, groups)),
        barred=np.concatenate([barred] * times),
    )
    assert np.array_equal(many.reshape(times, ROWS), np.broadcast_to(few, (times, ROWS)))


@pytest.mark.parametrize("columns", [0, 3])
@pytest.mark.parametrize("queries", [0, 1])
def test_few_queries_and_no_columns_are_legal(queries: int, columns: int) -> None:
    index = build_index(np.zeros((ROWS, columns)), ALONE)
    found = nearest_rows(index, np.ones((queries, columns)), np.zeros(queries, dtype=np.int64))
    assert found.tolist() == [0] * queries


@pytest.mark.parametrize("groups", [1, 6, 60])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("count", "columns"), [(1, 3), (7, 3), (200, 2), (7, 0)])
def test_the_several_nearest_are_those_of_plain_sums(
    kind: str, groups: int, count: int, columns: int
) -> None:
    rng = np.random.default_rng(16)
    points = drawn(kind, rng)[:, :columns]
    queries, group_of = drawn(kind, rng)[:, :columns], rng.permutation(np.arange(ROWS) % groups)
    kept, wanted = rng.random(ROWS) < 0.9, rng.integers(-1, groups, ROWS)
    index = build_index(points, group_rows(group_of[:, None]), kept)
    rows, squares = several_nearest(index, queries, wanted, count)
    for query in range(0, ROWS, 5):
        among = np.flatnonzero(kept & (group_of == wanted[query]))
        sums = np.zeros(len(among))
        for column in range(columns):
            with np.errstate(over="ignore"):
                sums += (points[among, column] - queries[query, column]) ** 2
        near = np.argsort(sums, kind="stable")[: min(count, np.isfinite(sums).sum())]
        assert rows[query].tolist() == [*among[near], *[-1] * (count - len(near))]
        assert squares[query].tolist() == [*sums[near], *[np.inf] * (count - len(near))]


def rows_below(index: Index, node: int) -> list[int]:
    """A node's rows; each child's lie in its box, and unused places are farther than anything."""
    found: list[int] = []
    columns = (
        index.low[node].reshape(-1, octree_bvh.LANES).T,
        index.high[node].reshape(-1, octree_bvh.LANES).T,
    )
    for lane, (least, low, high) in enumerate(zip(index.least_rows[node], *columns, strict=True)):
        if least == octree_bvh.NO_ROW:
            assert (low == np.inf).all()
            continue
        child = int(index.first[node]) + lane
        rows = rows_of_block(index, child) if index.lowest[node] else rows_below(index, child)
        assert least == min(rows)
        assert np.array_equal(low, index.points[rows].min(axis=0))
        assert np.array_equal(high, index.points[rows].max(axis=0))
        found += rows
    return found


def rows_of_block(index: Index, block: int) -> list[int]:
    rows = index.block_rows[block]
    for row, point in zip(rows, index.blocks[block].reshape(-1, octree_bvh.LANES).T, strict=True):
        assert (
            np.array_equal(point, index.points[row]) if row < octree_bvh.NO_ROW else (point == np.inf).all()
        )
    return [int(row) for row in rows if row < octree_bvh.NO_ROW]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("rows", "groups"), [(1, 1), (33, 1), (ROWS, 1), (ROWS, 9), (ROWS, 60)])
def test_an_index_has_every_row_of_a_group_in_the_boxes_of_its_tree(
    kind: str, rows: int, groups: int
) -> None:
    rng = np.random.default_rng(15)
    group_of = rng.permutation(np.arange(rows) % groups)
    index = build_index(drawn(kind, rng)[:rows], group_rows(group_of[:, None]))
    for group, root in enumerate(index.roots):
        members = index.members[index.starts[group] : index.starts[group + 1]]
        assert sorted(members) == np.flatnonzero(group_of == group).tolist()
        assert (root < 0) == (len(members) <= octree_bvh.FEW)
        assert root < 0 or rows_below(index, int(root)) == members.tolist()


def descendants(forest: Forest, node: int) -> list[int]:
    child = int(forest.child[node])
    return [node] if child < 0 else [node, *descendants(forest, child), *descendants(forest, child + 1)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("rows", "groups"), [(1, 1), (13, 1), (ROWS, 1), (ROWS, 40)])
def test_trees_hold_each_point_of_their_group_once_in_boxes_by_halves(
    kind: str, rows: int, groups: int
) -> None:
    rng = np.random.default_rng(12)
    points = drawn(kind, rng)[:rows]
    group_of = rng.permutation(np.arange(rows) % groups)
    starts = np.append(0, np.cumsum(np.bincount(group_of)))
    forest = build_forest(points, np.argsort(group_of), starts)
    assert np.array_equal(forest.points, points[forest.rows])
    assert sorted(forest.rows) == list(range(rows))
    assert sorted(each for tree in range(groups) for each in descendants(forest, tree)) == list(
        range(len(forest.start))
    )
    for node, (start, end, child) in enumerate(zip(forest.start, forest.end, forest.child, strict=True)):
        assert node >= groups or set(group_of[forest.rows[start:end]]) == {node}
        assert forest.least_row[node] == forest.rows[start:end].min()
        assert np.array_equal(forest.low[node], forest.points[start:end].min(axis=0))
        assert np.array_equal(forest.high[node], forest.points[start:end].max(axis=0))
        assert (child < 0) == (end - start <= LEAF)
        assert child < 0 or (forest.start[child], forest.end[child + 1]) == (start, end)
        assert child < 0 or forest.end[child] == forest.start[child + 1] == (start + end) // 2


@pytest.mark.parametrize("columns", [0, 1])
@pytest.mark.parametrize("rows", [0, 1, 30])
def test_few_rows_and_no_columns_have_trees(rows: int, columns: int) -> None:
    forest = build_forest(np.zeros((rows, columns)), np.arange(rows), np.unique([0, rows]))
    assert sorted(forest.rows) == list(range(rows))
    assert (len(forest.start) > 1) == (columns * rows > LEAF)


@pytest.mark.parametrize("kind", KINDS)
def test_half_of_the_points_are_no_larger_than_the_others(kind: str) -> None:
    points, rows = drawn(kind, np.random.default_rng(13)), np.arange(ROWS)
    before = points.copy()
    middle = tree_kernels.halve(points, rows, 3, ROWS - 4, 2)
    assert middle == (ROWS - 1) // 2
    assert np.array_equal(points, before[rows])
    assert (rows[[0, 1, 2]].tolist(), sorted(rows.tolist())) == ([0, 1, 2], list(range(ROWS)))
    assert points[3:middle, 2].max() <= points[middle : ROWS - 4, 2].min()


def test_no_operations_are_contracted() -> None:
    """(a, b) and (b, a) are equally far from 0 only if each square is rounded before they are added."""
    rng = np.random.default_rng(10)
    for a, b in rng.random((300, 2)):
        for copies in (1, 20):  # looked at one after the other, and in a tree
            index = build_index(
                np.array([[a, b], [b, a]] * copies), group_rows(np.zeros((2 * copies, 1), int))
            )
            assert nearest_rows(index, np.zeros((1, 2)), np.zeros(1, dtype=np.int64)).tolist() == [0]


def test_kernels_are_compiled_for_one_set_of_types_only() -> None:
    kernels.warm()
    table = pd.DataFrame({"q": ["a", "b", "a"], "r": ["a", "b", "b"], "s": [1.0, 2.0, 3.0]})
    original = prepare(table, Columns(("q", "r"), ("s",)))
    target = target_of(original, table.iloc[::-1].reset_index(drop=True))
    for attacker in ATTACKERS.values():
        attacker.attack(target)
    gower_nearest_other(original)
    compiled: list[Any] = [
        group_kernels.number_texts, group_kernels.join_digits, group_kernels.plant, group_kernels.find,
        octree_bvh.grow_eights, octree_bvh.scan, octree_bvh.search, nearest_kernels.nearest_other,
        tree_kernels.halve, tree_kernels.grow, group_kernels.first_alike,
        group_kernels.place_by_group,
    ]  # fmt: skip
    # None, if it is read from the disk within another one only.
    assert {
        kernel.function.__name__: n for kernel in compiled if (n := len(kernel.loop.signatures)) > 1
    } == {}


def noisy(values: FloatArray, rng: np.random.Generator) -> FloatArray:
    noise = rng.standard_normal(values.shape) * values.std(axis=0) / 10
    return np.where(rng.random(values.shape) < 0.5, values, np.rint(values + noise))


def in_class(codes: IntArray, own: IntArray) -> IntArray:
    return np.flatnonzero((codes == own).all(axis=1))


@pytest.mark.skipif(REFERENCE_DATA is None, reason="ANONCUP_REFERENCE_DATA names no folder")
def test_attackers_on_real_data_agree_with_brute_force() -> None:
    table = pd.read_csv(Path(str(REFERENCE_DATA)) / "microdata_8333x25.csv", dtype=str, keep_default_na=False)
    columns = Columns(tuple(table.columns[:13]), tuple(table.columns[13:]))
    table = table.astype(dict.fromkeys(columns.sensitive, float))
    rng = np.random.default_rng(11)
    anonymized = table.copy()
    anonymized[list(columns.sensitive)] = noisy(table[list(columns.sensitive)].to_numpy(), rng)
    anonymized[columns.quasi_identifiers[0]] = np.where(
        rng.random(len(table)) < 0.5, "unknown", table.iloc[:, 0]
    )
    target = target_of(prepare(table, columns), anonymized)
    x, y = target.original, target
    guesses = {name: guessed(name, target) for name in ("id_sa", "sa_nearest", "euc1", "euc2")}
    for j in rng.permutation(len(table))[:400]:
        everyone = np.arange(len(table))
        matching = in_class(x.codes, y.codes[j])
        among = matching if len(matching) else everyone
        close = int(among[brute_force(x.values[among], y.values[j])])
        expected = {
            "id_sa": int(among[brute_force(x.values[among, :1], y.values[j, :1], absolute=True)]),
            "sa_nearest": brute_force(x.values[:, :1], y.values[j, :1], absolute=True),
            "euc1": close if len(matching) else -1,
            "euc2": close,
        }
        assert {name: guess[j] for name, guess in guesses.items()} == expected
