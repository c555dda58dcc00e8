"""Mean distance of cheats by permutation: d(T, T; p)/n over many random permutations (P2 §5, Figs. 8-10)."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from anoncup.excessive.individual_distances import finite_distance_mean
from anoncup.geometry.arrays import FloatArray, IntArray
from anoncup.geometry.stable_sums import LARGEST
from anoncup.tracks.linkage.shuffling import derangement, make_shuffler

_HISTOGRAM_BINS = 40
_DrawPermutation = Callable[[Generator], IntArray]


@dataclass(frozen=True, slots=True)
class SimulationHistogram:
    """Counts (bins,) of mean distances between ``edges`` (bins + 1,), over ``draws`` permutations."""

    draws: int
    counts: tuple[int, ...]
    edges: tuple[float, ...]
    least: float
    mean: float
    largest: float


def permutation_types(groups: IntArray) -> dict[str, _DrawPermutation]:
    """Return P2's three types: nobody stays (Fig. 8), unrestricted (Fig. 9), within groups (Fig. 10)."""
    count = len(groups)
    return {
        "shift": lambda rng: derangement(count, rng),
        "random": lambda rng: rng.permutation(count),
        "group": make_shuffler(groups),
    }


def find_possible_cheats(sizes: IntArray) -> frozenset[str]:
    """Return the types of permutations that can move anybody in groups of these sizes."""
    ungrouped = {"shift", "random"} if sizes.sum() > 1 else set()
    return frozenset(ungrouped | ({"group"} if sizes.max() > 1 else set()))


def build_histogram(means: FloatArray) -> SimulationHistogram:
    """Summarize the mean distances d(T_i, T_p(i)) of permutations p, (draws,)."""
    counts, edges = np.histogram(means, bins=_HISTOGRAM_BINS, range=_histogram_range(means))
    return SimulationHistogram(
        draws=len(means),
        counts=tuple(counts.tolist()),
        edges=tuple(edges.tolist()),
        least=float(means.min()),
        mean=finite_distance_mean(means),
        largest=float(means.max()),
    )


def greedy_swap_mean(distances_matrix: FloatArray) -> float | None:
    """Return the mean distance if each individual in turn is swapped with the most similar one that is free.

    With an odd number the last one stays; None for a single individual.
    """
    count, cost = len(distances_matrix), 0.0
    taken_penalty = np.zeros(count)
    for row in range(count):
        if taken_penalty[row] == 0.0:
            taken_penalty[row] = np.inf
            distances = distances_matrix[row] + taken_penalty
            partner = int(distances.argmin())
            taken_penalty[partner] = np.inf
            cost += 2 * float(distances[partner]) if np.isfinite(distances[partner]) else 0.0
    return cost / count if count > 1 else None


def _histogram_range(means: FloatArray) -> tuple[float, float]:
    """Return the range of the values, slightly widened if they differ by rounding only."""
    smallest, largest = float(means.min()), float(means.max())
    margin = 1e-9 * max(abs(largest), 1.0)
    return (
        (smallest, largest)
        if largest - smallest > margin
        else (smallest - margin, min(largest + margin, LARGEST))
    )
