"""The rule against excessive anonymization (P2 §2.2), which limits the distances of individuals."""

from dataclasses import dataclass

import numpy as np

from anoncup.geometry.arrays import FloatArray
from anoncup.messages import N_, Message, PluralMessage
from anoncup.rules.settings import Excessive
from anoncup.tracks.parts import AnyDistance, AnyScoredRelease

TOLERANCE = 1e-12
"""Tolerance of comparisons with the threshold. A distance equal to it does not exceed it (Approach II), even
if rounding makes it a little larger."""
_HISTOGRAM_BINS = 50
_MIN_HISTOGRAM_END = 1e-6


@dataclass(frozen=True, slots=True)
class DistanceHistogram:
    """Number of individuals in bins of equal width over [0, ``end``]; an edge belongs to the bin above it."""

    counts: tuple[int, ...]
    end: float


@dataclass(frozen=True, slots=True)
class IndividualDistances:
    """Distance of every individual's released data to its original data, (n,); 1 for deleted individuals."""

    name: str
    values: FloatArray

    @property
    def mean(self) -> float:
        return float(self.values.mean())

    @property
    def largest(self) -> float:
        return float(self.values.max())

    def histogram(self, threshold: float | None = None) -> DistanceHistogram:
        """Count individuals by distance, from 0 to the larger of the threshold and the largest distance.

        If both are nearly 0, the range is [0, 1], because bins narrower than rounding errors are meaningless.
        """
        farthest = max(self.largest, threshold or 0.0)
        end = farthest if farthest > _MIN_HISTOGRAM_END else 1.0
        counts, _ = np.histogram(self.values, bins=_HISTOGRAM_BINS, range=(0.0, end))
        return DistanceHistogram(tuple(int(count) for count in counts), end)


def compute_individual_distances(release: AnyScoredRelease, distance: AnyDistance) -> IndividualDistances:
    """Compute the distance of every individual's anonymized data to its original."""
    values = np.ones(release.original.rows)
    values[release.answer] = distance.to_source(release)
    return IndividualDistances(distance.name, values)


def explain_excess(
    release: AnyScoredRelease, distance: AnyDistance, distances: IndividualDistances, settings: Excessive
) -> Message | None:
    """Return why a release is excessive; None if it is not, or if there is no threshold.

    Approach I: it is excessive if some individual's data lie within the threshold of another individual's
    original. Approach II: it is excessive if the mean distance of individuals to their originals exceeds the
    threshold (rule average), or if any distance does (rule strict). Because deleted individuals count 1, the
    strict rule forbids deletion with a threshold below 1.
    """
    limit = settings.threshold
    if limit is None:
        return None
    if settings.approach == "I":
        return _explain_resemblance(release, distance, limit)
    statistic, value = (
        (N_("largest"), distances.largest) if settings.rule == "strict" else (N_("mean"), distances.mean)
    )
    if value <= limit + TOLERANCE:
        return None
    return Message(
        "the {which} {distance} distance of individuals is {found:.6g}; at most {limit} is allowed",
        which=Message(statistic),
        distance=Message(distance.name),
        found=value,
        limit=limit,
    )


def explain_forbidden_deletion(release: AnyScoredRelease, distance: AnyDistance) -> Message | None:
    """Return why rows must not be deleted; None if the distance is bounded or no row was deleted."""
    if distance.bounded or release.target.rows == release.original.rows:
        return None
    return Message(
        "under the {distance} distance, which has no bound, every individual must be kept",
        distance=Message(distance.name),
    )


def _explain_resemblance(release: AnyScoredRelease, distance: AnyDistance, limit: float) -> Message | None:
    count = int((distance.to_others(release) <= limit).sum())
    if count == 0:
        return None
    return PluralMessage(
        "{found} anonymized individual lies within a {distance} distance of {limit} of somebody else's "
        "original; none may",
        "{found} anonymized individuals lie within a {distance} distance of {limit} of somebody else's "
        "original; none may",
        "found",
        found=count,
        distance=Message(distance.name),
        limit=limit,
    )
