"""Compare basket attackers with sets, dicts and a sparse product."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
from scipy.sparse import csr_array

from anoncup.geometry.arrays import IntArray, SparseCounts
from anoncup.tracks.transactions.attackers.baskets import jaccard, jaccard_quantity
from anoncup.tracks.transactions.baskets import add_empty_columns
from anoncup.tracks.transactions.release import TransactionTarget
from benchmarks.peers.duel import Duel, SpeedGoal
from benchmarks.peers.inputs import select_baskets

_BLOCK = 500


def _attack_uncached(target: TransactionTarget, attack: Callable[[TransactionTarget], IntArray]) -> IntArray:
    """Run the attack without cached values of either table."""
    encodings = [
        {key: value for key, value in tables.memo.items() if ".EncodedTables." in key[0]}
        for tables in (target.original, target)
    ]
    return attack(replace(target, original=replace(target.original, memo=encodings[0]), memo=encodings[1]))


def _attack_with_sets(target: TransactionTarget) -> IntArray:
    original, anonymized = _convert_to_sets(target.original.baskets), _convert_to_sets(target.baskets)
    return np.array(
        [_find_best([len(a & b) / len(a | b) if a | b else 1.0 for b in original], a) for a in anonymized]
    )


def _attack_with_sized_sets(target: TransactionTarget) -> IntArray:
    """Attack with sets, with unions computed from sizes that are counted once."""
    original, anonymized = _convert_to_sets(target.original.baskets), _convert_to_sets(target.baskets)
    sizes, rows = list(map(len, original)), []
    for goods in anonymized:
        size, scores = len(goods), []
        for candidate, candidate_size in zip(original, sizes, strict=True):
            shared = len(goods & candidate)
            scores.append(shared / ((size + candidate_size - shared) or 1))
        rows.append(_find_best(scores, goods))
    return np.array(rows)


def _attack_with_dicts(target: TransactionTarget) -> IntArray:
    """Attack with dicts from good to quantity. The intersection is the smaller quantity."""
    original, anonymized = _convert_to_dicts(target.original.baskets), _convert_to_dicts(target.baskets)
    totals, rows = [sum(basket.values()) for basket in original], []
    for basket in anonymized:
        total, scores = sum(basket.values()), []
        for candidate, candidate_total in zip(original, totals, strict=True):
            shared = sum(min(amount, candidate[good]) for good, amount in basket.items() if good in candidate)
            scores.append(shared / ((total + candidate_total - shared) or 1))
        rows.append(_find_best(scores, basket))
    return np.array(rows)


def _attack_with_product(target: TransactionTarget) -> IntArray:
    """Attack with a sparse matrix product, which gives the sizes of all intersections."""
    anonymized = target.baskets.sign()
    original = add_empty_columns(target.original.baskets.sign(), anonymized.shape[1])
    sizes, transposed = np.diff(original.indptr), original.astype(np.int32).T.tocsr()
    rows = np.full(anonymized.shape[0], -1, dtype=np.int64)
    for first in range(0, anonymized.shape[0], _BLOCK):
        part = anonymized[first : first + _BLOCK].astype(np.int32)
        sizes_of_part = np.diff(part.indptr)
        shared = csr_array(part @ transposed).toarray()
        scores = shared / np.maximum(sizes_of_part[:, None] + sizes - shared, 1)
        rows[first : first + _BLOCK] = np.where(sizes_of_part > 0, scores.argmax(axis=1), -1)
    return rows


def _find_best(scores: list[float], basket: object) -> int:
    """Return the position of the largest score; -1 for an empty basket."""
    return scores.index(max(scores)) if basket else -1


def _convert_to_sets(baskets: SparseCounts) -> list[set[int]]:
    return [set(goods) for goods in np.split(baskets.indices, baskets.indptr[1:-1])]


def _convert_to_dicts(baskets: SparseCounts) -> list[dict[int, int]]:
    cuts = baskets.indptr[1:-1]
    parts = zip(np.split(baskets.indices, cuts), np.split(baskets.data, cuts), strict=True)
    return [dict(zip(goods.tolist(), amounts.tolist(), strict=True)) for goods, amounts in parts]


SET_ATTACK, MULTISET_ATTACK = (
    partial(_attack_uncached, attack=jaccard),
    partial(_attack_uncached, attack=jaccard_quantity),
)


def build_small_duels() -> list[Duel]:
    """Return the duels for 400 customers."""
    return [
        Duel("Jaccard", "sets", SET_ATTACK, _attack_with_sets, SpeedGoal(250)),
        Duel("Jaccard", "sets, sizes cached", SET_ATTACK, _attack_with_sized_sets, SpeedGoal(55)),
        Duel("Jaccard", "scipy sparse product", SET_ATTACK, _attack_with_product),
        Duel("multiset Jaccard", "dict loop", MULTISET_ATTACK, _attack_with_dicts, SpeedGoal(250)),
    ]


def build_large_duels(part: int) -> list[Duel]:
    """Return the duels for 4,334 customers. The dict loop gets one basket in ``part``."""
    return [
        Duel("Jaccard", "scipy sparse product", SET_ATTACK, _attack_with_product, SpeedGoal(5)),
        Duel(
            "multiset Jaccard",
            "dict loop",
            MULTISET_ATTACK,
            _attack_with_dicts,
            SpeedGoal(700),
            part=part,
            select_rows=select_baskets,
        ),
    ]
