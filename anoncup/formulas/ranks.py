"""Ranks of scores."""

import math
from collections.abc import Sequence


def compute_ranks(scores: Sequence[float | None], *, rounding: float = 0.0) -> list[int | None]:
    """Return the rank of each entry by score, lowest first; None for entries without a score.

    Equal scores share a rank ("1 2 2 4"). Scores less than ``rounding`` above the lowest score of their rank
    count as equal.

    >>> compute_ranks([0.2, None, 0.1, 0.2])
    [2, None, 1, 2]
    """
    ranks_by_score: dict[float, int] = {}
    lowest, rank = -math.inf, 0
    for position, score in enumerate(sorted(score for score in scores if score is not None), 1):
        if score > lowest and score - lowest >= rounding:
            lowest, rank = score, position
        ranks_by_score[score] = rank
    return [None if score is None else ranks_by_score[score] for score in scores]
