"""Anonymization that falls short (P2 §4.4): thresholds below which everyone is re-identified.

Around every original record lies a circle of radius t'. A record moved by less than half the distance to the
nearest other one is still nearest to its own, and is found by looking for the nearest.
"""

import numpy as np

from anoncup.excessive.individual_distances import TOLERANCE
from anoncup.geometry.arrays import FloatArray


def least_threshold(mdis: FloatArray) -> float:
    """Min / 2, which a threshold t' on every record (strict rule) must exceed: the circles are disjoint else.

    ``mdis`` (n,), n >= 1: every individual's distance to its nearest other, in any order; unit of a distance.
    """
    return float(mdis.min()) / 2


def max_escapes(mdis: FloatArray, total: float) -> int:
    """The most records that can leave their circles if all move by ``total`` = n t' together (average rule).

    A record escapes by moving mdis / 2 at least, so it is the largest m whose m smallest mdis / 2 add up to
    no more than ``total``. In 0..n; as for the rule itself, TOLERANCE of the mean is rounding.

    >>> max_escapes(np.array([0.8, 0.2, 0.4]), 0.3)
    2
    """
    needed = np.cumsum(np.sort(mdis) / 2)
    return int(np.searchsorted(needed, total + len(mdis) * TOLERANCE, side="right"))
