"""Attackers that link rows by their quasi-identifiers (P0 §2.3; ``anoncup.tracks`` lists the papers).

X is the original and Y the release. C(y) is the set of rows of X with the quasi-identifiers of row y of Y.
"""

from collections.abc import Sequence

from anoncup.geometry.arrays import IntArray
from anoncup.tracks.linkage.attack_rates import GroupGuess
from anoncup.tracks.microdata.attackers.euclidean import euc2
from anoncup.tracks.microdata.release import MicrodataTarget, choose_columns


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
