"""Searches among baskets find what the matrix of all coefficients says, where it pays to cut them short."""

from dataclasses import replace
from typing import Any, get_args

import numpy as np
import pytest
from scipy.sparse import csr_array

from anoncup.geometry import kernels
from anoncup.geometry.arrays import IntArray, SparseCounts
from anoncup.geometry.kernels import baskets as basket_kernels
from anoncup.geometry.kernels.assignment import shortest
from anoncup.tracks.linkage.attack_rates import ABSTAIN
from anoncup.tracks.transactions.baskets import Kind, best, best_products, most_similar, similarities
from anoncup.tracks.transactions.registry import TRANSACTION_ATTACKERS
from anoncup.tracks.transactions.release import TransactionTarget
from benchmarks.peers.inputs import hostile_customers

AMOUNTS = [[1], [1, 2, 3], [1, 10**4], [10**12, 10**12 - 10**6, 10**6, 1], [10**9, 1]]


def bought(
    rng: np.random.Generator, customers: int, goods: int, share: float, amounts: list[int]
) -> IntArray:
    """A table of customers and goods, some of which everybody buys and some hardly anybody."""
    chance = share * 2 * np.linspace(0, 1, goods) ** 2
    return np.where(rng.random((customers, goods)) < chance, rng.choice(amounts, (customers, goods)), 0)


def released(rng: np.random.Generator, before: IntArray, amounts: list[int]) -> dict[str, IntArray]:
    """As it is, with deletions, unions of neighbours, strange goods, from one basket, from nothing."""
    kept = np.where(rng.random(before.shape) < 0.7, before, 0)
    strange = bought(rng, len(before), 20, 0.5, amounts)
    return {
        "same": before,
        "deleted": kept,
        "united": np.maximum(before, np.roll(before, 1, axis=0)),
        "doubled": np.maximum(before, kept * 2),
        "strange goods": np.concatenate((kept, strange), axis=1),
        "another": bought(rng, len(before) // 2 + 1, before.shape[1], 0.2, amounts),
        "equal": np.tile(before[:1], (3, 1)),
        "empty": np.zeros((2, before.shape[1]), dtype=np.int64),
    }


def target_of(before: IntArray, after: IntArray) -> TransactionTarget:
    """The searches read the baskets alone."""
    some = next(hostile_customers())
    original = replace(some.original, baskets=sparse(before), kept={})
    return replace(some, original=original, baskets=sparse(after), kept={})


def sparse(table: IntArray) -> SparseCounts:
    return csr_array(table)


def by_matrix(target: TransactionTarget, kind: Kind) -> list[int]:
    everybody = np.arange(target.baskets.shape[0])
    guess = np.concatenate([best(scores) for _, scores in similarities(target, kind, everybody)])
    filled = np.diff(target.baskets.indptr) > 0
    return [int(row) if there else ABSTAIN for row, there in zip(guess, filled, strict=True)]


@pytest.mark.parametrize("amounts", AMOUNTS, ids=str)
@pytest.mark.parametrize(
    ("customers", "goods", "share"), [(300, 60, 0.3), (150, 300, 0.1), (90, 6, 0.4), (1, 9, 0.5)]
)
def test_the_most_similar_customer_is_the_one_of_the_matrix(
    customers: int, goods: int, share: float, amounts: list[int]
) -> None:
    rng = np.random.default_rng(customers)
    before = bought(rng, customers, goods, share, amounts)
    before[customers // 2 :: 7] = before[::7][: len(before[customers // 2 :: 7])]
    for name, after in released(rng, before, amounts).items():
        target = target_of(before, after)
        for kind in get_args(Kind):
            assert most_similar(target, kind).tolist() == by_matrix(target, kind), name


def test_kernels_of_baskets_are_compiled_for_one_set_of_types_only() -> None:
    kernels.warm_baskets()
    target = target_of(*[bought(np.random.default_rng(0), 40, 9, 0.5, [1])] * 2)
    for kind in get_args(Kind):
        most_similar(target, kind)
        by_matrix(target, kind)
        TRANSACTION_ATTACKERS[f"{kind}_assignment"].attack(target, dense_limit=1)
    TRANSACTION_ATTACKERS["tfidf"].attack(next(hostile_customers()))
    used: list[Any] = [basket_kernels.most_alike, basket_kernels.coefficients_of_all]
    used += [basket_kernels.largest_products, shortest]
    assert [len(kernel.loop.signatures) for kernel in used] == [1] * len(used)


def test_the_largest_products_are_those_of_sums_in_the_order_of_a_row() -> None:
    rng = np.random.default_rng(3)
    for cells in ([1e16, 1.0, 0.1, -1e16], [1.0], [1.0, 1.0 + 1e-13], [-1.0]):
        first, second = (
            csr_array(np.where(rng.random(shape) < 0.2, rng.choice(cells, shape), 0.0))
            for shape in ((30, 40), (40, 20))
        )
        lengths, sums = rng.choice([1.0, 2.0], 20), np.zeros((30, 20))
        for row, place in zip(*first.nonzero(), strict=True):
            sums[row] += first[row, place] * second[[place]].toarray()[0]
        expected = np.where((sums > 0).any(axis=1), best(sums / lengths), ABSTAIN)
        assert best_products(first, second, lengths).tolist() == expected.tolist()
        assert best_products(first[:, :0], second[:0], lengths).tolist() == [ABSTAIN] * 30
        assert best_products(first[:0], second, lengths).tolist() == []


@pytest.mark.parametrize("shape", [(20, 50), (3, 1), (2, 0), (0, 4), (5, 7)])
def test_short_lists_are_the_first_columns_of_a_stable_order(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(4)
    for costs in (rng.random(shape), rng.integers(0, 3, shape) / 2, np.zeros(shape), -rng.random(shape)):
        for length in (1, 3, 7, 60):
            columns, least = shortest(costs, length)
            assert columns.tolist() == np.argsort(costs, axis=1, kind="stable")[:, :length].tolist()
            assert least.tolist() == np.take_along_axis(costs, columns, axis=1).tolist()
