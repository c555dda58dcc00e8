"""Attackers that recognize customers by single records: receipts, or combinations of cells.

Each receipt or combination that an anonymized customer (of M') shares with an original customer (of M) is a
vote for the original one. The most votes win; ties within rounding go to the first row. The attacker abstains
if there are no votes.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, hstack, vstack

from anoncup.geometry.arrays import IntArray, SparseWeights
from anoncup.geometry.encoding import RowGroups, assign_groups, group_rows
from anoncup.tracks.memo import memoize
from anoncup.tracks.transactions.baskets import apply_weights, find_best_product_columns
from anoncup.tracks.transactions.release import TransactionHistory, TransactionOriginal, TransactionTarget

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
    """Count each receipt id that also occurs in the original as a vote for its customer."""
    return _find_most_voted([_build_votes(target, ("receipt",), split_votes=False)], target)


def record_keys(target: TransactionTarget) -> IntArray:
    """Count each distinct key as 1/k votes for each of the k original customers that have it.

    The keys are the six combinations in ``RECORD_KEYS``. Cells are compared as they are written, prices as
    numbers.
    """
    return _find_most_voted([_build_votes(target, names, split_votes=True) for names in RECORD_KEYS], target)


@dataclass(frozen=True, slots=True)
class KeyHolders:
    """The distinct keys of the original and the customers that have them, (keys, n)."""

    grouping: RowGroups
    holders: SparseWeights


@memoize
def _build_keys(original: TransactionOriginal, names: tuple[str, ...]) -> KeyHolders:
    grouping = group_rows(np.stack([_group_values(original, name).group_ids for name in names], axis=1))
    holders = _build_incidence_matrix(
        grouping.group_ids, original.history.owner, (grouping.count, original.rows)
    )
    return KeyHolders(grouping, holders)


@memoize
def _group_values(original: TransactionOriginal, name: str) -> RowGroups:
    """Group the records by the values of one column."""
    return group_rows(_encode_column(original.history, name))


def _encode_column(history: TransactionHistory, name: str) -> IntArray:
    """Return a column as integers, (m, 1); prices are represented by their bits, with -0.0 as 0.0."""
    column: IntArray = getattr(history, name)
    return ((column + 0.0).view(np.int64) if name == "price" else column)[:, None]


def _build_votes(
    target: TransactionTarget, names: tuple[str, ...], *, split_votes: bool
) -> tuple[SparseWeights, SparseWeights]:
    """Return the keys of each customer of M', (n', keys), and their votes for customers of M, (keys, n)."""
    keys = _build_keys(target.original, names)
    key_numbers = assign_groups(
        keys.grouping, np.stack([_encode_target_column(target, name) for name in names], axis=1)
    )
    is_known = key_numbers >= 0
    shape = (target.rows, keys.grouping.count)
    incidence = _build_incidence_matrix(target.history.owner[is_known], key_numbers[is_known], shape)
    if not split_votes:
        return incidence, keys.holders
    counts = np.maximum(np.diff(keys.holders.indptr), 1)
    return apply_weights(incidence, 1.0 / counts), keys.holders


@memoize
def _encode_target_column(target: TransactionTarget, name: str) -> IntArray:
    """Return a column of the target in the original's numbering; all unknown values get the next number."""
    grouping = _group_values(target.original, name)
    numbers = assign_groups(grouping, _encode_column(target.history, name))
    return np.where(numbers >= 0, numbers, grouping.count)


def _build_incidence_matrix(rows: IntArray, columns: IntArray, shape: tuple[int, int]) -> SparseWeights:
    """Return a matrix with a 1 at every pair (row, column) that occurs at least once."""
    pairs = np.sort(rows * shape[1] + columns)
    pairs = pairs[np.diff(pairs, prepend=-1) > 0]
    row_numbers, column_numbers = np.divmod(pairs, max(shape[1], 1))
    starts = np.concatenate(([0], np.cumsum(np.bincount(row_numbers, minlength=shape[0]))))
    return csr_array((np.ones(len(pairs)), column_numbers, starts), shape=shape)


def _find_most_voted(votes: list[tuple[SparseWeights, SparseWeights]], target: TransactionTarget) -> IntArray:
    incidence = hstack([vote_pair[0] for vote_pair in votes]).tocsr()
    holders = vstack([vote_pair[1] for vote_pair in votes]).tocsr()
    return find_best_product_columns(incidence, holders, np.ones(target.original.rows))
