"""ROC statistics of membership scores, as exact fractions that do not depend on the order of rows.

A threshold includes all candidates with the same score: ties are one operating point. Between two points
every number is linear, which is the expectation of breaking ties at random.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from anoncup.geometry.arrays import BoolArray, FloatArray, IntArray

LOW_FPR = Fraction(1, 100)
"""The false positive rate at which membership inference is evaluated."""


@dataclass(frozen=True, slots=True)
class OperatingPoints:
    """Cumulative counts at the operating points, from (0, 0) to all candidates, with falling thresholds.

    ``true_positives`` (points,) counts the members at or above the threshold, ``false_positives`` (points,)
    the others. There is at least one of each.
    """

    true_positives: IntArray
    false_positives: IntArray

    @property
    def member_count(self) -> int:
        return int(self.true_positives[-1])

    @property
    def other_count(self) -> int:
        return int(self.false_positives[-1])


def compute_operating_points(scores: FloatArray, members: BoolArray) -> OperatingPoints:
    """Compute operating points from the scores, (n,), higher = more certain, and the members' mask, (n,)."""
    levels, level_of = np.unique(-scores, return_inverse=True)
    true_counts = np.bincount(level_of[members], minlength=len(levels))
    false_counts = np.bincount(level_of[~members], minlength=len(levels))
    return OperatingPoints(np.cumsum(np.append(0, true_counts)), np.cumsum(np.append(0, false_counts)))


def tpr(points: OperatingPoints, fpr: Fraction = LOW_FPR) -> Fraction:
    """True positive rate at the false positive rate ``fpr``, in [0, 1]; 0 best for the anonymizer.

    Linear between points; of several points at that rate the highest; from (0, 0) if the first point lies
    beyond (Carlini et al., "Membership Inference Attacks From First Principles", 2022, section III). Blind
    guessing gets ``fpr``.
    """
    return (
        _interpolate(points.false_positives, points.true_positives, fpr * points.other_count)
        / points.member_count
    )


def auc(points: OperatingPoints) -> Fraction:
    """Probability that a member scores above another candidate, ties counting half; in [0, 1], blind 1/2.

    Hanley and McNeil, "The meaning and use of the area under a ROC curve", 1982.
    """
    widths, heights = np.diff(points.false_positives), points.true_positives[1:] + points.true_positives[:-1]
    return Fraction(int((widths * heights).sum()), 2 * points.member_count * points.other_count)


def accuracy(points: OperatingPoints) -> Fraction:
    """Share of candidates classified right if those with the N highest scores are taken for members.

    In [0, 1], blind 1/2. N is the number of members. If the N-th place is tied: the expectation of breaking
    the tie at random.
    """
    right = _interpolate(
        points.true_positives + points.false_positives, points.true_positives, Fraction(points.member_count)
    )
    return (2 * right + points.other_count - points.member_count) / (points.member_count + points.other_count)


def _interpolate(counts: IntArray, true_positives: IntArray, limit: Fraction) -> Fraction:
    """Return the true positives where the ascending ``counts`` reach the limit, or a linear interpolation.

    Of several points with this count, the last one is used.
    """
    index = int(np.searchsorted(counts, math.floor(limit), side="right")) - 1
    if index == len(counts) - 1:
        return Fraction(int(true_positives[-1]))
    slope = Fraction(
        int(true_positives[index + 1] - true_positives[index]), int(counts[index + 1] - counts[index])
    )
    return int(true_positives[index]) + (limit - int(counts[index])) * slope
