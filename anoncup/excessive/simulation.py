"""Mean distances of many random permutations of the original (P2 §5, Figs. 8-10)."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from anoncup.excessive.individual_distances import clipped_mean
from anoncup.geometry.arrays import FloatArray, IntArray
from anoncup.geometry.stable_sums import LARGEST_FLOAT
from anoncup.tracks.linkage.shuffling import make_shuffler, sample_derangement

_HISTOGRAM_BINS = 40
_DrawPermutation = Callable[[Generator], IntArray]


@dataclass(frozen=True, slots=True)
class SimulationHistogram:
    """Histogram of the mean distances of ``draws`` permutations.

    ``counts`` (bins,) are the numbers of permutations between the ``edges`` (bins + 1,).
    """

    draws: int
    counts: tuple[int, ...]
    edges: tuple[float, ...]
    least: float
    mean: float
    largest: float


def list_permutation_types(groups: IntArray) -> dict[str, _DrawPermutation]:
    """Return a function that draws a permutation for each of P2's types.

    ``shift``: nobody stays in place (Fig. 8). ``random``: any permutation (Fig. 9). ``group``: any
    permutation within groups (Fig. 10).
    """
    count = len(groups)
    return {
        "shift": lambda rng: sample_derangement(count, rng),
        "random": lambda rng: rng.permutation(count),
        "group": make_shuffler(groups),
    }


def find_possible_cheats(sizes: IntArray) -> frozenset[str]:
    """Return the types of permutations that can move at least one individual in groups of these sizes."""
    ungrouped = {"shift", "random"} if sizes.sum() > 1 else set()
    return frozenset(ungrouped | ({"group"} if sizes.max() > 1 else set()))


def build_histogram(means: FloatArray) -> SimulationHistogram:
    """Summarize the mean distances of permutations, (draws,)."""
    counts, edges = np.histogram(means, bins=_HISTOGRAM_BINS, range=_find_histogram_range(means))
    return SimulationHistogram(
        draws=len(means),
        counts=tuple(counts.tolist()),
        edges=tuple(edges.tolist()),
        least=float(means.min()),
        mean=clipped_mean(means),
        largest=float(means.max()),
    )


def compute_greedy_swap_mean(distance_matrix: FloatArray) -> float | None:
    """Return the mean distance if each individual in turn is swapped with the most similar one that is left.

    With an odd number of individuals, the last one stays. None for a single individual.
    """
    count, cost = len(distance_matrix), 0.0
    taken_penalty = np.zeros(count)
    for row in range(count):
        if taken_penalty[row] == 0.0:
            taken_penalty[row] = np.inf
            distances = distance_matrix[row] + taken_penalty
            partner = int(distances.argmin())
            taken_penalty[partner] = np.inf
            cost += 2 * float(distances[partner]) if np.isfinite(distances[partner]) else 0.0
    return cost / count if count > 1 else None


def _find_histogram_range(means: FloatArray) -> tuple[float, float]:
    """Return the range of the values, slightly widened if they only differ by rounding."""
    smallest, largest = float(means.min()), float(means.max())
    margin = 1e-9 * max(abs(largest), 1.0)
    return (
        (smallest, largest)
        if largest - smallest > margin
        else (smallest - margin, min(largest + margin, LARGEST_FLOAT))
    )
