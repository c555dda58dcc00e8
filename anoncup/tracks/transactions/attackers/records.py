"""Attackers that recognize customers by single records: receipts, or combinations of cells.

Everything that a customer of M' shares with a customer of M is a vote for the latter. The most votes win;
ties within rounding go to the lower row. Without a vote the attacker abstains.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, hstack, vstack

from anoncup.geometry.arrays import IntArray, SparseWeights
from anoncup.geometry.encoding import RowGroups, assign_groups, group_rows
from anoncup.tracks.memo import memoize
from anoncup.tracks.transactions.baskets import apply_weights, find_best_products
from anoncup.tracks.transactions.release import PreparedTransactions, TransactionHistory, TransactionTarget

RECORD_KEYS = (
    ("day", "quantity"),
    ("goods", "price"),
    ("goods", "quantity"),
    ("day", "goods"),
    ("goods", "price", "quantity"),
    ("goods", "day", "quantity"),
)
"""Combinations of cells that ``record_keys`` compares (after S1-S6 of PWS Cup 2017)."""


def receipt_match(target: TransactionTarget) -> IntArray:
    """Each receipt id of a customer of M' that occurs in T is a vote for its customer."""
    return _elect([_build_votes(target, ("receipt",), split_votes=False)], target)


def record_keys(target: TransactionTarget) -> IntArray:
    """Each distinct key of a customer of M' gives 1/k votes to each of the k customers of M that have it.

    Keys: the six combinations in ``RECORD_KEYS``, compared as they are written, prices as numbers.
    """
    return _elect([_build_votes(target, names, split_votes=True) for names in RECORD_KEYS], target)


@dataclass(frozen=True, slots=True)
class KeyHolders:
    """The distinct keys of the original and the customers that have them, (keys, n)."""

    grouping: RowGroups
    holders: SparseWeights


def _build_keys(original: PreparedTransactions, names: Sequence[str]) -> KeyHolders:
    def build() -> KeyHolders:
        grouping = group_rows(np.stack([_group_values(original, name).group_ids for name in names], axis=1))
        holders = _build_incidence(
            grouping.group_ids, original.history.owner, (grouping.count, original.rows)
        )
        return KeyHolders(grouping, holders)

    return memoize(original.memo, ("keys", *names), build)


def _group_values(original: PreparedTransactions, name: str) -> RowGroups:
    """Group the records by the values of one column."""
    return memoize(
        original.memo, ("values", name), lambda: group_rows(_encode_column(original.history, name))
    )


def _encode_column(history: TransactionHistory, name: str) -> IntArray:
    """Return a column as numbers, (m, 1); prices by their bits, where 0.0 and -0.0 are equal."""
    column: IntArray = getattr(history, name)
    return ((column + 0.0).view(np.int64) if name == "price" else column)[:, None]


def _build_votes(
    target: TransactionTarget, names: Sequence[str], *, split_votes: bool
) -> tuple[SparseWeights, SparseWeights]:
    """Return the keys of each customer of M', (n', keys), and their votes for customers of M, (keys, n)."""
    keys = _build_keys(target.original, names)
    key_numbers = assign_groups(
        keys.grouping, np.stack([_encode_target_column(target, name) for name in names], axis=1)
    )
    is_known = key_numbers >= 0
    shape = (target.rows, keys.grouping.count)
    incidence = _build_incidence(target.history.owner[is_known], key_numbers[is_known], shape)
    if not split_votes:
        return incidence, keys.holders
    counts = np.maximum(np.diff(keys.holders.indptr), 1)
    return apply_weights(incidence, 1.0 / counts), keys.holders


def _encode_target_column(target: TransactionTarget, name: str) -> IntArray:
    """Return a column of the target in the original's numbering; all unknown values get the next number."""

    def encode() -> IntArray:
        grouping = _group_values(target.original, name)
        numbers = assign_groups(grouping, _encode_column(target.history, name))
        return np.where(numbers >= 0, numbers, grouping.count)

    return memoize(target.memo, ("codes", name), encode)


def _build_incidence(rows: IntArray, columns: IntArray, shape: tuple[int, int]) -> SparseWeights:
    """Return a matrix of 1 at every pair that occurs, however often."""
    pairs = np.sort(rows * shape[1] + columns)
    pairs = pairs[np.diff(pairs, prepend=-1) > 0]
    row_numbers, column_numbers = np.divmod(pairs, max(shape[1], 1))
    starts = np.concatenate(([0], np.cumsum(np.bincount(row_numbers, minlength=shape[0]))))
    return csr_array((np.ones(len(pairs)), column_numbers, starts), shape=shape)


def _elect(votes: list[tuple[SparseWeights, SparseWeights]], target: TransactionTarget) -> IntArray:
    incidence = hstack([vote[0] for vote in votes]).tocsr()
    holders = vstack([vote[1] for vote in votes]).tocsr()
    return find_best_products(incidence, holders, np.ones(target.original.rows))
