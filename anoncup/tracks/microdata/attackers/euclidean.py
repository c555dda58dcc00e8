"""Attackers that look for the nearest original row in the sensitive columns.

The attacker knows the original table X (n rows) and sees its release Y (n' rows). For each row y of Y they
guess the row of X that it comes from. C(y) are the rows of X with the same quasi-identifiers as y; distances
are Euclidean over the sensitive columns, in raw units. EUC1 and EUC2 are the names of P0, and Aya is that of
P1 (``anoncup.tracks`` lists the papers). A guess (n',) counts the rows of X from 0; -1 is none. Ties go to
the lower row.
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np

from anoncup.geometry.arrays import BoolArray, FloatArray, IntArray
from anoncup.geometry.nearest_neighbours import (
    NeighbourIndex,
    build_index,
    find_k_nearest_rows,
    find_nearest_rows,
    list_row_keys,
)
from anoncup.tracks.memo import memoize
from anoncup.tracks.microdata.distances import NEAREST_COUNT
from anoncup.tracks.microdata.release import MicrodataOriginal, MicrodataTarget, choose_columns


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
    quasi_identifiers, sensitive = _choose_roles(target, quasi_identifiers, sensitive)
    guess = nearest_in_class(target, quasi_identifiers, sensitive)
    fallback = np.arange(target.rows) if give_up == "own_row" else -1
    return np.where(guess < 0, fallback, guess)


def euc2(
    target: MicrodataTarget,
    *,
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
) -> IntArray:
    """Guess the nearest row of C(y) or, if C(y) is empty, of all rows, (n',) (EUC2, P0 §3.2)."""
    quasi_identifiers, sensitive = _choose_roles(target, quasi_identifiers, sensitive)
    guess = nearest_in_class(target, quasi_identifiers, sensitive).copy()
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
    quasi_identifiers, sensitive = _choose_roles(target, quasi_identifiers, sensitive)
    guess = euc2(target, quasi_identifiers=quasi_identifiers, sensitive=sensitive)
    identical_rows = _find_identical_rows(target)
    rows = np.flatnonzero(identical_rows >= 0)
    first, second = _find_two_nearest(target, rows, quasi_identifiers=quasi_identifiers, sensitive=sensitive)
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
    is_distinct[list(_find_first_rows(original).values())] = True
    return build_index(original.select(sensitive), original.group_by(quasi_identifiers), is_distinct)


def _find_identical_rows(target: MicrodataTarget) -> IntArray:
    """Return the first row of X that is equal in every column for each row of Y, (n',), or -1."""
    classes = target.match_classes(target.original.columns.quasi_identifiers)
    keys, first_rows = _list_keys(classes, target.values), _find_first_rows(target.original)
    return np.array([first_rows.get(key, -1) for key in keys], dtype=np.int64)


@memoize
def _find_first_rows(original: MicrodataOriginal) -> dict[bytes, int]:
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


@memoize
def nearest_in_class(
    target: MicrodataTarget, quasi_identifiers: tuple[str, ...], sensitive: tuple[str, ...]
) -> IntArray:
    """Return the nearest row of C(y) for each row y of Y, (n',); -1 if C(y) is empty."""
    index = target.original.index_classes(quasi_identifiers, sensitive)
    return find_nearest_rows(index, target.select(sensitive), target.match_classes(quasi_identifiers))


def nearest(
    target: MicrodataTarget, sensitive: tuple[str, ...], *, selected: BoolArray | None = None
) -> IntArray:
    """Return the nearest of all rows of X for the selected rows of Y (default: all), (selected,)."""
    if selected is not None and selected.all():
        return list_nearest(target, sensitive)[0][:, 0]
    queries = target.select(sensitive) if selected is None else target.select(sensitive)[selected]
    whole_table = np.zeros(len(queries), dtype=np.int64)
    return find_nearest_rows(target.original.index_classes((), sensitive), queries, whole_table)


@memoize
def list_nearest(target: MicrodataTarget, sensitive: tuple[str, ...]) -> tuple[IntArray, FloatArray]:
    """Return the ``NEAREST_COUNT`` nearest rows of X for each row of Y, and their squared distances.

    Both are (n', NEAREST_COUNT), nearest first, padded with -1 and infinity.
    """
    whole_table = np.zeros(target.rows, dtype=np.int64)
    return find_k_nearest_rows(
        target.original.index_classes((), sensitive), target.select(sensitive), whole_table, NEAREST_COUNT
    )
