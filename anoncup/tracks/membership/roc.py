"""ROC statistics of membership scores, as exact fractions that do not depend on the order of rows.

Candidates with the same score are one operating point. All statistics are linear between two points, which is
their expected value if ties are broken at random.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from anoncup.geometry.arrays import BoolArray, FloatArray, IntArray

LOW_FPR = Fraction(1, 100)
"""The false positive rate at which membership guesses are evaluated."""


@dataclass(frozen=True, slots=True)
class OperatingPoints:
    """Counts of candidates at or above each threshold, from (0, 0) to all candidates, thresholds descending.

    ``true_positives`` (points,) counts the members, ``false_positives`` (points,) the other candidates. There
    is at least one of each.
    """

    true_positives: IntArray
    false_positives: IntArray

    @property
    def member_count(self) -> int:
        return int(self.true_positives[-1])

    @property
    def nonmember_count(self) -> int:
        return int(self.false_positives[-1])


def compute_operating_points(scores: FloatArray, members: BoolArray) -> OperatingPoints:
    """Compute the operating points from scores, (n,), and the mask of members, (n,)."""
    levels, level_of = np.unique(-scores, return_inverse=True)
    true_counts = np.bincount(level_of[members], minlength=len(levels))
    false_counts = np.bincount(level_of[~members], minlength=len(levels))
    return OperatingPoints(np.cumsum(np.append(0, true_counts)), np.cumsum(np.append(0, false_counts)))


def tpr(points: OperatingPoints, fpr: Fraction = LOW_FPR) -> Fraction:
    """Return the true positive rate at the false positive rate ``fpr``, in [0, 1]; 0 best for the anonymizer.

    It is interpolated between operating points, starting at (0, 0); if several points have that rate, the
    highest counts. Blind guessing gets ``fpr``. Carlini et al., "Membership Inference Attacks From First
    Principles", 2022, section III.
    """
    return (
        _interpolate(points.false_positives, points.true_positives, fpr * points.nonmember_count)
        / points.member_count
    )


def auc(points: OperatingPoints) -> Fraction:
    """Return the probability that a member scores above another candidate, in [0, 1]; ties count half.

    Blind guessing gets 1/2. Hanley and McNeil, "The meaning and use of the area under a ROC curve", 1982.
    """
    widths, heights = np.diff(points.false_positives), points.true_positives[1:] + points.true_positives[:-1]
    return Fraction(int((widths * heights).sum()), 2 * points.member_count * points.nonmember_count)


def accuracy(points: OperatingPoints) -> Fraction:
    """Return the share of candidates classified right if the N highest scores are taken for members.

    N is the number of members. If the N-th place is tied, the result is the expected value of breaking the
    tie at random. It is in [0, 1]; blind guessing gets 1/2.
    """
    correct_members = _interpolate(
        points.true_positives + points.false_positives, points.true_positives, Fraction(points.member_count)
    )
    return (2 * correct_members + points.nonmember_count - points.member_count) / (
        points.member_count + points.nonmember_count
    )


def _interpolate(counts: IntArray, true_positives: IntArray, limit: Fraction) -> Fraction:
    """Return the true positives at the point where the ascending ``counts`` reach the limit.

    The result is linear between points. If several points have this count, the last one is used.
    """
    index = int(np.searchsorted(counts, math.floor(limit), side="right")) - 1
    if index == len(counts) - 1:
        return Fraction(int(true_positives[-1]))
    slope = Fraction(
        int(true_positives[index + 1] - true_positives[index]), int(counts[index + 1] - counts[index])
    )
    return int(true_positives[index]) + (limit - int(counts[index])) * slope
