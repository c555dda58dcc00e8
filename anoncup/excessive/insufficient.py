"""Insufficient anonymization (P2 §4.4): thresholds that are so small that everybody is re-identified.

A record that moves by less than half of the distance to its nearest neighbour is still nearest to its own
original, so that a search for the nearest record finds it. It stays in a circle of this radius around its
original. A threshold must allow records to leave their circles.
"""

import numpy as np

from anoncup.excessive.individual_distances import TOLERANCE
from anoncup.geometry.arrays import FloatArray


def compute_least_threshold(nearest_distances: FloatArray) -> float:
    """Return the value that a threshold must exceed, so that at least one record can leave its circle.

    It is half of the smallest distance between two individuals (Min / 2 in P2) and applies to the strict
    rule. ``nearest_distances`` (n,), n >= 1: every individual's distance to its nearest neighbour.
    """
    return float(nearest_distances.min()) / 2


def count_possible_escapes(nearest_distances: FloatArray, total: float) -> int:
    """Return the largest number of records that can leave their circles under the average rule.

    All records together may move by ``total``, the threshold times n. A record leaves its circle by moving
    half of the distance to its nearest neighbour. The result is therefore the largest m for which the m
    smallest of these halves add up to no more than ``total``, with the TOLERANCE of the rule itself.

    >>> max_escapes(np.array([0.8, 0.2, 0.4]), 0.3)
    2
    """
    required_totals = np.cumsum(np.sort(nearest_distances) / 2)
    return int(np.searchsorted(required_totals, total + len(nearest_distances) * TOLERANCE, side="right"))
