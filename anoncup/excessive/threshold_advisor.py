"""Advice on the threshold of the rule against excessive anonymization (P2 §4.3 and §4.4)."""

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass

import numpy as np
from numpy.random import PCG64, Generator
from scipy.optimize import linear_sum_assignment

from anoncup.excessive import SIMULATED_PERMUTATIONS, ProgressCallback, ignore_progress
from anoncup.excessive.fixed_point_odds import (
    find_fixed_limit,
    log2,
)
from anoncup.geometry.arrays import FloatArray, IntArray
from anoncup.messages import JsonObject, Message, serialize_prefixed
from anoncup.tracks.linkage.shuffling import sample_derangement, shuffle_within_groups
from anoncup.tracks.parts import AnyDistance, HasRows


def s_lower(nearest_distances: FloatArray, fixed: int) -> float:
    """Return a lower bound of s_exact(``fixed``): the sum of the n - ``fixed`` smallest nearest distances.

    ``nearest_distances`` (n,): from each individual to the nearest other one, in any order.

    >>> s_lower(np.array([4.0, 2.0, 3.0, 2.0]), 1)
    7.0
    """
    return float(np.sort(nearest_distances)[: len(nearest_distances) - fixed].sum())


def find_cheapest_derangement(distances: FloatArray) -> IntArray | None:
    """Return a permutation (n,) without fixed points that costs s_exact(0), by one assignment in O(n^3).

    ``distances`` (n, n) are finite. None for a single individual, who cannot be moved.

    >>> distances = np.array([[0, 4, 7, 6], [4, 0, 3, 2], [7, 3, 0, 5], [6, 2, 5, 0.0]])
    >>> float(distances[range(4), find_cheapest_derangement(distances)].sum())
    18.0
    """
    if len(distances) == 1:
        return None
    costs = distances / (distances.max() or 1.0)  # sums of the largest distances would overflow
    np.fill_diagonal(costs, np.inf)
    return np.asarray(linear_sum_assignment(costs)[1], dtype=np.int64)


_MAX_DECIMALS = 12
"""Maximum number of decimals of a recommended threshold."""
MAX_ASSIGNED_INDIVIDUALS = 2000
"""Maximum number of individuals for which s_exact(0) is computed, in some seconds."""
MAX_MATRIX_INDIVIDUALS = 10_000
"""Maximum number of individuals for which a simulation keeps the full distance matrix (800 MB) in memory."""
MAX_SIMULATED_PAIRS = 10**7
"""Maximum number of pairs that are compared in a simulation without the full distance matrix."""
_HISTOGRAM_BINS = 40
_DrawPermutation = Callable[[Generator], IntArray]


@dataclass(frozen=True, slots=True)
class CheatType:
    """A type of permutation with which a team could cheat.

    More than ``fixed`` individuals stay in place with probability 2^``log2_chance`` (None: never).
    On average, ``expected`` individuals stay in place.
    """

    name: str
    fixed: int
    log2_chance: float | None
    expected: float


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


@dataclass(frozen=True, slots=True)
class MeanBound:
    """P2's lower bound of the mean distance if at most ``fixed`` individuals stay in place: s_lower / n."""

    fixed: int
    s_lower: float


@dataclass(frozen=True, slots=True)
class ThresholdAdvice:
    """Advice: thresholds in the open interval (``low``, ``high``) reject every cheat.

    Distances are in the unit of ``distance``; ``individuals``, ``groups`` and ``alone`` are counts.

    - ``fixed``: each type of cheat leaves more individuals than this in place with a probability below
      2^-``bits`` (l in P2).
    - ``low``: half of the smallest distance between two individuals.
    - ``high``: s_lower(l) / n, below the mean distance of each permutation that leaves at most ``fixed``
      individuals in place.
    - ``threshold``: the recommendation. It is None if the interval is empty; ``remedy`` then says what to
      change.
    - ``alone``: number of individuals who are the only member of their group.
    - ``cheats``: the types of permutations; ``histograms``: the simulated mean distances of each type.
    - ``bounds``: one for each ``fixed`` of a cheat, ascending.
    - ``s_exact``: the least mean distance of a permutation that moves everybody. It is None for too many
      individuals, and for a single one.
    """

    distance: str
    bits: int
    individuals: int
    groups: int
    alone: int
    cheats: tuple[CheatType, ...]
    fixed: int
    low: float
    high: float
    threshold: float | None
    remedy: Message | None
    bounds: tuple[MeanBound, ...]
    s_exact: float | None
    histograms: dict[str, SimulationHistogram]

    def to_json(self) -> JsonObject:
        remedy = {} if self.remedy is None else serialize_prefixed("remedy", self.remedy)
        return asdict(self) | remedy


