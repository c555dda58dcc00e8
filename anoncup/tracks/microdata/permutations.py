"""Excessive methods, which leave every cell unchanged and only claim other rows (P2 §3)."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.random import Generator

from anoncup.geometry.arrays import IntArray
from anoncup.rules.settings import Columns
from anoncup.tracks.linkage.shuffling import derangement, equivalence_classes, shuffle_within
from anoncup.tracks.microdata.methods import AnonymizedTable


def shift(table: pd.DataFrame, roles: Columns, *, rng: Generator) -> AnonymizedTable:  # noqa: ARG001
    """Every individual claims the next one's row: p(i) = i mod n + 1."""
    return _claim_rows(table, np.roll(np.arange(len(table)), -1))


def random_permutation(
    table: pd.DataFrame,
    roles: Columns,  # noqa: ARG001
    *,
    rng: Generator,
) -> AnonymizedTable:
    """Every individual claims a row by a uniformly random permutation."""
    return _claim_rows(table, rng.permutation(len(table)))


def group_permutation(
    table: pd.DataFrame, roles: Columns, *, rng: Generator, columns: Sequence[str] | None = None
) -> AnonymizedTable:
    """Permute randomly inside each group of rows that are equal in ``columns`` (default: all of Q)."""
    names = roles.quasi_identifiers if columns is None else columns
    return _claim_rows(table, shuffle_within(equivalence_classes(table, names), rng))


def cheating_permutation(
    table: pd.DataFrame,
    roles: Columns,  # noqa: ARG001
    *,
    rng: Generator,
) -> AnonymizedTable:
    """Apply a uniformly random derangement ("Yamaoka"; P0's Dc); a single row stays."""
    return _claim_rows(table, derangement(len(table), rng))


def shuffle_rows(anonymized: pd.DataFrame, source: IntArray, *, rng: Generator) -> AnonymizedTable:
    """Return the release in random row order, as teams should submit it."""
    order = rng.permutation(len(anonymized))
    return anonymized.iloc[order].reset_index(drop=True), source[order]


def _claim_rows(table: pd.DataFrame, claims: IntArray) -> AnonymizedTable:
    """Give individual i the row ``claims[i]`` of X."""
    return table.iloc[claims].reset_index(drop=True), np.arange(len(table))
