"""Attackers that recognize customers by single records of theirs: receipts, or parts of a record.

What a customer of M' has in common with one of M votes for him. The most votes win, votes within rounding
being equal and the lower row winning; no vote: abstain.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, hstack, vstack

from anoncup.geometry.arrays import IntArray, SparseWeights
from anoncup.geometry.encoding import Grouping, find_groups, group_rows
from anoncup.tracks.memo import once
from anoncup.tracks.transactions.baskets import best_products, weighted
from anoncup.tracks.transactions.release import History, PreparedTransactions, TransactionTarget

KEYS = (
    ("day", "quantity"),
    ("goods", "price"),
    ("goods", "quantity"),
    ("day", "goods"),
    ("goods", "price", "quantity"),
    ("goods", "day", "quantity"),
)
"""The parts of a record that ``record_keys`` compares (after S1-S6 of PWS Cup 2017)."""


def receipt_match(target: TransactionTarget) -> IntArray:
    """Each receipt id of a customer of M' that occurs in T votes for its customer."""
    return _elected([_votes(target, ("receipt",), shared=False)], target)


def record_keys(target: TransactionTarget) -> IntArray:
    """Each distinct key of a customer of M' gives 1/k votes to each of the k customers of M that have it.

    Keys: the six combinations of ``KEYS``, compared as they are written, prices as numbers.
    """
    return _elected([_votes(target, names, shared=True) for names in KEYS], target)


@dataclass(frozen=True, slots=True)
class Keys:
    """The original's distinct keys and who has them, (keys, n)."""

    grouping: Grouping
    holders: SparseWeights


def _keys(original: PreparedTransactions, names: Sequence[str]) -> Keys:
    def derive() -> Keys:
        grouping = group_rows(np.stack([_values(original, name).group_of for name in names], axis=1))
        holders = _incidence(grouping.group_of, original.history.owner, (grouping.count, original.rows))
        return Keys(grouping, holders)

    return once(original.kept, ("keys", *names), derive)


def _values(original: PreparedTransactions, name: str) -> Grouping:
    """The records by the values of a part of theirs."""
    return once(original.kept, ("values", name), lambda: group_rows(_as_codes(original.history, name)))


def _as_codes(history: History, name: str) -> IntArray:
    """A part of each record as one number >= 0, (m, 1): a price by its bits, 0 having one sign."""
    column: IntArray = getattr(history, name)
    return ((column + 0.0).view(np.int64) if name == "price" else column)[:, None]


def _votes(
    target: TransactionTarget, names: Sequence[str], *, shared: bool
) -> tuple[SparseWeights, SparseWeights]:
    """Who of M' has which key, (n', keys), and what the key gives to whom of M, (keys, n)."""
    keys = _keys(target.original, names)
    found = find_groups(keys.grouping, np.stack([_codes(target, name) for name in names], axis=1))
    known = found >= 0
    shape = (target.rows, keys.grouping.count)
    asked = _incidence(target.history.owner[known], found[known], shape)
    if not shared:
        return asked, keys.holders
    counts = np.maximum(np.diff(keys.holders.indptr), 1)
    return weighted(asked, 1.0 / counts), keys.holders


def _codes(target: TransactionTarget, name: str) -> IntArray:
    """A part of the target's records by the original's numbers; an unknown value has the next one."""

    def number() -> IntArray:
        known = _values(target.original, name)
        found = find_groups(known, _as_codes(target.history, name))
        return np.where(found >= 0, found, known.count)

    return once(target.kept, ("codes", name), number)


def _incidence(rows: IntArray, columns: IntArray, shape: tuple[int, int]) -> SparseWeights:
    """1 at every pair that occurs, however often."""
    pairs = np.sort(rows * shape[1] + columns)
    pairs = pairs[np.diff(pairs, prepend=-1) > 0]
    found, places = np.divmod(pairs, max(shape[1], 1))
    starts = np.concatenate(([0], np.cumsum(np.bincount(found, minlength=shape[0]))))
    return csr_array((np.ones(len(pairs)), places, starts), shape=shape)


def _elected(parts: list[tuple[SparseWeights, SparseWeights]], target: TransactionTarget) -> IntArray:
    asked, holders = hstack([part[0] for part in parts]).tocsr(), vstack([part[1] for part in parts]).tocsr()
    return best_products(asked, holders, np.ones(target.original.rows))
