"""The attackers E1 to E4 of PWS Cup 2015 (P0 §2.3 and P1; ``anoncup.tracks`` lists the papers).

X is the original with n rows and Y the release with n' rows. C(y) is the set of rows of X with the
quasi-identifiers of row y of Y.
"""

from collections.abc import Sequence

import numpy as np

from anoncup.geometry.arrays import FloatArray, IntArray
from anoncup.tracks.linkage.attack_rates import GroupGuess
from anoncup.tracks.memo import memoize
from anoncup.tracks.microdata.attackers.euclidean import euc2, nearest
from anoncup.tracks.microdata.release import MicrodataOriginal, MicrodataTarget, choose_columns


def id_rand(target: MicrodataTarget, *, quasi_identifiers: Sequence[str] | None = None) -> GroupGuess:
    """Guess a row of C(y) at random, or abstain if C(y) is empty (E1, P0 §2.3)."""
    names = choose_columns(quasi_identifiers, target.original.columns.quasi_identifiers)
    classes = target.original.group_by(names)
    return GroupGuess(target.match_classes(names), classes.group_ids, classes.sizes)


def id_sa(
    target: MicrodataTarget, *, column: str | None = None, quasi_identifiers: Sequence[str] | None = None
) -> IntArray:
    """Guess the row of C(y), or of all rows if C(y) is empty, with the nearest value of ``column``, (n',).

    This is E2 (P0 §2.3; P4 §4.5), which equals EUC2 with a single column. Ties go to the lower row. The
    default column is the first sensitive one.
    """
    column = column or target.original.columns.sensitive[0]
    return euc2(target, quasi_identifiers=quasi_identifiers, sensitive=(column,))


def sort(target: MicrodataTarget, *, sensitive: Sequence[str] | None = None) -> IntArray:
    """Rank both tables by the sum of the sensitive columns and match equal ranks, (n',) (E3, P0 §2.3).

    Columns are added in their order, and ties are ranked in row order. Rank r of Y is matched with rank r of
    X even if rows were deleted.
    """
    names = choose_columns(sensitive, target.original.columns.sensitive)
    return _match_ranks(target, names, np.arange(target.rows))


def sa_rank(target: MicrodataTarget, *, column: str | None = None) -> IntArray:
    """Rank both tables by one column and match rank r of Y with rank floor((r - 1) n / n') + 1 of X, (n',).

    This is E4 of P0 and Algorithm 4 ("SA21") of P1. The default column is the first sensitive one.
    """
    column = column or target.original.columns.sensitive[0]
    return _match_ranks(target, (column,), np.arange(target.rows) * target.original.rows // target.rows)


def sa_nearest(target: MicrodataTarget, *, column: str | None = None) -> IntArray:
    """Guess the row with the nearest value in one column, (n',), as P0 describes E4.

    Ties go to the lower row. The default column is the first sensitive one.
    """
    return nearest(target, (column or target.original.columns.sensitive[0],))


def _match_ranks(target: MicrodataTarget, sensitive: tuple[str, ...], ranks: IntArray) -> IntArray:
    """Match the row of Y at rank r with the row of X at rank ``ranks[r]``, by the sum of the columns."""
    guess = np.empty(target.rows, dtype=np.int64)
    guess[_order_by_sum(target.select(sensitive))] = _order_original(target.original, sensitive)[ranks]
    return guess


@memoize
def _order_original(original: MicrodataOriginal, sensitive: tuple[str, ...]) -> IntArray:
    return _order_by_sum(original.select(sensitive))


def _order_by_sum(values: FloatArray) -> IntArray:
    """Return the rows in ascending order of their sums, added in column order; ties in row order."""
    sums = np.zeros(len(values))
    for column in values.T:
        sums += column
    return np.argsort(sums, kind="stable")
