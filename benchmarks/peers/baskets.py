"""The attackers by baskets beside sets, dicts and a sparse product; the bounds beside one assignment."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array

from anoncup.excessive.certified_bounds import certified_bounds
from anoncup.geometry.arrays import FloatArray, IntArray, SparseCounts
from anoncup.tracks.transactions.attackers.baskets import jaccard, jaccard_quantity
from anoncup.tracks.transactions.baskets import widened
from anoncup.tracks.transactions.release import TransactionTarget
from benchmarks.peers.duel import Duel, Goal
from benchmarks.peers.inputs import some_baskets

BLOCK = 500


def ours(target: TransactionTarget, attack: Callable[[TransactionTarget], IntArray]) -> IntArray:
    """The attack with nothing derived from either table yet."""
    return attack(replace(target, original=replace(target.original, kept={}), kept={}))


def by_sets(target: TransactionTarget) -> IntArray:
    before, after = _sets(target.original.baskets), _sets(target.baskets)
    return np.array([_best([len(a & b) / len(a | b) if a | b else 1.0 for b in before], a) for a in after])


def by_sized_sets(target: TransactionTarget) -> IntArray:
    """The union by the sizes, which are counted once."""
    before, after = _sets(target.original.baskets), _sets(target.baskets)
    sizes, found = list(map(len, before)), []
    for goods in after:
        size, scores = len(goods), []
        for other, other_size in zip(before, sizes, strict=True):
            shared = len(goods & other)
            scores.append(shared / ((size + other_size - shared) or 1))
        found.append(_best(scores, goods))
    return np.array(found)


def by_dicts(target: TransactionTarget) -> IntArray:
    """Quantities by good; the smaller of two is what they share."""
    before, after = _dicts(target.original.baskets), _dicts(target.baskets)
    totals, found = [sum(basket.values()) for basket in before], []
    for basket in after:
        total, scores = sum(basket.values()), []
        for other, other_total in zip(before, totals, strict=True):
            shared = sum(min(amount, other[good]) for good, amount in basket.items() if good in other)
            scores.append(shared / ((total + other_total - shared) or 1))
        found.append(_best(scores, basket))
    return np.array(found)


def by_product(target: TransactionTarget) -> IntArray:
    """What two baskets share is a product of sparse matrices of ones."""
    after = target.baskets.sign()
    before = widened(target.original.baskets.sign(), after.shape[1])
    sizes, turned = np.diff(before.indptr), before.astype(np.int32).T.tocsr()
    found = np.full(after.shape[0], -1, dtype=np.int64)
    for first in range(0, after.shape[0], BLOCK):
        part = after[first : first + BLOCK].astype(np.int32)
        own = np.diff(part.indptr)
        shared = csr_array(part @ turned).toarray()
        scores = shared / np.maximum(own[:, None] + sizes - shared, 1)
        found[first : first + BLOCK] = np.where(own > 0, scores.argmax(axis=1), -1)
    return found


def _best(scores: list[float], basket: object) -> int:
    """The place of the largest; an empty basket abstains."""
    return scores.index(max(scores)) if basket else -1


def _sets(baskets: SparseCounts) -> list[set[int]]:
    return [set(goods) for goods in np.split(baskets.indices, baskets.indptr[1:-1])]


def _dicts(baskets: SparseCounts) -> list[dict[int, int]]:
    cuts = baskets.indptr[1:-1]
    parts = zip(np.split(baskets.indices, cuts), np.split(baskets.data, cuts), strict=True)
    return [dict(zip(goods.tolist(), amounts.tolist(), strict=True)) for goods, amounts in parts]


def all_bounds(distances: FloatArray) -> float:
    return float(certified_bounds(distances).lower[0])


def one_assignment(distances: FloatArray) -> float:
    """s_exact(0): everybody moves."""
    costs = distances.copy()
    np.fill_diagonal(costs, 1e6)
    rows, columns = linear_sum_assignment(costs)
    return float(costs[rows, columns].sum())


SET, MULTISET = partial(ours, attack=jaccard), partial(ours, attack=jaccard_quantity)


def small_duels() -> list[Duel]:
    """For 400 customers."""
    return [
        Duel("Jaccard", "sets", SET, by_sets, Goal(250)),
        Duel("Jaccard", "sets, sizes cached", SET, by_sized_sets, Goal(55)),
        Duel("Jaccard", "scipy sparse product", SET, by_product),
        Duel("multiset Jaccard", "dict loop", MULTISET, by_dicts, Goal(250)),
    ]


def large_duels(part: int) -> list[Duel]:
    """For 4,334 customers; the dict loop gets one of ``part``."""
    return [
        Duel("Jaccard", "scipy sparse product", SET, by_product, Goal(5)),
        Duel("multiset Jaccard", "dict loop", MULTISET, by_dicts, Goal(700), part=part, cut=some_baskets),
    ]


def bounds_duel() -> Duel:
    return Duel("bounds, all r", "one assignment", all_bounds, one_assignment, Goal(5, at_most=True))
