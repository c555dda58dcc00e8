"""Sample anonymization methods for microdata (P0 §4.2, P4 §4.2; ``anoncup.tracks`` lists the papers).

Each takes a table, its columns' roles and a seeded generator and returns (Y, source). The rows of Y keep the
original's order, and row j comes from row ``source[j]``, counted from 0. The input table is not changed.

Methods of excessive anonymization leave every cell unchanged and only exchange the rows' owners (P2 §2.1.2:
Nojima et al., "How to Handle Excessively Anonymized Datasets", 2018). Their permutation p says that
individual i claims row p(i).
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.random import Generator

from anoncup.geometry.arrays import FloatArray, IntArray
from anoncup.geometry.encoding import factorize
from anoncup.geometry.statistics import standard_deviation
from anoncup.rules.settings import Columns
from anoncup.tables.csv_text import limit_numbers
from anoncup.tracks.linkage.merging import find_representatives, merge_small_classes
from anoncup.tracks.linkage.shuffling import (
    find_equivalence_classes,
    sample_derangement,
    shuffle_within_groups,
)
from anoncup.tracks.microdata.release import AnonymizedTable


def k_anonymize(table: pd.DataFrame, roles: Columns, *, rng: Generator, k: int = 3) -> AnonymizedTable:
    """Merge classes with less than ``k`` rows with similar ones and give all rows their most frequent texts.

    Every class of Y has at least min(k, n) rows. The method is deterministic (Da, P0 §4.2).
    """
    names = list(roles.quasi_identifiers)
    columns = [factorize(table[name]) for name in names]
    codes = np.column_stack([np.zeros(len(table), dtype=np.int64), *(codes for codes, _ in columns)])
    cluster = merge_small_classes(codes, k)
    cluster_codes = find_representatives(codes, cluster)[cluster].T[1:]
    cluster_texts = [
        np.array(distinct, dtype=object)[code]
        for (_, distinct), code in zip(columns, cluster_codes, strict=True)
    ]
    return _replace_columns(table, dict(zip(names, cluster_texts, strict=True))), _identity_source(table)


def add_noise(
    table: pd.DataFrame, roles: Columns, *, rng: Generator, strength: float = 0.1
) -> AnonymizedTable:
    """Add normal noise of ``strength`` standard deviations of the column to sensitive cells (Db, P0 §4.2)."""

    def perturb(column: FloatArray) -> FloatArray:
        noise = rng.standard_normal(len(column)) * (strength * standard_deviation(column))
        return limit_numbers(column + noise)

    return _change_sensitive(table, roles, perturb)


def unify_columns(
    table: pd.DataFrame, roles: Columns, *, rng: Generator, columns: Sequence[str] | None = None
) -> AnonymizedTable:
    """Set quasi-identifiers (default: the last one) to their most frequent text (Dd and De, P0 §4.2)."""
    names = roles.quasi_identifiers[-1:] if columns is None else columns
    unified_columns = {
        name: np.full(len(table), _find_most_frequent(table[name]), dtype=object) for name in names
    }
    return _replace_columns(table, unified_columns), _identity_source(table)


def microaggregate(table: pd.DataFrame, roles: Columns, *, rng: Generator) -> AnonymizedTable:
    """Replace every sensitive cell by its column's mean over the equivalence class (Df, P0 §4.2)."""
    group_of = find_equivalence_classes(table, roles.quasi_identifiers)

    def average(column: FloatArray) -> FloatArray:
        sums = np.bincount(group_of, weights=column)
        return limit_numbers((sums / np.bincount(group_of))[group_of])

    return _change_sensitive(table, roles, average)


def swap_within_classes(table: pd.DataFrame, roles: Columns, *, rng: Generator) -> AnonymizedTable:
    """Permute every sensitive column independently within each equivalence class (Dg, P0 §4.2)."""
    group_of = find_equivalence_classes(table, roles.quasi_identifiers)
    return _change_sensitive(table, roles, lambda column: column[shuffle_within_groups(group_of, rng)])


def delete_rows(
    table: pd.DataFrame, roles: Columns, *, rng: Generator, share: float = 0.01
) -> AnonymizedTable:
    """Delete a random ``share`` of the rows, but never all of them (Dh, P0 §4.2)."""
    deleted_count = min(round(share * len(table)), len(table) - 1)
    kept_rows = np.sort(rng.permutation(len(table))[deleted_count:])
    return table.iloc[kept_rows].reset_index(drop=True), kept_rows


def shift(table: pd.DataFrame, roles: Columns, *, rng: Generator) -> AnonymizedTable:
    """Let every individual claim the next one's row: p(i) = i mod n + 1 (shift type, P2 §2.1.2)."""
    return _claim_rows(table, np.roll(np.arange(len(table)), -1))


def random_permutation(table: pd.DataFrame, roles: Columns, *, rng: Generator) -> AnonymizedTable:
    """Let every individual claim a row by a uniformly random permutation (random type, P2 §2.1.2)."""
    return _claim_rows(table, rng.permutation(len(table)))


def group_permutation(
    table: pd.DataFrame, roles: Columns, *, rng: Generator, columns: Sequence[str] | None = None
) -> AnonymizedTable:
    """Permute randomly within groups of rows with equal ``columns`` (default: all quasi-identifiers).

    This is the multi-random type of P2 §4.3.3.
    """
    names = roles.quasi_identifiers if columns is None else columns
    return _claim_rows(table, shuffle_within_groups(find_equivalence_classes(table, names), rng))


def cheating_permutation(table: pd.DataFrame, roles: Columns, *, rng: Generator) -> AnonymizedTable:
    """Apply a uniformly random derangement (Dc, "Yamaoka", P0 §4.2); a table with one row is unchanged."""
    return _claim_rows(table, sample_derangement(len(table), rng))


def shuffle_rows(anonymized: pd.DataFrame, source: IntArray, *, rng: Generator) -> AnonymizedTable:
    """Return the release with its rows in random order, as teams should submit it."""
    order = rng.permutation(len(anonymized))
    return anonymized.iloc[order].reset_index(drop=True), source[order]


def _claim_rows(table: pd.DataFrame, claims: IntArray) -> AnonymizedTable:
    """Give individual i the row ``claims[i]`` of X."""
    return table.iloc[claims].reset_index(drop=True), np.arange(len(table))


def _find_most_frequent(column: pd.Series) -> str:
    """Return the most frequent text; ties: the first to appear."""
    codes, distinct = factorize(column)
    return distinct[int(np.bincount(codes).argmax())]


def _change_sensitive(
    table: pd.DataFrame, roles: Columns, change: Callable[[FloatArray], FloatArray]
) -> AnonymizedTable:
    """Change every sensitive column."""
    columns = {name: change(table[name].to_numpy(dtype=np.float64, copy=True)) for name in roles.sensitive}
    return _replace_columns(table, columns), _identity_source(table)


def _replace_columns(table: pd.DataFrame, columns: Mapping[str, np.ndarray[Any, Any]]) -> pd.DataFrame:
    """Return a copy of the table with the given columns replaced; text columns keep their type."""
    result = table.copy()
    for name, cells in columns.items():
        # A column of whole numbers must become a float column for noise and means.
        dtype = table[name].dtype if cells.dtype == object else cells.dtype
        result[name] = pd.Series(cells, index=table.index, dtype=dtype)
    return result


def _identity_source(table: pd.DataFrame) -> IntArray:
    return np.arange(len(table))
