"""Attackers that link rows by their quasi-identifiers (P0 §2.3)."""

from collections.abc import Sequence

import numpy as np

from anoncup.geometry.arrays import IntArray, select_columns
from anoncup.geometry.nearest_neighbours import nearest_rows
from anoncup.tracks.linkage.attack_rates import Candidates
from anoncup.tracks.memo import memoize
from anoncup.tracks.microdata.release import MicrodataTarget, find_column_indices


def id_rand(target: MicrodataTarget, *, quasi_identifiers: Sequence[str] | None = None) -> Candidates:
    """E1: guess at random among the rows of X with the same quasi-identifiers; abstain without one."""
    names = target.original.columns.quasi_identifiers if quasi_identifiers is None else quasi_identifiers
    grouping = target.original.group_by(names)
    return Candidates(target.matching_classes(names), grouping.group_ids, grouping.sizes)


def id_sa(
    target: MicrodataTarget, *, column: str | None = None, quasi_identifiers: Sequence[str] | None = None
) -> IntArray:
    """E2: guess the row of X with the same quasi-identifiers that is nearest in ``column``.

    Without such a row, the nearest of all rows. Distance |x - y|, ties to the lower row. Default column: the
    first sensitive one (P0 §2.3, P4 §4.5).
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
    """Find the nearest row of X with the same quasi-identifiers; without one, the nearest of all rows."""

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
    """Find the nearest row of X with the same quasi-identifiers; -1 without one."""
    column_indices = find_column_indices(sensitive, target.original.columns.sensitive)
    index = target.original.search_index(quasi_identifiers, sensitive)
    groups = target.matching_classes(quasi_identifiers)
    return nearest_rows(index, select_columns(target.values, column_indices), groups, absolute=absolute)


def find_nearest_of_all(
    target: MicrodataTarget, sensitive: Sequence[str], rows: IntArray, *, absolute: bool = False
) -> IntArray:
    """Find the nearest row of X for the given rows of Y, which are ascending."""
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
    index = target.original.search_index((), sensitive)
    queries = select_columns(target.values, column_indices)[rows]
    return nearest_rows(index, queries, np.zeros(len(rows), dtype=np.int64), absolute=absolute)
