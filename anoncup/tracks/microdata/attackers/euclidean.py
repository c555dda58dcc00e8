"""Attackers by Euclidean distance in sensitive columns, in raw units, among equal quasi-identifiers.

They come from the papers P0 and P1, see ``anoncup.tracks``. X is the original with n rows and Y the release
with n' rows. C(y) is the set of rows of X with the quasi-identifiers of row y of Y. All guesses are rows of
X, counted from 0, or -1 for none; ties go to the lower row.
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np

from anoncup.geometry.arrays import FloatArray, IntArray
from anoncup.geometry.nearest_neighbours import (
    NeighbourIndex,
    build_index,
    find_k_nearest_rows,
    list_row_keys,
)
from anoncup.tracks.memo import memoize
from anoncup.tracks.microdata.attackers.nearest import choose_columns, nearest, nearest_in_class
from anoncup.tracks.microdata.release import MicrodataOriginal, MicrodataTarget


def euc1(
    target: MicrodataTarget,
    *,
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
    give_up: Literal["abstain", "own_row"] = "abstain",
) -> IntArray:
    """Guess the nearest row of C(y), (n',) (EUC1, P0 §3.2).

    If C(y) is empty, abstain or, as in the paper, guess the row's own number.
    """
    names, numeric = _choose_roles(target, quasi_identifiers, sensitive)
    guess = nearest_in_class(target, names, numeric)
    fallback = np.arange(target.rows) if give_up == "own_row" else -1
    return np.where(guess < 0, fallback, guess)


def euc2(
    target: MicrodataTarget,
    *,
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
) -> IntArray:
    """Guess the nearest row of C(y) or, if C(y) is empty, of all rows, (n',) (EUC2, P0 §3.2)."""
    return _guess_euc2(target, *_choose_roles(target, quasi_identifiers, sensitive)).copy()


@memoize
def _guess_euc2(target: MicrodataTarget, names: tuple[str, ...], sensitive: tuple[str, ...]) -> IntArray:
    guess = nearest_in_class(target, names, sensitive).copy()
    unmatched = guess < 0
    guess[unmatched] = nearest(target, sensitive, selected=unmatched)
    return guess


def aya(
    target: MicrodataTarget,
    *,
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
) -> IntArray:
    """Guess the nearest row of C(y) that is not identical to y; without one, guess as EUC2 (P1 Fig. 3).

    It works against the cheating permutation, where every row has an identical row that is not its source.
    All columns of the competition are compared, whichever are chosen for the distance.
    """
    names, numeric = _choose_roles(target, quasi_identifiers, sensitive)
    guess = euc2(target, quasi_identifiers=names, sensitive=numeric)
    identical_rows = _find_identical_rows(target)
    rows = np.flatnonzero(identical_rows >= 0)
    first, second = _find_two_nearest(target, rows, quasi_identifiers=names, sensitive=numeric)
    alternatives = np.where(first == identical_rows[rows], second, first)
    guess[rows] = np.where(alternatives < 0, guess[rows], alternatives)
    return guess


def _find_two_nearest(
    target: MicrodataTarget, rows: IntArray, *, quasi_identifiers: tuple[str, ...], sensitive: tuple[str, ...]
) -> IntArray:
    """Return the nearest and second nearest row of C(y) for the given rows of Y, (2, rows).

    Only the first of several identical rows of X is considered.
    """
    index = _index_distinct_rows(target.original, quasi_identifiers, sensitive)
    classes = target.match_classes(quasi_identifiers)
    return find_k_nearest_rows(index, target.select(sensitive)[rows], classes[rows], 2)[0].T


@memoize
def _index_distinct_rows(
    original: MicrodataOriginal, quasi_identifiers: tuple[str, ...], sensitive: tuple[str, ...]
) -> NeighbourIndex:
    is_distinct = np.zeros(original.rows, dtype=np.bool_)
    is_distinct[list(_number_distinct_rows(original).values())] = True
    return build_index(original.select(sensitive), original.group_by(quasi_identifiers), is_distinct)


def _find_identical_rows(target: MicrodataTarget) -> IntArray:
    """Return the first row of X that is equal in every column for each row of Y, (n',), or -1."""
    classes = target.match_classes(target.original.columns.quasi_identifiers)
    keys, first_rows = _list_keys(classes, target.values), _number_distinct_rows(target.original)
    return np.array([first_rows.get(key, -1) for key in keys], dtype=np.int64)


@memoize
def _number_distinct_rows(original: MicrodataOriginal) -> dict[bytes, int]:
    """Return the first row of X with each content."""
    first_rows: dict[bytes, int] = {}
    classes = original.group_by(original.columns.quasi_identifiers).group_ids
    for row, key in enumerate(_list_keys(classes, original.values)):
        first_rows.setdefault(key, row)
    return first_rows


def _list_keys(classes: IntArray, values: FloatArray) -> list[bytes]:
    """Return the content of each row of a table as bytes; class numbers are exact as floats."""
    return list_row_keys(np.column_stack((classes, values)))


def _choose_roles(
    target: MicrodataTarget, quasi_identifiers: Sequence[str] | None, sensitive: Sequence[str] | None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    roles = target.original.columns
    return (
        choose_columns(quasi_identifiers, roles.quasi_identifiers),
        choose_columns(sensitive, roles.sensitive),
    )
