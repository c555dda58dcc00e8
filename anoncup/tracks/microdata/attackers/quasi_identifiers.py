"""Attackers that link rows by their quasi-identifiers (P0 §2.3)."""

from collections.abc import Sequence

import numpy as np

from anoncup.geometry.arrays import IntArray, columns_at
from anoncup.geometry.nearest_neighbours import nearest_rows
from anoncup.tracks.linkage.attack_rates import Candidates
from anoncup.tracks.memo import once
from anoncup.tracks.microdata.release import Target, places_of


def id_rand(target: Target, *, quasi_identifiers: Sequence[str] | None = None) -> Candidates:
    """E1: any row of X with the same quasi-identifiers, each as likely; none: abstain."""
    names = target.original.columns.quasi_identifiers if quasi_identifiers is None else quasi_identifiers
    grouping = target.original.grouping(names)
    return Candidates(target.matches(names), grouping.group_of, grouping.sizes)


def id_sa(
    target: Target, *, column: str | None = None, quasi_identifiers: Sequence[str] | None = None
) -> IntArray:
    """E2: of the rows of X with the same quasi-identifiers (none: of all rows) the nearest in ``column``.

    Distance |x - y|, ties to the lower row. Default column: the first sensitive one (P0 §2.3, P4 §4.5).
    """
    roles = target.original.columns
    names = roles.quasi_identifiers if quasi_identifiers is None else quasi_identifiers
    return nearest_matching(
        target, names, roles.sensitive[:1] if column is None else (column,), absolute=True
    )


def nearest_matching(
    target: Target, quasi_identifiers: Sequence[str], sensitive: Sequence[str], *, absolute: bool = False
) -> IntArray:
    """The nearest row of X with the same quasi-identifiers; where there is none, the nearest of all."""

    def search() -> IntArray:
        guess = nearest_in_class(target, quasi_identifiers, sensitive, absolute=absolute)
        lost = np.flatnonzero(guess < 0)
        guess[lost] = nearest_of_all(target, sensitive, lost, absolute=absolute)
        return guess

    key = ("nearest matching", tuple(quasi_identifiers), tuple(sensitive), absolute)
    return once(target.kept, key, search).copy()


def nearest_in_class(
    target: Target, quasi_identifiers: Sequence[str], sensitive: Sequence[str], *, absolute: bool = False
) -> IntArray:
    """The nearest row of X among those with the same quasi-identifiers, -1 where there is none."""
    places = places_of(sensitive, target.original.columns.sensitive)
    index = target.original.index(quasi_identifiers, sensitive)
    groups = target.matches(quasi_identifiers)
    return nearest_rows(index, columns_at(target.values, places), groups, absolute=absolute)


def nearest_of_all(
    target: Target, sensitive: Sequence[str], rows: IntArray, *, absolute: bool = False
) -> IntArray:
    """The nearest row of X for the given rows of Y, which ascend."""
    if 0 < len(rows) == target.rows:
        key = ("nearest of all", tuple(sensitive), absolute)
        return once(target.kept, key, lambda: _nearest_of_some(target, sensitive, rows, absolute)).copy()
    return _nearest_of_some(target, sensitive, rows, absolute) if len(rows) else rows


def _nearest_of_some(target: Target, sensitive: Sequence[str], rows: IntArray, absolute: bool) -> IntArray:
    places = places_of(sensitive, target.original.columns.sensitive)
    index = target.original.index((), sensitive)
    queries = columns_at(target.values, places)[rows]
    return nearest_rows(index, queries, np.zeros(len(rows), dtype=np.int64), absolute=absolute)