def advise(
    original: HasRows,
    distance: AnyDistance,
    groups: IntArray,
    *,
    identifying: tuple[str, ...] = (),
    bits: int = 50,
    draws: int = SIMULATED_PERMUTATIONS,
    progress: ProgressCallback = ignore_progress,
) -> ThresholdAdvice:
    """Recommend a threshold that permutations of the original exceed, up to a small probability.

    ``groups`` (n,): the group of every individual; a cheat may permute individuals within groups only.
    ``identifying``: columns of the groups that make most individuals unique, for the remedy.
    ``bits``: random permutations stay below the threshold with a probability of at most 2^-``bits``.
    ``draws``: number of permutations of each type to simulate, 0 for no simulation.
    """
    sizes = np.bincount(np.unique(groups, return_inverse=True)[1])
    individual_count, cheats = len(groups), _list_cheats(sizes, bits)
    progress(1, 3, "nearest others")
    nearest_distances = distance.nearest_other(original)
    nearest_distances = np.where(np.isfinite(nearest_distances), nearest_distances, 0.0)
    progress(2, 3, "bounds")
    max_matrix = MAX_MATRIX_INDIVIDUALS if draws else MAX_ASSIGNED_INDIVIDUALS
    matrix = distance.matrix(original) if individual_count <= max_matrix else None
    bounds = tuple(
        MeanBound(fixed, s_lower(nearest_distances, fixed) / individual_count)
        for fixed in sorted({cheat.fixed for cheat in cheats})
    )
    low, high = float(nearest_distances.min()) / 2, bounds[-1].s_lower
    threshold = find_largest_round_number(low, high)
    progress(3, 3, "simulation")
    simulated_means = _simulate_cheats(original, distance, matrix, groups, draws)
    return ThresholdAdvice(
        distance=distance.name,
        bits=bits,
        individuals=individual_count,
        groups=len(sizes),
        alone=int((sizes == 1).sum()),
        cheats=cheats,
        fixed=bounds[-1].fixed,
        low=low,
        high=high,
        threshold=threshold,
        remedy=_suggest_remedy(low, cheats, sizes, identifying) if threshold is None else None,
        bounds=bounds,
        s_exact=_compute_s_exact_mean(matrix),
        histograms={name: _build_histogram(cheat_means) for name, cheat_means in simulated_means.items()},
    )


def find_largest_round_number(low: float, high: float) -> float | None:
    """Return the largest number with two decimals that lies strictly between ``low`` and ``high``.

    If there is none, numbers with three, four and more decimals are tried. None: no number was found.

    >>> find_largest_round_number(0.3567, 0.6435)
    0.64
    """
    for decimals in range(2, _MAX_DECIMALS + 1):
        unit = 10.0**decimals
        steps = math.ceil(high * unit)
        candidates = (round(step / unit, decimals) for step in (steps, steps - 1))
        round_number = next((candidate for candidate in candidates if low < candidate < high), None)
        if round_number is not None:
            return round_number
    return None


def _list_cheats(sizes: IntArray, bits: int) -> tuple[CheatType, ...]:
    count, group_sizes = int(sizes.sum()), sizes.tolist()
    shift = CheatType("shift", fixed=0, log2_chance=None, expected=0.0)
    return (shift, _describe_cheat("random", [count], bits), _describe_cheat("group", group_sizes, bits))


def _describe_cheat(name: str, group_sizes: list[int], bits: int) -> CheatType:
    """Describe random permutations within groups: on average, each leaves one individual in place."""
    fixed, chance = find_fixed_limit(group_sizes, bits=bits)
    return CheatType(name, fixed, log2(chance) if chance else None, float(len(group_sizes)))


