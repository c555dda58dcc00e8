"""P0's attackers by Euclidean distance over sensitive columns (raw units) within equal quasi-identifiers."""

from collections.abc import Sequence
from typing import Literal

import numpy as np

from app.scoring.arrays import IntArray
from app.scoring.attackers.linkage import nearest_in_class, nearest_matching
from app.scoring.release import Target


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


def _chosen(
    target: Target, quasi_identifiers: Sequence[str] | None, sensitive: Sequence[str] | None
) -> tuple[Sequence[str], Sequence[str]]:
    roles = target.original.columns
    return (
        roles.quasi_identifiers if quasi_identifiers is None else quasi_identifiers,
        roles.sensitive if sensitive is None else sensitive,
    )
