"""Insufficient anonymization (P2 §4.4): thresholds below which everybody is re-identified.

Every original record is surrounded by a circle of radius t'. A record that moves by less than half the
distance to its nearest neighbour is still nearest to its own original, so a nearest-neighbour search finds
it.
"""

import numpy as np

from anoncup.excessive.individual_distances import TOLERANCE
from anoncup.geometry.arrays import FloatArray


def least_threshold(nearest_distances: FloatArray) -> float:
    """Return Min / 2, which a threshold t' on every record (strict rule) must exceed.

    Otherwise the circles are disjoint.

    ``nearest_distances`` (n,), n >= 1: every individual's distance to its nearest neighbour (mdis), in any
    order, in the unit of the distance.
    """
    return float(nearest_distances.min()) / 2


def max_escapes(nearest_distances: FloatArray, total: float) -> int:
    """Return how many records can leave their circles if all move by ``total`` = n t' together.

    This is the average rule. A record escapes by moving at least mdis / 2, so the result is the largest m
    whose m smallest mdis / 2 add up to no more than ``total``. In 0..n; as in the rule itself, TOLERANCE of
    the mean is rounding.

    >>> max_escapes(np.array([0.8, 0.2, 0.4]), 0.3)
    2
    """
    required_totals = np.cumsum(np.sort(nearest_distances) / 2)
    return int(np.searchsorted(required_totals, total + len(nearest_distances) * TOLERANCE, side="right"))