def _compute_s_exact_mean(matrix: FloatArray | None) -> float | None:
    """Return s_exact(0) / n; None without a matrix, and if it is too large or of a single individual."""
    if matrix is None or len(matrix) > MAX_ASSIGNED_INDIVIDUALS:
        return None
    permutation = find_cheapest_derangement(matrix)
    return None if permutation is None else float(matrix[np.arange(len(matrix)), permutation].mean())


def _suggest_remedy(
    low: float, cheats: tuple[CheatType, ...], sizes: IntArray, identifying: tuple[str, ...]
) -> Message:
    if low == 0.0 and int(sizes.sum()) > 1 and cheats[2].fixed < int(sizes.sum()):
        return Message(
            "two individuals have the same data, or nobody has a neighbour: the distance cannot "
            "distinguish them; use another distance or other columns, or remove the repetitions"
        )
    if cheats[2].fixed > 2 * cheats[1].fixed:
        return _describe_small_groups(int((sizes == 1).sum()), len(sizes), identifying)
    return Message(
        "individuals are too few or too alike: take more of them, another distance, or a lower confidence"
    )


def _describe_small_groups(singletons: int, group_count: int, identifying: tuple[str, ...]) -> Message:
    if identifying:
        return Message(
            "hardly any two individuals agree in what a cheat may keep, so that hardly any can be exchanged: "
            "leave out these columns, or make their values coarser, such as years instead of dates: "
            "{columns}",
            columns=identifying,
        )
    if not singletons:
        return Message(
            "groups are small, and many of their individuals stay in place by chance: name fewer group "
            "columns, or merge rare values"
        )
    return Message(
        "in {alone} of {groups} groups there is only one individual, whom no cheat can move: name "
        "fewer group columns, or merge rare values",
        alone=singletons,
        groups=group_count,
    )


def _simulate_cheats(
    original: HasRows, distance: AnyDistance, matrix: FloatArray | None, groups: IntArray, draws: int
) -> dict[str, FloatArray]:
    """Return the mean distances of simulated permutations, (draws,) for each type of cheat.

    Without the full matrix, fewer permutations are simulated, so that at most MAX_SIMULATED_PAIRS pairs are
    compared for each type.
    """
    rows = np.arange(len(groups))
    if matrix is None:
        draws = min(draws, max(MAX_SIMULATED_PAIRS // len(groups), 1))

    def compute_mean(permutation: IntArray) -> float:
        if matrix is None:
            distances = distance.pairs(original, rows, permutation)
        else:
            distances = matrix.take(rows * len(rows) + permutation)
        return float(distances.mean())

    means_by_type = {}
    for seed, (name, draw_permutation) in enumerate(_list_permutation_types(groups).items()):
        rng = Generator(PCG64(seed))
        means_by_type[name] = np.array([compute_mean(draw_permutation(rng)) for _ in range(draws)])
    return means_by_type if draws else {}


def _list_permutation_types(groups: IntArray) -> dict[str, _DrawPermutation]:
    """Return a function that draws a permutation for each of P2's types.

    ``shift``: nobody stays in place (Fig. 8). ``random``: any permutation (Fig. 9). ``group``: any
    permutation within groups (Fig. 10).
    """
    count = len(groups)
    return {
        "shift": lambda rng: sample_derangement(count, rng),
        "random": lambda rng: rng.permutation(count),
        "group": lambda rng: shuffle_within_groups(groups, rng),
    }


def _build_histogram(means: FloatArray) -> SimulationHistogram:
    """Summarize the mean distances of permutations, (draws,)."""
    counts, edges = np.histogram(means, bins=_HISTOGRAM_BINS, range=_find_histogram_range(means))
    return SimulationHistogram(
        draws=len(means),
        counts=tuple(counts.tolist()),
        edges=tuple(edges.tolist()),
        least=float(means.min()),
        mean=float(means.mean()),
        largest=float(means.max()),
    )


def _find_histogram_range(means: FloatArray) -> tuple[float, float]:
    """Return the range of the values, slightly widened if they only differ by rounding."""
    smallest, largest = float(means.min()), float(means.max())
    margin = 1e-9 * max(abs(largest), 1.0)
    return (smallest, largest) if largest - smallest > margin else (smallest - margin, largest + margin)
