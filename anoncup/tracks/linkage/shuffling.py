"""Random permutations: within groups, and without fixed points."""

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
from numpy.random import Generator

from anoncup.geometry.arrays import FloatArray, IntArray
from anoncup.geometry.encoding import encode, group_rows, texts, vocabulary_of


def equivalence_classes(table: pd.DataFrame, quasi_identifiers: Sequence[str]) -> IntArray:
    """The class number of every row, (n,); no quasi-identifiers: one class."""
    cells = [texts(table, name) for name in quasi_identifiers]
    codes = [encode(column, vocabulary_of(column)) for column in cells]
    return group_rows(np.column_stack([np.zeros(len(table), dtype=np.int64), *codes])).group_of


def shuffled_within(group_of: IntArray, rng: Generator) -> IntArray:
    """A uniformly random permutation of the rows that keeps every row in its group."""
    return shuffler(group_of)(rng)


def shuffler(group_of: IntArray) -> Callable[[Generator], IntArray]:
    """:func:`shuffled_within` of these groups, to be drawn many times."""
    rows = np.argsort(group_of, kind="stable")

    def draw(rng: Generator) -> IntArray:
        moved = np.empty(len(group_of), dtype=np.int64)
        moved[rows] = ordered_within(group_of, rng.random(len(group_of)))
        return moved

    return draw


def ordered_within(group_of: IntArray, shares: FloatArray) -> IntArray:
    """Rows by group, then by their ``shares`` in [0, 1), then by row: (n,).

    One sum of both tells most orders; rounding may make sums equal, but never the wrong way round.
    """
    keys = group_of + shares
    order = np.argsort(keys)
    if (np.diff(keys[order]) > 0).all():
        return order
    return np.lexsort((shares, group_of))


def derangement(rows: int, rng: Generator) -> IntArray:
    """A uniformly random permutation without a fixed point, by rejection (e tries on average)."""
    while True:
        drawn = rng.permutation(rows)
        if rows < 2 or not (drawn == np.arange(rows)).any():
            return drawn
