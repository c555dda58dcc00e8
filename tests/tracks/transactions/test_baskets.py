"""Searches among baskets equal their definitions."""

from typing import Any, get_args

import numpy as np
import pytest
from scipy.sparse import csr_array

from anoncup.geometry.arrays import IntArray
from anoncup.geometry.kernels.assignment import find_k_smallest
from anoncup.tracks.linkage.attack_rates import ABSTAIN
from anoncup.tracks.transactions import release
from anoncup.tracks.transactions.baskets import (
    TIE_TOLERANCE,
    JaccardKind,
    find_best_columns,
    find_best_product_columns,
)
from anoncup.tracks.transactions.registry import TRANSACTION_ATTACKERS
from anoncup.tracks.transactions.release import TransactionTarget
from anoncup.tracks.transactions.tables import TransactionTables
from tests.support.transactions_cases import build_tables
from tests.support.transactions_reference import Customer, PlainTables, Record

AMOUNTS = [[1], [1, 2, 3], [1, 10**4], [10**12, 10**12 - 10**6, 10**6, 1], [10**9, 1]]


def generate_purchases(
    rng: np.random.Generator, customers: int, goods: int, share: float, amounts: list[int]
) -> IntArray:
    """Return quantities by customer and good; some goods are bought by everyone, some by hardly anyone."""
    chance = share * 2 * np.linspace(0, 1, goods) ** 2
    return np.where(rng.random((customers, goods)) < chance, rng.choice(amounts, (customers, goods)), 0)


def build_releases(rng: np.random.Generator, original: IntArray, amounts: list[int]) -> dict[str, IntArray]:
    """Return releases by name: unchanged, with deletions, unions, foreign goods, equal or empty baskets."""
    thinned_counts = np.where(rng.random(original.shape) < 0.7, original, 0)
    foreign_goods = generate_purchases(rng, len(original), 20, 0.5, amounts)
    return {
        "same": original,
        "deleted": thinned_counts,
        "united": np.maximum(original, np.roll(original, 1, axis=0)),
        "doubled": np.maximum(original, thinned_counts * 2),
        "strange goods": np.concatenate((thinned_counts, foreign_goods), axis=1),
        "another": generate_purchases(rng, len(original) // 2 + 1, original.shape[1], 0.2, amounts),
        "equal": np.tile(original[:1], (3, 1)),
        "empty": np.zeros((2, original.shape[1]), dtype=np.int64),
    }


def find_most_similar_by_definition(original: IntArray, released: IntArray, kind: JaccardKind) -> list[int]:
    """Return the first customer with the largest coefficient for each basket, or -1 if it is empty."""
    goods = max(original.shape[1], released.shape[1])
    original, released = (
        np.pad(table, ((0, 0), (0, goods - table.shape[1]))) for table in (original, released)
    )
    if kind == "jaccard":
        original, released = np.sign(original), np.sign(released)
    guess = []
    for basket in released:
        shared, united = np.minimum(basket, original).sum(axis=1), np.maximum(basket, original).sum(axis=1)
        scores = shared / np.maximum(united, 1)
        is_best = scores >= scores.max() * (1 - TIE_TOLERANCE)
        guess.append(int(is_best.argmax()) if basket.any() else ABSTAIN)
    return guess


def build_target(original: IntArray, released: IntArray) -> TransactionTarget:
    return release.build_target(
        release.TransactionOriginal(build_purchase_tables(original)), build_purchase_tables(released)
    )


def build_purchase_tables(quantities: IntArray) -> TransactionTables:
    """Return tables in which customer i bought ``quantities[i, j]`` of good j in one record."""
    customers = [Customer(f"c{row}", "f", "", "") for row in range(len(quantities))]
    records = [
        Record(f"c{row}", "r", "2011-01-05", "08:45", f"g{good}", 1.0, int(quantities[row, good]))
        for row, good in zip(*np.nonzero(quantities), strict=True)
    ]
    return build_tables(PlainTables(customers, records))


@pytest.mark.parametrize("amounts", AMOUNTS, ids=str)
@pytest.mark.parametrize(
    ("customers", "goods", "share"), [(300, 60, 0.3), (150, 300, 0.1), (90, 6, 0.4), (1, 9, 0.5)]
)
def test_most_similar_customers_equal_the_definition(
    customers: int, goods: int, share: float, amounts: list[int]
) -> None:
    rng = np.random.default_rng(customers)
    original = generate_purchases(rng, customers, goods, share, amounts)
    original[customers // 2 :: 7] = original[::7][: len(original[customers // 2 :: 7])]
    for name, released in build_releases(rng, original, amounts).items():
        target = build_target(original, released)
        for kind in get_args(JaccardKind):
            guess: Any = TRANSACTION_ATTACKERS[kind].attack(target)
            assert guess.tolist() == find_most_similar_by_definition(original, released, kind), name


def test_best_products_equal_sums_in_row_order() -> None:
    rng = np.random.default_rng(3)
    for cells in ([1e16, 1.0, 0.1, -1e16], [1.0], [1.0, 1.0 + 1e-13], [-1.0]):
        left_matrix, right_matrix = (
            csr_array(np.where(rng.random(shape) < 0.2, rng.choice(cells, shape), 0.0))
            for shape in ((30, 40), (40, 20))
        )
        sums = np.zeros((30, 20))
        for row, column in zip(*left_matrix.nonzero(), strict=True):
            sums[row] += left_matrix[row, column] * right_matrix[[column]].toarray()[0]
        expected = np.where((sums > 0).any(axis=1), find_best_columns(sums), ABSTAIN)
        assert find_best_product_columns(left_matrix, right_matrix).tolist() == expected.tolist()
        assert find_best_product_columns(left_matrix[:, :0], right_matrix[:0]).tolist() == [ABSTAIN] * 30
        assert find_best_product_columns(left_matrix[:0], right_matrix).tolist() == []


@pytest.mark.parametrize("shape", [(20, 50), (3, 1), (2, 0), (0, 4), (5, 7)])
def test_k_smallest_equals_a_stable_argsort(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(4)
    for costs in (rng.random(shape), rng.integers(0, 3, shape) / 2, np.zeros(shape), -rng.random(shape)):
        for length in (1, 3, 7, 60):
            columns, smallest_costs = find_k_smallest(costs, length)
            assert columns.tolist() == np.argsort(costs, axis=1, kind="stable")[:, :length].tolist()
            assert smallest_costs.tolist() == np.take_along_axis(costs, columns, axis=1).tolist()
