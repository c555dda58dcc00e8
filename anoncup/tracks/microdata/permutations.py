"""Methods of excessive anonymization, which leave every cell unchanged and only exchange the rows' owners.

They are described in section 3 of Nojima et al., "How to Handle Excessively Anonymized Datasets" (2018). A
permutation p says that individual i claims row p(i). P0 is one of the papers listed in ``anoncup.tracks``.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.random import Generator

from anoncup.geometry.arrays import IntArray
from anoncup.rules.settings import Columns
from anoncup.tracks.linkage.shuffling import (
    find_equivalence_classes,
    sample_derangement,
    shuffle_within_groups,
)
from anoncup.tracks.microdata.methods import AnonymizedTable


def shift(table: pd.DataFrame, roles: Columns, *, rng: Generator) -> AnonymizedTable:  # noqa: ARG001
    """Let every individual claim the next one's row: p(i) = i mod n + 1."""
    return _claim_rows(table, np.roll(np.arange(len(table)), -1))


def random_permutation(
    table: pd.DataFrame,
    roles: Columns,  # noqa: ARG001
    *,
    rng: Generator,
) -> AnonymizedTable:
    """Let every individual claim a row by a uniformly random permutation."""
    return _claim_rows(table, rng.permutation(len(table)))


def group_permutation(
    table: pd.DataFrame, roles: Columns, *, rng: Generator, columns: Sequence[str] | None = None
) -> AnonymizedTable:
    """Permute randomly within groups of rows with equal ``columns`` (default: all quasi-identifiers)."""
    names = roles.quasi_identifiers if columns is None else columns
    return _claim_rows(table, shuffle_within_groups(find_equivalence_classes(table, names), rng))


def cheating_permutation(
    table: pd.DataFrame,
    roles: Columns,  # noqa: ARG001
    *,
    rng: Generator,
) -> AnonymizedTable:
    """Apply a uniformly random derangement (Dc in P0, "Yamaoka"); a table with one row is unchanged."""
    return _claim_rows(table, sample_derangement(len(table), rng))


def shuffle_rows(anonymized: pd.DataFrame, source: IntArray, *, rng: Generator) -> AnonymizedTable:
    """Return the release with its rows in random order, as teams should submit it."""
    order = rng.permutation(len(anonymized))
    return anonymized.iloc[order].reset_index(drop=True), source[order]


def _claim_rows(table: pd.DataFrame, claims: IntArray) -> AnonymizedTable:
    """Give individual i the row ``claims[i]`` of X."""
    return table.iloc[claims].reset_index(drop=True), np.arange(len(table))
