"""Attackers that link rows by their quasi-identifiers (P0 §2.3; ``anoncup.tracks`` lists the papers).

X is the original and Y the release.
"""

from collections.abc import Sequence

import numpy as np

from anoncup.geometry.arrays import IntArray, slice_columns
from anoncup.geometry.nearest_neighbours import find_nearest_rows
from anoncup.tracks.linkage.attack_rates import GroupPrediction
from anoncup.tracks.memo import memoize
from anoncup.tracks.microdata.release import MicrodataTarget, find_column_indices


def id_rand(target: MicrodataTarget, *, quasi_identifiers: Sequence[str] | None = None) -> GroupPrediction:
    """Guess at random among the rows of X with the same quasi-identifiers, or abstain (E1 of P0)."""
    names = target.original.columns.quasi_identifiers if quasi_identifiers is None else quasi_identifiers
    grouping = target.original.group_by(names)
    return GroupPrediction(target.match_classes(names), grouping.group_ids, grouping.sizes)


def id_sa(
    target: MicrodataTarget, *, column: str | None = None, quasi_identifiers: Sequence[str] | None = None
) -> IntArray:
    """Guess the row of X with the same quasi-identifiers that is nearest in ``column`` (E2 of P0; P4 §4.5).

    If there is none, the nearest of all rows is guessed. The distance is |x - y|; ties go to the first row.
    The default column is the first sensitive one.
    """
    roles = target.original.columns
    names = roles.quasi_identifiers if quasi_identifiers is None else quasi_identifiers
    return find_nearest_matching(
        target, names, roles.sensitive[:1] if column is None else (column,), absolute=True
    )


def find_nearest_matching(
    target: MicrodataTarget,
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str],
    *,
    absolute: bool = False,
) -> IntArray:
    """Find the nearest row of X with the same quasi-identifiers or, if there is none, of all rows."""

    def search() -> IntArray:
        guess = find_nearest_in_class(target, quasi_identifiers, sensitive, absolute=absolute)
        unmatched = np.flatnonzero(guess < 0)
        guess[unmatched] = find_nearest_of_all(target, sensitive, unmatched, absolute=absolute)
        return guess

    key = ("nearest matching", tuple(quasi_identifiers), tuple(sensitive), absolute)
    return memoize(target.memo, key, search).copy()


def find_nearest_in_class(
    target: MicrodataTarget,
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str],
    *,
    absolute: bool = False,
) -> IntArray:
    """Find the nearest row of X with the same quasi-identifiers, or -1."""
    column_indices = find_column_indices(sensitive, target.original.columns.sensitive)
    index = target.original.get_search_index(quasi_identifiers, sensitive)
    groups = target.match_classes(quasi_identifiers)
    return find_nearest_rows(index, slice_columns(target.values, column_indices), groups, absolute=absolute)


def find_nearest_of_all(
    target: MicrodataTarget, sensitive: Sequence[str], rows: IntArray, *, absolute: bool = False
) -> IntArray:
    """Find the nearest row of X for the given rows of Y, which must be in ascending order."""
    if 0 < len(rows) == target.rows:
        key = ("nearest of all", tuple(sensitive), absolute)
        return memoize(
            target.memo, key, lambda: _find_nearest_of_rows(target, sensitive, rows, absolute)
        ).copy()
    return _find_nearest_of_rows(target, sensitive, rows, absolute) if len(rows) else rows


def _find_nearest_of_rows(
    target: MicrodataTarget, sensitive: Sequence[str], rows: IntArray, absolute: bool
) -> IntArray:
    column_indices = find_column_indices(sensitive, target.original.columns.sensitive)
    index = target.original.get_search_index((), sensitive)
    queries = slice_columns(target.values, column_indices)[rows]
    return find_nearest_rows(index, queries, np.zeros(len(rows), dtype=np.int64), absolute=absolute)
