"""Random permutations within groups, and derangements."""

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
from numpy.random import Generator

from anoncup.geometry.arrays import FloatArray, IntArray
from anoncup.geometry.encoding import build_vocabulary, column_texts, encode, group_rows


def equivalence_classes(table: pd.DataFrame, quasi_identifiers: Sequence[str]) -> IntArray:
    """Return the class number of every row, (n,). Without quasi-identifiers, all rows form one class."""
    cells = [column_texts(table, name) for name in quasi_identifiers]
    codes = [encode(column, build_vocabulary(column)) for column in cells]
    return group_rows(np.column_stack([np.zeros(len(table), dtype=np.int64), *codes])).group_ids


def shuffle_within(group_of: IntArray, rng: Generator) -> IntArray:
    """Return a uniformly random permutation of the rows that keeps every row in its group."""
    return make_shuffler(group_of)(rng)


def make_shuffler(group_of: IntArray) -> Callable[[Generator], IntArray]:
    """Return :func:`shuffle_within` for these groups as a function that can be called many times."""
    rows = np.argsort(group_of, kind="stable")

    def shuffle(rng: Generator) -> IntArray:
        permutation = np.empty(len(group_of), dtype=np.int64)
        permutation[rows] = order_within(group_of, rng.random(len(group_of)))
        return permutation

    return shuffle


def order_within(group_of: IntArray, shares: FloatArray) -> IntArray:
    """Return the rows sorted by group, then by ``shares`` in [0, 1), then by row: (n,).

    Sorting by the sum of group and share is faster and enough unless rounding makes sums equal.
    """
    keys = group_of + shares
    order = np.argsort(keys)
    if (np.diff(keys[order]) > 0).all():
        return order
    return np.lexsort((shares, group_of))


def derangement(rows: int, rng: Generator) -> IntArray:
    """Return a uniformly random permutation without a fixed point, by rejection (e tries on average)."""
    while True:
        permutation = rng.permutation(rows)
        if rows < 2 or not (permutation == np.arange(rows)).any():
            return permutation
