"""Methods that leave every cell as it is and only claim other rows (P2 §3): the excessive ones."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.random import Generator

from anoncup.geometry.arrays import IntArray
from anoncup.rules.settings import Columns
from anoncup.tracks.linkage.shuffling import derangement, equivalence_classes, shuffled_within
from anoncup.tracks.microdata.methods import Anonymized


def shift(table: pd.DataFrame, roles: Columns, *, rng: Generator) -> Anonymized:  # noqa: ARG001
    """Everybody claims the next one's row: p(i) = i mod n + 1."""
    return _claimed(table, np.roll(np.arange(len(table)), -1))


def random_permutation(
    table: pd.DataFrame,
    roles: Columns,  # noqa: ARG001
    *,
    rng: Generator,
) -> Anonymized:
    """Everybody claims a row by a uniformly random permutation."""
    return _claimed(table, rng.permutation(len(table)))


def group_permutation(
    table: pd.DataFrame, roles: Columns, *, rng: Generator, columns: Sequence[str] | None = None
) -> Anonymized:
    """A random permutation inside each group of rows equal in ``columns`` (default: all of Q)."""
    names = roles.quasi_identifiers if columns is None else columns
    return _claimed(table, shuffled_within(equivalence_classes(table, names), rng))


def cheating_permutation(
    table: pd.DataFrame,
    roles: Columns,  # noqa: ARG001
    *,
    rng: Generator,
) -> Anonymized:
    """Nobody keeps his row: a uniformly random derangement ("Yamaoka"; P0's Dc). A single row stays."""
    return _claimed(table, derangement(len(table), rng))


def shuffle_rows(anonymized: pd.DataFrame, source: IntArray, *, rng: Generator) -> Anonymized:
    """The same release in random row order, as a team should hand it in."""
    order = rng.permutation(len(anonymized))
    return anonymized.iloc[order].reset_index(drop=True), source[order]


def _claimed(table: pd.DataFrame, claims: IntArray) -> Anonymized:
    """Individual i's row in Y is row ``claims[i]`` of X."""
    return table.iloc[claims].reset_index(drop=True), np.arange(len(table))
