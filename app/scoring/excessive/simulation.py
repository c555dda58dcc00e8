"""What cheating by permutation costs: d(T, T; p)/n over many random permutations (P2 §5, Figs. 8-10)."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from app.scoring.arrays import IntArray
from app.scoring.methods.microdata import shuffled_within
from app.scoring.methods.permutations import derangement

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
        "group": lambda rng: shuffled_within(groups, rng),
    }


def simulated(mean_of: Callable[[IntArray], float], draw: Draw, *, draws: int, rng: Generator) -> Histogram:
    """``mean_of`` (the mean distance d(T_i, T_p(i)) of a permutation p) over ``draws`` permutations."""
    means = np.array([mean_of(draw(rng)) for _ in range(draws)])
    counts, edges = np.histogram(means, bins=BINS)
    return Histogram(
        draws=draws,
        counts=tuple(counts.tolist()),
        edges=tuple(edges.tolist()),
        least=float(means.min()),
        mean=float(means.mean()),
        largest=float(means.max()),
    )
