"""The attacker by Gower's distance, in which all columns have equal weight."""

import numpy as np

from anoncup.geometry.arrays import IntArray
from anoncup.tracks.microdata.distances import (
    build_whole_gower_index,
    find_gower_nearest,
    find_nearest_rows_by_gower,
)
from anoncup.tracks.microdata.release import MicrodataTarget

TIE_TOLERANCE = 1e-12


def gower(target: MicrodataTarget) -> IntArray:
    """Guess the nearest row of X by Gower's distance over all columns.

    Distances up to 1e-12 (relative) above the smallest are ties, which go to the lower row.
    """
    rows, sums = find_nearest_rows_by_gower(target)
    limits = sums[:, 0] + sums[:, 0] * TIE_TOLERANCE
    guess: IntArray = np.where(sums <= limits[:, np.newaxis], rows, target.original.rows).min(axis=1)
    # If all listed rows are ties, further rows may be, too.
    ambiguous = np.flatnonzero(sums[:, -1] <= limits)
    index = build_whole_gower_index(target.original)
    lowest, _ = find_gower_nearest(target, index, ambiguous, 1, floors=limits[ambiguous])
    guess[ambiguous] = lowest[:, 0]
    return guess
