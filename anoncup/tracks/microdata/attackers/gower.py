"""The attacker by Gower's distance: all columns count alike."""

import numpy as np

from anoncup.geometry.arrays import IntArray
from anoncup.tracks.microdata.distances import gower_nearest, nearest_by_gower, whole_gower_index
from anoncup.tracks.microdata.release import Target

TIE = 1e-12


def gower(target: Target) -> IntArray:
    """The row of X nearest by Gower's distance, the mean over all columns of mismatch or share of the range.

    Distances up to 1e-12 (relative) above the least are ties, which go to the lower row.
    """
    rows, sums = nearest_by_gower(target)
    limits = sums[:, 0] + sums[:, 0] * TIE
    guess: IntArray = np.where(sums <= limits[:, np.newaxis], rows, target.original.rows).min(axis=1)
    crowded = np.flatnonzero(sums[:, -1] <= limits)  # more may be as near than are listed
    index = whole_gower_index(target.original)
    lowest, _ = gower_nearest(target, index, crowded, 1, floors=limits[crowded])
    guess[crowded] = lowest[:, 0]
    return guess
