"""Ranks of scores, for every board, total and formula."""

import math
from collections.abc import Sequence

TIE_TOLERANCE = 1e-9
"""Scores that differ by no more than this are ties."""


def compute_ranks(scores: Sequence[float | None]) -> list[int | None]:
    """Return the rank of each entry by score, lowest first; None for entries without a score.

    A rank has its lowest score and all that are at most ``TIE_TOLERANCE`` above it, also where further scores
    follow in such small steps. Ties share their best rank ("1 2 2 4").

    >>> compute_ranks([0.2, None, 0.1, 0.2])
    [2, None, 1, 2]
    """
    ranks_by_score: dict[float, int] = {}
    lowest, rank = -math.inf, 0
    for position, score in enumerate(sorted(score for score in scores if score is not None), 1):
        if score - lowest > TIE_TOLERANCE:
            lowest, rank = score, position
        ranks_by_score[score] = rank
    return [None if score is None else ranks_by_score[score] for score in scores]


def sort_for_board(scores: Sequence[float | None]) -> list[int]:
    """Return the positions of the entries by rank, then those without a score. Ties keep their order.

    >>> sort_for_board([0.2, None, 0.1, 0.2])
    [2, 0, 3, 1]
    """
    ranks = compute_ranks(scores)
    return sorted(range(len(scores)), key=lambda index: (ranks[index] is None, ranks[index] or 0))
