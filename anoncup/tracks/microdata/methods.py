"""Sample anonymization methods for microdata (P0 §4.2, P4 §4.2).

Each takes a table, its columns' roles and a seeded generator and returns (Y, source): the rows of Y stand in
the original's order, row j coming from row ``source[j]``, counted from 0. The table given is left alone.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.random import Generator

from anoncup.geometry.arrays import FloatArray, IntArray
from anoncup.geometry.encoding import encode, texts, vocabulary_of
from anoncup.geometry.stable_sums import headroom, standard_deviation
from anoncup.rules.settings import Columns
from anoncup.tracks.linkage.merging import merge_small_classes, representatives
from anoncup.tracks.linkage.shuffling import equivalence_classes, shuffled_within

Anonymized = tuple[pd.DataFrame, IntArray]


def k_anonymize(table: pd.DataFrame, roles: Columns, *, rng: Generator, k: int = 3) -> Anonymized:  # noqa: ARG001
    """Merge classes smaller than ``k`` with near ones; a merged class takes its commonest texts.

    Every class of Y has at least min(k, n) rows. P0's Da. No chance is involved.
    """
    names = list(roles.quasi_identifiers)
    cells = [texts(table, name) for name in names]
    vocabularies = list(map(vocabulary_of, cells))
    codes = np.column_stack([np.zeros(len(table), dtype=np.int64), *map(encode, cells, vocabularies)])
    cluster = merge_small_classes(codes, k)
    chosen = representatives(codes, cluster)[cluster].T[1:]
    spelled = [
        np.array(list(words), dtype=object)[code] for words, code in zip(vocabularies, chosen, strict=True)
    ]
    return _replaced(table, dict(zip(names, spelled, strict=True))), _every_row(table)


def add_noise(table: pd.DataFrame, roles: Columns, *, rng: Generator, strength: float = 0.1) -> Anonymized:
    """Add normal noise of ``strength`` standard deviations of its column to every sensitive cell. P0's Db."""

    def noisy(column: FloatArray) -> FloatArray:
        noise = rng.standard_normal(len(column)) * (strength * standard_deviation(column))
        largest = np.finfo(np.float64).max
        with np.errstate(over="ignore"):
            return np.clip(column + noise, -largest, largest)

    return _replaced(table, {name: noisy(_values(table, name)) for name in roles.sensitive}), _every_row(
        table
    )


def unify_columns(
    table: pd.DataFrame,
    roles: Columns,
    *,
    rng: Generator,  # noqa: ARG001
    columns: Sequence[str] | None = None,
) -> Anonymized:
    """Give the quasi-identifiers ``columns`` (default: the last) their commonest text. P0's Dd, De."""
    names = roles.quasi_identifiers[-1:] if columns is None else columns
    unified = {name: np.full(len(table), commonest(texts(table, name)), dtype=object) for name in names}
    return _replaced(table, unified), _every_row(table)


def microaggregate(table: pd.DataFrame, roles: Columns, *, rng: Generator) -> Anonymized:  # noqa: ARG001
    """Replace every sensitive cell by its column's mean over the equivalence class. P0's Df."""
    group_of = equivalence_classes(table, roles.quasi_identifiers)

    def averaged(column: FloatArray) -> FloatArray:
        room = headroom(column)
        sums = np.bincount(group_of, weights=np.ldexp(column, room))
        return np.ldexp((sums / np.bincount(group_of))[group_of], -room)

    return _replaced(table, {name: averaged(_values(table, name)) for name in roles.sensitive}), _every_row(
        table
    )


def swap_within_classes(table: pd.DataFrame, roles: Columns, *, rng: Generator) -> Anonymized:
    """Permute every sensitive column by itself inside each equivalence class. P0's Dg."""
    group_of = equivalence_classes(table, roles.quasi_identifiers)

    def swapped(column: FloatArray) -> FloatArray:
        return column[shuffled_within(group_of, rng)]

    return _replaced(table, {name: swapped(_values(table, name)) for name in roles.sensitive}), _every_row(
        table
    )


def delete_rows(
    table: pd.DataFrame,
    roles: Columns,  # noqa: ARG001
    *,
    rng: Generator,
    share: float = 0.01,
) -> Anonymized:
    """Delete a random ``share`` of the rows, rounded to the nearest number; one row always stays. P0's Dh."""
    deleted = min(round(share * len(table)), len(table) - 1)
    kept = np.sort(rng.permutation(len(table))[deleted:])
    return table.iloc[kept].reset_index(drop=True), kept


def commonest(cells: Sequence[str]) -> str:
    """The most frequent text; of equally frequent ones the first to appear."""
    vocabulary = vocabulary_of(cells)
    return list(vocabulary)[int(np.bincount(encode(cells, vocabulary)).argmax())]


def _values(table: pd.DataFrame, name: str) -> FloatArray:
    return table[name].to_numpy(dtype=np.float64, copy=True)


def _replaced(table: pd.DataFrame, columns: Mapping[str, np.ndarray[Any, Any]]) -> pd.DataFrame:
    """A copy with some columns replaced, in the table's own order and index; texts keep their type."""
    changed = table.copy()
    for name, cells in columns.items():
        # Noise on whole numbers, or their mean, is no whole number.
        kind = table[name].dtype if cells.dtype == object else cells.dtype
        changed[name] = pd.Series(cells, index=table.index, dtype=kind)
    return changed


def _every_row(table: pd.DataFrame) -> IntArray:
    return np.arange(len(table))
