"""The attacker by Gower's distance, in which all columns have equal weight."""

import numpy as np

from anoncup.geometry.arrays import IntArray
from anoncup.tracks.microdata.distances import find_nearest_by_gower, search_by_gower
from anoncup.tracks.microdata.release import MicrodataTarget

_TIE_TOLERANCE = 1e-12


def gower(target: MicrodataTarget) -> IntArray:
    """Guess the nearest row of X by Gower's distance over all columns, (n',).

    Distances up to 1e-12 (relative) above the smallest are ties, which go to the lower row.
    """
    rows, sums = find_nearest_by_gower(target)
    limits = sums[:, 0] + sums[:, 0] * _TIE_TOLERANCE
    guess: IntArray = np.where(sums <= limits[:, np.newaxis], rows, target.original.rows).min(axis=1)
    # If all listed rows are tied, rows that are not listed may be tied, too.
    ambiguous = np.flatnonzero(sums[:, -1] <= limits)
    guess[ambiguous] = search_by_gower(target, ambiguous, count=1, minimum_sums=limits[ambiguous])[0][:, 0]
    return guess
