"""The rule against excessive anonymization (P2, Approach II): how far individuals moved."""

from dataclasses import dataclass

import numpy as np

from app.errors import InvalidCompetition
from app.scoring.arrays import FloatArray, IntArray
from app.scoring.competition import Excessive
from app.scoring.distances import gower_rows
from app.scoring.release import Release

DISTANCES = {"gower": gower_rows}
"""Distance of every row of Y to its source, by name; each in [0, 1]."""

TOLERANCE = 1e-12
"""A mean equal to the threshold is accepted; rounding must not decide."""


@dataclass(frozen=True, slots=True)
class Distances:
    """d(T_i, T'_p(i)) for every individual of the original, (n,); a deleted individual counts 1."""

    name: str
    of_individuals: FloatArray

    @property
    def mean(self) -> float:
        return float(self.of_individuals.mean())

    @property
    def largest(self) -> float:
        return float(self.of_individuals.max())

    def histogram(self, bins: int = 50) -> IntArray:
        """Counts of individuals in equal bins over [0, 1]."""
        counts, _ = np.histogram(self.of_individuals, bins=bins, range=(0.0, 1.0))
        return counts


def individual_distances(release: Release, *, distance: str = "gower") -> Distances:
    """Hold every individual's anonymized row against its original one."""
    moved = np.ones(release.original.rows)
    moved[release.source] = DISTANCES[distance](release)
    return Distances(distance, moved)


def is_excessive(distances: Distances, settings: Excessive) -> bool:
    """Whether the rule rejects: the mean (average) or any distance (strict) exceeds the threshold.

    Strict forbids deletion below a threshold of 1. Without a threshold nothing is rejected.
    """
    if settings.approach != "II" or settings.distance not in DISTANCES:
        raise InvalidCompetition(f"no check for {settings.distance}, approach {settings.approach}")
    if settings.threshold is None:
        return False
    decisive = distances.largest if settings.rule == "strict" else distances.mean
    return decisive > settings.threshold + TOLERANCE
