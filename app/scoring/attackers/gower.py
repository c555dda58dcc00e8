"""The attacker by Gower's distance: all columns count alike."""

import numpy as np

from app.scoring.arrays import IntArray
from app.scoring.distances import gower_index, gower_nearest
from app.scoring.release import Target, once

TIE = 1e-12


def gower(target: Target) -> IntArray:
    """The row of X nearest by Gower's distance, the mean over all columns of mismatch or share of the range.

    Distances up to 1e-12 (relative) above the least are ties, which go to the lower row.
    """
    original, everyone = target.original, np.arange(target.rows)
    index = once(original.kept, ("gower index",), lambda: gower_index(original, np.arange(original.rows)))
    rows, sums = gower_nearest(target, index, everyone, 2, ties=True)
    limits = sums[:, 0] + sums[:, 0] * TIE
    tied = np.flatnonzero(sums[:, 1] <= limits)
    lowest, _ = gower_nearest(target, index, tied, 1, floors=limits[tied], ties=True)
    guess = rows[:, 0].copy()
    guess[tied] = lowest[:, 0]
    return guess
