"""Attackers that recognize customers by single records: receipts, or combinations of cells.

Each key (a receipt or a combination) that a customer of M' shares with a customer of M is a vote for the
latter. The most votes win; ties within rounding go to the first row. Without votes the attacker abstains.
"""

import numpy as np
from scipy.sparse import hstack, vstack

from anoncup.geometry.arrays import IntArray, SparseCounts
from anoncup.geometry.encoding import RowGroups, assign_groups, group_rows
from anoncup.tracks.memo import memoize
from anoncup.tracks.transactions.baskets import (
    apply_weights,
    build_incidence_matrix,
    find_best_product_columns,
)
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
    """Count each receipt id that also occurs in T as a vote for its customer, (n',)."""
    return find_best_product_columns(
        _find_shared_keys(target, ("receipt",)), _find_holders(target.original, ("receipt",))
    )


def record_keys(target: TransactionTarget) -> IntArray:
    """Count each distinct key as 1/k votes for each of the k customers of M that have it, (n',).

    The keys are the six combinations in ``RECORD_KEYS``. Cells are compared as they are written, prices as
    numbers.
    """
    shared_keys = hstack([_find_shared_keys(target, names) for names in RECORD_KEYS]).tocsr()
    holders = vstack([_find_holders(target.original, names) for names in RECORD_KEYS]).tocsr()
    votes = apply_weights(shared_keys, 1.0 / np.diff(holders.indptr))
    return find_best_product_columns(votes, holders)


def _find_shared_keys(target: TransactionTarget, names: tuple[str, ...]) -> SparseCounts:
    """Return 1 if a customer of M' has a key of T, else 0, (n', keys)."""
    original_keys = _number_keys(target.original, names)
    columns = [_number_target_cells(target, name) for name in names]
    keys = assign_groups(original_keys, np.stack(columns, axis=1))
    owner, is_known = target.history.owner, keys >= 0
    return build_incidence_matrix(owner[is_known], keys[is_known], (target.rows, original_keys.count))


@memoize
def _find_holders(original: TransactionOriginal, names: tuple[str, ...]) -> SparseCounts:
    """Return 1 if a key occurs in the records of a customer of M, else 0, (keys, n)."""
    keys = _number_keys(original, names)
    return build_incidence_matrix(keys.group_ids, original.history.owner, (keys.count, original.rows))


@memoize
def _number_keys(original: TransactionOriginal, names: tuple[str, ...]) -> RowGroups:
    return group_rows(np.stack([_number_cells(original, name).group_ids for name in names], axis=1))


@memoize
def _number_cells(original: TransactionOriginal, name: str) -> RowGroups:
    return group_rows(_convert_to_integers(original.history, name))


@memoize
def _number_target_cells(target: TransactionTarget, name: str) -> IntArray:
    """Return a column of T' in the numbering of T, (m',); all unknown values get the next number."""
    original_cells = _number_cells(target.original, name)
    numbers = assign_groups(original_cells, _convert_to_integers(target.history, name))
    return np.where(numbers >= 0, numbers, original_cells.count)


def _convert_to_integers(history: TransactionHistory, name: str) -> IntArray:
    """Return a column as integers, (m, 1); prices are represented by their bits, with -0.0 as 0.0."""
    column: IntArray = getattr(history, name)
    return ((column + 0.0).view(np.int64) if name == "price" else column)[:, np.newaxis]
