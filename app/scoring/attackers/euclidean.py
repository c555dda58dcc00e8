"""P0's and P1's attackers by Euclidean distance in raw sensitive columns, among equal quasi-identifiers."""

from collections.abc import Sequence
from typing import Literal

import numpy as np

from app.scoring.arrays import FloatArray, IntArray
from app.scoring.attackers.linkage import nearest_in_class, nearest_matching
from app.scoring.nearest import Index, build_index, nearest_rows
from app.scoring.release import PreparedOriginal, Target, once, places_of

LowestRows = dict[bytes, int]


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
        kept = np.zeros(original.rows, dtype=np.bool_)
        kept[list(_lowest_rows(original).values())] = True
        return build_index(original.values[:, places], original.grouping(quasi_identifiers), kept)

    index = once(original.kept, ("index of kinds", tuple(quasi_identifiers), tuple(sensitive)), build)
    groups = target.matches(quasi_identifiers)[rows]
    return nearest_rows(index, target.values[rows][:, places], groups, barred=barred)


def _identical_rows(target: Target) -> IntArray:
    """For each row of Y the lowest row of X that is the same in every column, -1 where there is none."""
    lowest = _lowest_rows(target.original)
    return np.array([lowest.get(cells, -1) for cells in _cells(target.codes, target.values)], dtype=np.int64)


def _lowest_rows(original: PreparedOriginal) -> LowestRows:
    def number() -> LowestRows:
        lowest: LowestRows = {}
        for row, cells in enumerate(_cells(original.codes, original.values)):
            lowest.setdefault(cells, row)
        return lowest

    return once(original.kept, ("lowest rows",), number)


def _cells(codes: IntArray, values: FloatArray) -> list[bytes]:
    """A row's cells as bytes; + 0.0 turns -0.0, which equals 0.0, into it."""
    joined = np.ascontiguousarray(np.hstack((codes, (values + 0.0).view(np.int64))))
    cells: list[bytes] = joined.view(f"V{joined.itemsize * joined.shape[1]}").ravel().tolist()
    return cells


def _chosen(
    target: Target, quasi_identifiers: Sequence[str] | None, sensitive: Sequence[str] | None
) -> tuple[Sequence[str], Sequence[str]]:
    roles = target.original.columns
    return (
        roles.quasi_identifiers if quasi_identifiers is None else quasi_identifiers,
        roles.sensitive if sensitive is None else sensitive,
    )
