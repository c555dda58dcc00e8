"""The attacker by Gower's distance, in which all columns have equal weight."""

import numpy as np

from anoncup.geometry.arrays import IntArray
from anoncup.tracks.microdata.distances import (
    build_whole_gower_index,
    find_nearest_by_gower,
    search_gower_index,
)
from anoncup.tracks.microdata.release import MicrodataTarget

TIE_TOLERANCE = 1e-12


def gower(target: MicrodataTarget) -> IntArray:
    """Guess the nearest row of X by Gower's distance over all columns.

    Distances up to 1e-12 (relative) above the smallest are ties, which go to the first row.
    """
    rows, sums = find_nearest_by_gower(target)
    limits = sums[:, 0] + sums[:, 0] * TIE_TOLERANCE
    guess: IntArray = np.where(sums <= limits[:, np.newaxis], rows, target.original.rows).min(axis=1)
    # If all listed rows are tied, rows that are not listed may be tied, too.
    ambiguous_rows = np.flatnonzero(sums[:, -1] <= limits)
    index = build_whole_gower_index(target.original)
    lowest_rows, _ = search_gower_index(target, index, ambiguous_rows, 1, minimum_sums=limits[ambiguous_rows])
    guess[ambiguous_rows] = lowest_rows[:, 0]
    return guess
