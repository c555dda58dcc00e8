"""P0's and P1's attackers by Euclidean distance in raw sensitive columns, among equal quasi-identifiers."""

from collections.abc import Sequence
from typing import Literal

import numpy as np

from anoncup.geometry.arrays import BoolArray, IntArray, columns_at
from anoncup.geometry.kernels import groups as kernels
from anoncup.geometry.nearest_neighbours import Index, build_index, nearest_rows
from anoncup.tracks.memo import once
from anoncup.tracks.microdata.attackers.quasi_identifiers import nearest_in_class, nearest_matching
from anoncup.tracks.microdata.release import PreparedOriginal, Target, places_of


def euc1(
    target: Target,
    *,
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
    give_up: Literal["abstain", "own_row"] = "abstain",
) -> IntArray:
    """EUC1: the nearest row of X with the same quasi-identifiers; none: give up.

    Giving up is abstaining, or, as the paper has it, answering the row's own number.
    """
    guess = nearest_in_class(target, *_chosen(target, quasi_identifiers, sensitive))
    own = np.arange(target.rows) if give_up == "own_row" else -1
    return np.where(guess < 0, own, guess)


def euc2(
    target: Target, *, quasi_identifiers: Sequence[str] | None = None, sensitive: Sequence[str] | None = None
) -> IntArray:
    """EUC2: the nearest row of X with the same quasi-identifiers; none: the nearest of all rows."""
    return nearest_matching(target, *_chosen(target, quasi_identifiers, sensitive))


def aya(
    target: Target, *, quasi_identifiers: Sequence[str] | None = None, sensitive: Sequence[str] | None = None
) -> IntArray:
    """As EUC2, but not a row of X identical to the row of Y in every column, if its class has others.

    P1 Fig. 3, against the cheating permutation, in which every row has an identical twin that it is not. The
    columns of the competition decide what is identical, whatever columns are chosen.
    """
    names, numeric = _chosen(target, quasi_identifiers, sensitive)
    guess = nearest_matching(target, names, numeric)
    twins = _identical_rows(target)
    again = np.flatnonzero(twins >= 0)
    found = _nearest_other(target, names, numeric, again, twins[again])
    guess[again] = np.where(found < 0, guess[again], found)
    return guess


def _nearest_other(
    target: Target,
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str],
    rows: IntArray,
    barred: IntArray,
) -> IntArray:
    """The nearest row of X in the class of each of ``rows`` of Y, identical ones counting as their lowest."""
    original = target.original
    places = places_of(sensitive, original.columns.sensitive)

    def build() -> Index:
        lowest = _lowest_rows(original)[1]
        if lowest.all():
            return original.index(quasi_identifiers, sensitive)
        points = columns_at(original.values, places)
        return build_index(points, original.grouping(quasi_identifiers), lowest)

    index = once(original.kept, ("index of kinds", tuple(quasi_identifiers), tuple(sensitive)), build)
    groups = target.matches(quasi_identifiers)[rows]
    return nearest_rows(index, columns_at(target.values, places)[rows], groups, barred=barred)


def _identical_rows(target: Target) -> IntArray:
    """For each row of Y the lowest row of X that is the same in every column, -1 where there is none."""
    original, names = target.original, target.original.columns.quasi_identifiers
    known = original.grouping(names).group_of, original.values, _lowest_rows(original)[0]
    found = np.empty(target.rows, dtype=np.int64)
    kernels.first_alike(target.matches(names), target.values, *known, False, found)
    return found


def _lowest_rows(original: PreparedOriginal) -> tuple[IntArray, BoolArray]:
    """Where hashing finds rows, and which are the lowest of those that are the same in every column."""

    def plant() -> tuple[IntArray, BoolArray]:
        rows = original.grouping(original.columns.quasi_identifiers).group_of, original.values
        slots = np.full(2 << original.rows.bit_length(), -1)
        lowest = np.empty(original.rows, dtype=np.int64)
        kernels.first_alike(*rows, *rows, slots, True, lowest)
        return slots, lowest == np.arange(original.rows)

    return once(original.kept, ("lowest rows",), plant)


def _chosen(
    target: Target, quasi_identifiers: Sequence[str] | None, sensitive: Sequence[str] | None
) -> tuple[Sequence[str], Sequence[str]]:
    roles = target.original.columns
    return (
        roles.quasi_identifiers if quasi_identifiers is None else quasi_identifiers,
        roles.sensitive if sensitive is None else sensitive,
    )
