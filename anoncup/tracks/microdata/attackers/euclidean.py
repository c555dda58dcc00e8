"""Attackers by Euclidean distance in sensitive columns, in raw units, among equal quasi-identifiers.

They come from the papers P0 and P1, see ``anoncup.tracks``. X is the original and Y the release.
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np

from anoncup.geometry.arrays import BoolArray, IntArray, slice_columns
from anoncup.geometry.kernels import groups as kernels
from anoncup.geometry.nearest_neighbours import NeighbourIndex, build_index, find_nearest_rows
from anoncup.tracks.memo import memoize
from anoncup.tracks.microdata.attackers.quasi_identifiers import find_nearest_in_class, find_nearest_matching
from anoncup.tracks.microdata.release import MicrodataOriginal, MicrodataTarget, find_column_indices


def euc1(
    target: MicrodataTarget,
    *,
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
    give_up: Literal["abstain", "own_row"] = "abstain",
) -> IntArray:
    """Guess the nearest row of X with the same quasi-identifiers (EUC1 of P0).

    If there is none, abstain or, as in the paper, guess the row's own number.
    """
    guess = find_nearest_in_class(target, *_fill_default_columns(target, quasi_identifiers, sensitive))
    fallback = np.arange(target.rows) if give_up == "own_row" else -1
    return np.where(guess < 0, fallback, guess)


def euc2(
    target: MicrodataTarget,
    *,
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
) -> IntArray:
    """Guess the nearest row of X with the same quasi-identifiers or, if there is none, of all rows (EUC2)."""
    return find_nearest_matching(target, *_fill_default_columns(target, quasi_identifiers, sensitive))


def aya(
    target: MicrodataTarget,
    *,
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
) -> IntArray:
    """Guess like EUC2, but skip a row of X that equals the row of Y in every column (P1 Fig. 3).

    It works against the cheating permutation, where every row has an identical row that is not its source. An
    identical row is guessed only if its class has no other rows. All columns of the competition are compared,
    whichever columns are chosen for the distance.
    """
    names, numeric = _fill_default_columns(target, quasi_identifiers, sensitive)
    guess = find_nearest_matching(target, names, numeric)
    identical_rows = _find_identical_rows(target)
    rows_with_identical = np.flatnonzero(identical_rows >= 0)
    alternatives = _find_nearest_other(
        target, names, numeric, rows_with_identical, identical_rows[rows_with_identical]
    )
    guess[rows_with_identical] = np.where(alternatives < 0, guess[rows_with_identical], alternatives)
    return guess


def _find_nearest_other(
    target: MicrodataTarget,
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str],
    rows: IntArray,
    excluded_rows: IntArray,
) -> IntArray:
    """Find the nearest row of X, except the excluded one, in the class of each of ``rows`` of Y.

    Identical rows of X count as one.
    """
    original = target.original
    column_indices = find_column_indices(sensitive, original.columns.sensitive)

    def build() -> NeighbourIndex:
        is_lowest = _find_lowest_rows(original)[1]
        if is_lowest.all():
            return original.get_search_index(quasi_identifiers, sensitive)
        points = slice_columns(original.values, column_indices)
        return build_index(points, original.group_by(quasi_identifiers), is_lowest)

    index = memoize(original.memo, ("index of kinds", tuple(quasi_identifiers), tuple(sensitive)), build)
    groups = target.match_classes(quasi_identifiers)[rows]
    return find_nearest_rows(
        index, slice_columns(target.values, column_indices)[rows], groups, excluded_rows=excluded_rows
    )


def _find_identical_rows(target: MicrodataTarget) -> IntArray:
    """Find the first row of X that is equal in every column for each row of Y, or -1."""
    original, names = target.original, target.original.columns.quasi_identifiers
    original_columns = original.group_by(names).group_ids, original.values, _find_lowest_rows(original)[0]
    identical = np.empty(target.rows, dtype=np.int64)
    kernels.find_first_duplicates(
        target.match_classes(names), target.values, *original_columns, False, identical
    )
    return identical


def _find_lowest_rows(original: MicrodataOriginal) -> tuple[IntArray, BoolArray]:
    """Return a hash table of the rows, and whether each row is the first of all rows equal to it."""

    def build() -> tuple[IntArray, BoolArray]:
        rows = original.group_by(original.columns.quasi_identifiers).group_ids, original.values
        hash_slots = np.full(2 << original.rows.bit_length(), -1)
        lowest = np.empty(original.rows, dtype=np.int64)
        kernels.find_first_duplicates(*rows, *rows, hash_slots, True, lowest)
        return hash_slots, lowest == np.arange(original.rows)

    return memoize(original.memo, ("lowest rows",), build)


def _fill_default_columns(
    target: MicrodataTarget, quasi_identifiers: Sequence[str] | None, sensitive: Sequence[str] | None
) -> tuple[Sequence[str], Sequence[str]]:
    roles = target.original.columns
    return (
        roles.quasi_identifiers if quasi_identifiers is None else quasi_identifiers,
        roles.sensitive if sensitive is None else sensitive,
    )
