"""Random permutations within groups, and derangements."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.random import Generator

from anoncup.geometry.arrays import IntArray
from anoncup.geometry.encoding import factorize, group_rows


def find_equivalence_classes(table: pd.DataFrame, quasi_identifiers: Sequence[str]) -> IntArray:
    """Return the class number of every row, (n,). Without quasi-identifiers, all rows form one class."""
    codes = [factorize(table[name])[0] for name in quasi_identifiers]
    return group_rows(np.column_stack([np.zeros(len(table), dtype=np.int64), *codes])).group_ids


def shuffle_within_groups(group_of: IntArray, rng: Generator) -> IntArray:
    """Return a uniformly random permutation of the rows that keeps every row in its group."""
    permutation = np.empty(len(group_of), dtype=np.int64)
    permutation[np.argsort(group_of, kind="stable")] = np.lexsort((rng.random(len(group_of)), group_of))
    return permutation


def sample_derangement(rows: int, rng: Generator) -> IntArray:
    """Sample a uniformly random permutation without fixed points, by rejection (about e tries on average)."""
    while True:
        permutation = rng.permutation(rows)
        if rows < 2 or not (permutation == np.arange(rows)).any():
            return permutation
