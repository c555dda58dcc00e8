"""The rule against excessive anonymization (P2 §2.2): how far individuals moved, and whom they resemble."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from anoncup.geometry.arrays import FloatArray
from anoncup.geometry.stable_sums import LARGEST
from anoncup.messages import N_, Counted, Message
from anoncup.rules.settings import Excessive
from anoncup.tracks.parts import Distance

TOLERANCE = 1e-12
"""A distance equal to the threshold does not exceed it (Approach II); rounding must not decide."""
BINS = 50
NEXT_TO_NOTHING = 1e-6


@dataclass(frozen=True, slots=True)
class Histogram:
    """``counts`` of individuals in equal bins over [0, ``end``]; on an edge, in the bin above it."""

    counts: tuple[int, ...]
    end: float


@dataclass(frozen=True, slots=True)
class Distances:
    """d(T_i, T'_p(i)) for every individual of the original, (n,); a deleted individual counts 1."""

    name: str
    of_individuals: FloatArray

    @property
    def mean(self) -> float:
        return mean_of(self.of_individuals)

    @property
    def largest(self) -> float:
        return float(self.of_individuals.max())

    def histogram(self, threshold: float | None = None) -> Histogram:
        """Individuals by distance, from 0 to the largest or to the threshold, whichever is farther.

        Where both are next to nothing, up to 1: bins narrower than rounding would tell nothing.
        """
        farthest = max(self.largest, threshold or 0.0)
        end = farthest if farthest > NEXT_TO_NOTHING else 1.0
        counts, _ = np.histogram(self.of_individuals, bins=BINS, range=(0.0, end))
        return Histogram(tuple(int(count) for count in counts), end)


def mean_of(distances: FloatArray) -> float:
    """Also where their sum is beyond the largest number."""
    with np.errstate(over="ignore"):
        return min(float(distances.mean()), LARGEST)


def individual_distances(release: Any, distance: Distance) -> Distances:
    """Hold every individual's anonymized data against the original ones."""
    moved = np.ones(release.original.rows)
    moved[release.source] = distance.to_source(release)
    return Distances(distance.name, moved)


def excess(release: Any, distance: Distance, distances: Distances, settings: Excessive) -> Message | None:
    """What makes a release excessive; None if nothing does, or if there is no threshold.

    Approach II: the mean distance of individuals to their originals (average), or any of them (strict),
    exceeds the threshold; strict forbids deletion below a threshold of 1. Approach I: the data of some
    individual lie within the threshold of another one's original.
    """
    limit = settings.threshold
    if limit is None:
        return None
    if settings.approach == "I":
        return _resemblance(release, distance, limit)
    which, value = (
        (N_("largest"), distances.largest) if settings.rule == "strict" else (N_("mean"), distances.mean)
    )
    if value <= limit + TOLERANCE:
        return None
    return Message(
        "the {which} {distance} distance of individuals is {found:.6g}; at most {limit} is allowed",
        which=Message(which),
        distance=Message(distance.name),
        found=value,
        limit=limit,
    )


def deletion(release: Any, distance: Distance) -> Message | None:
    """Why rows may not be deleted under this distance, if some are; None if it is bounded or none is."""
    if distance.bounded or release.target.rows == release.original.rows:
        return None
    return Message(
        "under the {distance} distance, which has no bound, every individual must be kept",
        distance=Message(distance.name),
    )


def _resemblance(release: Any, distance: Distance, limit: float) -> Message | None:
    count = int((distance.to_others(release) <= limit).sum())
    if count == 0:
        return None
    return Counted(
        "{found} anonymized individual lies within a {distance} distance of {limit} of somebody else's "
        "original; none may",
        "{found} anonymized individuals lie within a {distance} distance of {limit} of somebody else's "
        "original; none may",
        "found",
        found=count,
        distance=Message(distance.name),
        limit=limit,
    )
