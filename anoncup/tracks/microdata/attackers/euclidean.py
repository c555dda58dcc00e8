"""P0's and P1's attackers by Euclidean distance in raw sensitive columns, among equal quasi-identifiers."""

from collections.abc import Sequence
from typing import Literal

import numpy as np

from anoncup.geometry.arrays import BoolArray, IntArray, select_columns
from anoncup.geometry.kernels import groups as kernels
from anoncup.geometry.nearest_neighbours import NeighbourIndex, build_index, nearest_rows
from anoncup.tracks.memo import memoize
from anoncup.tracks.microdata.attackers.quasi_identifiers import find_nearest_in_class, find_nearest_matching
from anoncup.tracks.microdata.release import MicrodataTarget, PreparedMicrodata, find_column_indices


def euc1(
    target: MicrodataTarget,
    *,
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
    give_up: Literal["abstain", "own_row"] = "abstain",
) -> IntArray:
    """EUC1: guess the nearest row of X with the same quasi-identifiers; give up without one.

    To give up is to abstain or, as in the paper, to guess the row's own number.
    """
    guess = find_nearest_in_class(target, *_default_columns(target, quasi_identifiers, sensitive))
    own = np.arange(target.rows) if give_up == "own_row" else -1
    return np.where(guess < 0, own, guess)


def euc2(
    target: MicrodataTarget,
    *,
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
) -> IntArray:
    """EUC2: guess the nearest row of X with the same quasi-identifiers; without one, of all rows."""
    return find_nearest_matching(target, *_default_columns(target, quasi_identifiers, sensitive))


def aya(
    target: MicrodataTarget,
    *,
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
) -> IntArray:
    """As EUC2, but skip a row of X that equals the row of Y in every column, if its class has other rows.

    P1 Fig. 3, against the cheating permutation, where every row has an identical row that is not its source.
    All columns of the competition are compared, whatever columns are chosen.
    """
    names, numeric = _default_columns(target, quasi_identifiers, sensitive)
    guess = find_nearest_matching(target, names, numeric)
    twins = _find_identical_rows(target)
    rows_with_twin = np.flatnonzero(twins >= 0)
    alternatives = _find_nearest_other(target, names, numeric, rows_with_twin, twins[rows_with_twin])
    guess[rows_with_twin] = np.where(alternatives < 0, guess[rows_with_twin], alternatives)
    return guess


def _find_nearest_other(
    target: MicrodataTarget,
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str],
    rows: IntArray,
    excluded_rows: IntArray,
) -> IntArray:
    """Find the nearest row of X in the class of each of ``rows`` of Y; identical rows count as one."""
    original = target.original
    column_indices = find_column_indices(sensitive, original.columns.sensitive)

    def build() -> NeighbourIndex:
        is_lowest = _find_lowest_rows(original)[1]
        if is_lowest.all():
            return original.search_index(quasi_identifiers, sensitive)
        points = select_columns(original.values, column_indices)
        return build_index(points, original.group_by(quasi_identifiers), is_lowest)

    index = memoize(original.memo, ("index of kinds", tuple(quasi_identifiers), tuple(sensitive)), build)
    groups = target.matching_classes(quasi_identifiers)[rows]
    return nearest_rows(
        index, select_columns(target.values, column_indices)[rows], groups, excluded_rows=excluded_rows
    )


def _find_identical_rows(target: MicrodataTarget) -> IntArray:
    """Find the lowest row of X that is equal in every column for each row of Y, -1 without one."""
    original, names = target.original, target.original.columns.quasi_identifiers
    original_columns = original.group_by(names).group_ids, original.values, _find_lowest_rows(original)[0]
    identical = np.empty(target.rows, dtype=np.int64)
    kernels.find_first_duplicates(
        target.matching_classes(names), target.values, *original_columns, False, identical
    )
    return identical


def _find_lowest_rows(original: PreparedMicrodata) -> tuple[IntArray, BoolArray]:
    """Return a hash table of rows, and whether each row is the lowest of all rows equal to it."""

    def build() -> tuple[IntArray, BoolArray]:
        rows = original.group_by(original.columns.quasi_identifiers).group_ids, original.values
        slots = np.full(2 << original.rows.bit_length(), -1)
        lowest = np.empty(original.rows, dtype=np.int64)
        kernels.find_first_duplicates(*rows, *rows, slots, True, lowest)
        return slots, lowest == np.arange(original.rows)

    return memoize(original.memo, ("lowest rows",), build)


def _default_columns(
    target: MicrodataTarget, quasi_identifiers: Sequence[str] | None, sensitive: Sequence[str] | None
) -> tuple[Sequence[str], Sequence[str]]:
    roles = target.original.columns
    return (
        roles.quasi_identifiers if quasi_identifiers is None else quasi_identifiers,
        roles.sensitive if sensitive is None else sensitive,
    )
