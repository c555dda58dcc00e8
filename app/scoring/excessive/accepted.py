"""What it tells of a secret that its release was accepted: the rule against excessive anonymization held."""

from dataclasses import dataclass
from math import inf

import numpy as np

from app.scoring.arrays import FloatArray
from app.scoring.parts import Distance
from app.scoring.rates import ABSTAIN, Answer, Candidates, Noted, OwnCluster
from app.scoring.release import Target
from app.scoring.settings import Excessive

PAIRS = 10**6
"""Pairs of rows, of Y and of X, up to which it is told: all their distances are held."""
SLACK = 1e-9
"""How far beyond the threshold, in parts of it or of 1, a distance may lie that was computed another way."""

LARGEST_SUM = 1e100
"""Of distances; beyond it nothing is told: what they cost has to stay finite."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """The secrets of a target that the rule accepts: ``distances`` (n', n) of every row of Y to its possible
    owners, infinite to the others; those to the true ones add up to ``most`` at most.
    """

    distances: FloatArray
    most: float


def accepted(settings: Excessive, distance: Distance, target: Target) -> Accepted | None:
    """None where it tells nothing: without a threshold, of too many pairs, and if no secret is accepted."""
    limit, rows, originals = settings.threshold, target.rows, target.original.rows
    if limit is None or distance.block is None or rows * originals > PAIRS:
        return None
    slack = SLACK * max(limit, 1.0)
    found, most = distance.block(target, 0, rows), inf
    if settings.approach == "I":  # whoever resembles a row is its owner
        near = np.less(found, limit - slack)
        owner = near & (near.sum(axis=1, keepdims=True) == 1)
        found[near.any(axis=1, keepdims=True) & ~owner] = inf
    elif settings.rule == "strict":
        found[found > limit + slack] = inf
    else:  # a deleted individual counts 1
        most = (limit + slack) * originals - (originals - rows)
        found[found > most] = inf
    least = found.min(axis=1)
    able = np.isfinite(least).all() and (most == inf or least.sum() <= most <= LARGEST_SUM)
    return Accepted(found, most) if able else None


def fewest_right(answer: Answer, known: Accepted) -> int:
    """How many rows an answer is right on at least, where it was accepted; 0 of one that draws lots."""
    guess = answer.guess if isinstance(answer, Noted) else answer
    if isinstance(guess, Candidates | OwnCluster):
        return 0
    rows, others = np.flatnonzero(guess != ABSTAIN), known.distances.copy()
    right = others[rows, guess[rows]]
    others[rows, guess[rows]] = inf
    wrong = others.min(axis=1)
    forced = rows[np.isinf(wrong[rows])]
    if known.most == inf:
        return len(forced)
    wrong[forced] = known.distances[forced, guess[forced]]
    gains = np.sort(np.maximum(wrong[rows] - right, 0.0))[::-1]
    saved = np.concatenate(([0.0], np.cumsum(gains)))
    return len(forced) + int(np.searchsorted(saved, wrong.sum() * (1 - SLACK) - known.most))
