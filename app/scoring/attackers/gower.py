"""The attacker by Gower's distance: all columns count alike."""

import numpy as np

from app.scoring.arrays import IntArray
from app.scoring.distances import gower_nearest, whole_gower_index
from app.scoring.release import Target

TIE = 1e-12


def gower(target: Target) -> IntArray:
    """The row of X nearest by Gower's distance, the mean over all columns of mismatch or share of the range.

    Distances up to 1e-12 (relative) above the least are ties, which go to the lower row.
    """
    index, everyone = whole_gower_index(target.original), np.arange(target.rows)
    rows, sums = gower_nearest(target, index, everyone, 2, ties=True)
    limits = sums[:, 0] + sums[:, 0] * TIE
    tied = np.flatnonzero(sums[:, 1] <= limits)
    lowest, _ = gower_nearest(target, index, tied, 1, floors=limits[tied], ties=True)
    guess = rows[:, 0].copy()
    guess[tied] = lowest[:, 0]
    return guess
