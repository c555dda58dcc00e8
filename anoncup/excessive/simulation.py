"""Mean distance of cheats by permutation: d(T, T; p)/n over many random permutations (P2 §5, Figs. 8-10)."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from anoncup.excessive.individual_distances import mean_of
from anoncup.geometry.arrays import FloatArray, IntArray
from anoncup.geometry.stable_sums import LARGEST
from anoncup.tracks.linkage.shuffling import derangement, shuffler

BINS = 40
Draw = Callable[[Generator], IntArray]


@dataclass(frozen=True, slots=True)
class Histogram:
    """Counts (bins,) of mean distances between ``edges`` (bins + 1,), over ``draws`` permutations."""

    draws: int
    counts: tuple[int, ...]
    edges: tuple[float, ...]
    least: float
    mean: float
    largest: float


def kinds_of_permutations(groups: IntArray) -> dict[str, Draw]:
    """P2's three types: nobody stays (Fig. 8), anything goes (Fig. 9), within groups (Fig. 10)."""
    rows = len(groups)
    return {
        "shift": lambda rng: derangement(rows, rng),
        "random": lambda rng: rng.permutation(rows),
        "group": shuffler(groups),
    }


def able(sizes: IntArray) -> frozenset[str]:
    """The kinds of permutations that can move anybody in groups of these sizes: who is alone stays."""
    whole = {"shift", "random"} if sizes.sum() > 1 else set()
    return frozenset(whole | ({"group"} if sizes.max() > 1 else set()))


def histogram_of(means: FloatArray) -> Histogram:
    """The mean distances d(T_i, T_p(i)) of permutations p, (draws,)."""
    counts, edges = np.histogram(means, bins=BINS, range=_range(means))
    return Histogram(
        draws=len(means),
        counts=tuple(counts.tolist()),
        edges=tuple(edges.tolist()),
        least=float(means.min()),
        mean=mean_of(means),
        largest=float(means.max()),
    )


def exchanged_with_most_alike(matrix: FloatArray) -> float | None:
    """The mean distance if everybody in turn is exchanged with the most alike who is still free.

    Of an odd number the last one stays; one alone can be exchanged with nobody: None.
    """
    rows, cost = len(matrix), 0.0
    free = np.zeros(rows)
    for row in range(rows):
        if free[row] == 0.0:
            free[row] = np.inf
            apart = matrix[row] + free
            other = int(apart.argmin())
            free[other] = np.inf
            cost += 2 * float(apart[other]) if np.isfinite(apart[other]) else 0.0
    return cost / rows if rows > 1 else None


def _range(means: FloatArray) -> tuple[float, float]:
    """From the least to the largest; a little around them where only rounding tells them apart."""
    least, largest = float(means.min()), float(means.max())
    room = 1e-9 * max(abs(largest), 1.0)
    return (least, largest) if largest - least > room else (least - room, min(largest + room, LARGEST))
