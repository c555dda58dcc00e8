"""How well scores tell members from others: exact fractions, so that no number depends on the order of rows.

A threshold takes all candidates of one score in at once: equal scores are one operating point. Between two
points every number is linear, which is what drawing lots among equals gets in expectation.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from anoncup.geometry.arrays import BoolArray, FloatArray, IntArray

LOW = Fraction(1, 100)
"""The false positive rate at which membership is asked."""


@dataclass(frozen=True, slots=True)
class Points:
    """Operating points from (0, 0) to all, thresholds falling: how many are ``named`` members, (points,).

    ``true`` are members, ``false`` others; there is at least one of each.
    """

    true: IntArray
    false: IntArray

    @property
    def members(self) -> int:
        return int(self.true[-1])

    @property
    def others(self) -> int:
        return int(self.false[-1])


def operating_points(scores: FloatArray, members: BoolArray) -> Points:
    """Of a score for each candidate, higher the surer, (n,); ``members`` (n,)."""
    levels, level_of = np.unique(-scores, return_inverse=True)
    true = np.bincount(level_of[members], minlength=len(levels))
    false = np.bincount(level_of[~members], minlength=len(levels))
    return Points(np.cumsum(np.append(0, true)), np.cumsum(np.append(0, false)))


def tpr(points: Points, fpr: Fraction = LOW) -> Fraction:
    """Share of the members named where ``fpr`` of the others are, in [0, 1]; 0 best for the anonymizer.

    Linear between points; of several points at that rate the highest; from (0, 0) where the first point lies
    beyond (Carlini et al., "Membership Inference Attacks From First Principles", 2022, section III). Blind
    guessing gets ``fpr``.
    """
    return _true_where(points.false, points.true, fpr * points.others) / points.members


def auc(points: Points) -> Fraction:
    """Chance that a member scores above another candidate, equal scores counting half; in [0, 1], blind 1/2.

    Hanley and McNeil, "The meaning and use of the area under a ROC curve", 1982.
    """
    widths, heights = np.diff(points.false), points.true[1:] + points.true[:-1]
    return Fraction(int((widths * heights).sum()), 2 * points.members * points.others)


def accuracy(points: Points) -> Fraction:
    """Share of the candidates told rightly if the N highest are named, N the members; in [0, 1], blind 1/2.

    Where the N-th place is tied, the expectation of drawing lots among the tied.
    """
    right = _true_where(points.true + points.false, points.true, Fraction(points.members))
    return (2 * right + points.others - points.members) / (points.members + points.others)


def _true_where(counted: IntArray, true: IntArray, limit: Fraction) -> Fraction:
    """``true`` where ``counted``, ascending, reaches the limit: the highest there, or linear to the next."""
    place = int(np.searchsorted(counted, math.floor(limit), side="right")) - 1
    if place == len(counted) - 1:
        return Fraction(int(true[-1]))
    step = Fraction(int(true[place + 1] - true[place]), int(counted[place + 1] - counted[place]))
    return int(true[place]) + (limit - int(counted[place])) * step
