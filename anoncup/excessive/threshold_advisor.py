"""Advice on the threshold of the rule against excessive anonymization (P2 §4.3 and §4.4)."""

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.random import PCG64, Generator

from anoncup.excessive import SIMULATED_PERMUTATIONS, ProgressCallback, ignore_progress
from anoncup.excessive.certified_bounds import MAX_DENSE_BOUNDS as EVERY
from anoncup.excessive.certified_bounds import CertifiedBounds, certified_bounds
from anoncup.excessive.evidence import GuaranteedThreshold, ThresholdEvidence, gather_evidence
from anoncup.excessive.fixed_point_odds import (
    find_smallest_fixed_count,
    find_smallest_group_fixed_count,
    group_tail_probability,
    log2,
    tail_probability,
)
from anoncup.excessive.gaps import close_gaps
from anoncup.excessive.method_costs import MethodTrials
from anoncup.excessive.rejection_rule import TOLERANCE, clipped_mean
from anoncup.excessive.sparse_bounds import compute_sparse_bounds
from anoncup.geometry.arrays import FloatArray, IntArray
from anoncup.geometry.stable_sums import LARGEST_FLOAT
from anoncup.messages import Message, serialize_prefixed
from anoncup.tracks.linkage.shuffling import make_shuffler, sample_derangement
from anoncup.tracks.parts import AnyDistance, HasRows

_MAX_DECIMALS = 12
"""Maximum number of decimals of a recommended threshold."""
MAX_CERTIFIED_INDIVIDUALS = 100_000
"""Maximum number of individuals for which bounds are certified: half a minute and 1 GB."""
MAX_MATRIX_INDIVIDUALS = 10_000
"""Maximum number of individuals for which a simulation keeps the full distance matrix (800 MB) in memory."""
MAX_SIMULATED_PAIRS = 10**7
"""Maximum number of pairs that are compared in a simulation without the full distance matrix."""
_BOUND_DIVISORS = (1, 2, 4, 8, 16, 32, 64)
"""Bounds are also reported for n divided by each of these numbers."""
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
    """Bounds of the least mean distance if at most ``fixed`` individuals stay in place.

    ``s_lower`` is P2's bound. ``lower`` and ``upper`` are certified, None if they were not computed.
    """

    fixed: int
    s_lower: float
    lower: float | None = None
    upper: float | None = None
    exact: bool = False


@dataclass(frozen=True, slots=True)
class ThresholdAdvice:
    """Advice: thresholds in the open interval (``low``, ``high``) reject every cheat.

    - ``fixed``: each type of cheat leaves more individuals than this in place with a probability below
      2^-``bits`` (l in P2).
    - ``low``: half of the smallest distance between two individuals.
    - ``high``: lower bound of the mean distance of a permutation that leaves at most ``fixed`` individuals in
      place. It is certified if ``certified``. ``high_s_lower`` is P2's own bound, s_lower(l) / n.
    - ``threshold``: the recommendation. It is None if the interval is empty; ``remedy`` then says what to
      change.
    - ``escapes``: the largest number of records that can move by at least half of the distance to their
      nearest neighbour under the average rule at ``threshold``.
    - ``alone``: number of individuals who are the only member of their group.
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
    high_s_lower: float
    certified: bool
    threshold: float | None
    remedy: Message | None
    escapes: int | None
    bounds: tuple[MeanBound, ...]
    histograms: dict[str, SimulationHistogram]
    evidence: ThresholdEvidence | None = None

    def to_json(self) -> dict[str, Any]:
        content = asdict(replace(self, evidence=None)) | (
            {} if self.remedy is None else serialize_prefixed("remedy", self.remedy)
        )
        return content | {"evidence": None if self.evidence is None else self.evidence.to_json()}


def advise(
    original: HasRows,
    distance: AnyDistance,
    groups: IntArray,
    *,
    bits: int = 50,
    draws: int = SIMULATED_PERMUTATIONS,
    seconds: float = 0.0,
    run_trials: Callable[[], MethodTrials] | None = None,
    progress: ProgressCallback = ignore_progress,
) -> ThresholdAdvice:
    """Recommend a threshold that permutations of the original exceed, up to a small probability.

    ``groups`` (n,): the group of every individual; a cheat may permute individuals within groups only.
    ``bits``: random permutations stay below the threshold with a probability of at most 2^-``bits``.
    ``draws``: number of permutations of each type to simulate, 0 for no simulation. ``seconds``: time to
    spend on making more of the bounds exact. ``run_trials``: function that tries sample methods on the data;
    without it, the advice contains no evidence.
    """
    steps = 3 if run_trials is None else 4
    sizes = np.bincount(np.unique(groups, return_inverse=True)[1])
    individual_count, cheats = len(groups), _list_cheats(len(groups), sizes, bits)
    progress(1, steps, "nearest others")
    nearest_distances = np.sort(distance.nearest_other(original))
    nearest_distances = np.where(np.isfinite(nearest_distances), nearest_distances, 0.0)
    progress(2, steps, "bounds")
    matrix = (
        distance.matrix(original)
        if individual_count <= (MAX_MATRIX_INDIVIDUALS if draws else EVERY)
        else None
    )
    fixed_counts = _list_fixed_counts(individual_count, cheats)
    with np.errstate(over="ignore", invalid="ignore"):  # sums of the largest distances overflow
        certified = _certify_bounds(original, distance, matrix, fixed_counts, seconds)
        bounds = _convert_to_mean_bounds(nearest_distances, certified, fixed_counts)
    decisive_bound = next(
        mean_bound for mean_bound in bounds if mean_bound.fixed == max(cheat.fixed for cheat in cheats)
    )
    low = float(nearest_distances[0]) / 2
    high = decisive_bound.s_lower if decisive_bound.lower is None else decisive_bound.lower
    threshold = find_largest_round_number(low, high)
    progress(3, steps, "simulation")
    simulated_means = _simulate_cheats(original, distance, matrix, groups, draws)
    sample_evidence = None
    if run_trials is not None:
        progress(4, steps, "sample methods")
        cheat_means_by_type = {
            name: simulated_means[name] for name in simulated_means if name in _find_possible_cheats(sizes)
        }
        sample_evidence = gather_evidence(
            run_trials(),
            cheat_means_by_type,
            GuaranteedThreshold(high, threshold),
            alike=_find_cheapest_cheat(matrix, bounds),
        )
    return ThresholdAdvice(
        distance=distance.name,
        bits=bits,
        individuals=individual_count,
        groups=len(sizes),
        alone=int((sizes == 1).sum()),
        cheats=cheats,
        fixed=decisive_bound.fixed,
        low=low,
        high=high,
        high_s_lower=decisive_bound.s_lower,
        certified=decisive_bound.lower is not None,
        threshold=threshold,
        remedy=_suggest_remedy(low, cheats, sizes) if threshold is None else None,
        escapes=None
        if threshold is None
        else count_possible_escapes(nearest_distances, individual_count * threshold),
        bounds=bounds,
        histograms={name: build_histogram(cheat_means) for name, cheat_means in simulated_means.items()},
        evidence=sample_evidence,
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


def _list_cheats(count: int, sizes: IntArray, bits: int) -> tuple[CheatType, ...]:
    random_fixed = find_smallest_fixed_count(count, bits=bits)
    group_fixed = find_smallest_group_fixed_count(sizes, bits=bits)
    return (
        CheatType("shift", 0, None, 0.0),
        CheatType("random", random_fixed, _log2_or_none(tail_probability(count, random_fixed)), 1.0),
        CheatType(
            "group", group_fixed, _log2_or_none(group_tail_probability(sizes, group_fixed)), float(len(sizes))
        ),
    )


def _log2_or_none(probability: Fraction) -> float | None:
    return log2(probability) if probability else None


def _list_fixed_counts(count: int, cheats: tuple[CheatType, ...]) -> list[int]:
    """Return the numbers of fixed points at which bounds are reported."""
    fixed_counts = {cheat.fixed for cheat in cheats} | {1, *(count // divisor for divisor in _BOUND_DIVISORS)}
    return sorted(fixed for fixed in fixed_counts if fixed <= count)


def _certify_bounds(
    original: HasRows,
    distance: AnyDistance,
    matrix: FloatArray | None,
    fixed_counts: list[int],
    seconds: float,
) -> CertifiedBounds | None:
    """Return certified bounds, or None if there are too many individuals.

    If the full distance matrix is affordable, up to ``seconds`` are spent on making the bounds exact.
    """
    if original.rows > EVERY:
        if distance.nearest_others is None or original.rows > MAX_CERTIFIED_INDIVIDUALS:
            return None
        list_neighbours = partial(distance.nearest_others, original)
        pair_distances = partial(distance.pairs, original)
        return compute_sparse_bounds(
            original.rows, list_neighbours, pair_distances, np.array(fixed_counts)
        ).requested
    matrix = distance.matrix(original) if matrix is None else matrix
    bounds = certified_bounds(matrix)
    return close_gaps(matrix, bounds, seconds=seconds, only=fixed_counts) if seconds > 0 else bounds


def _convert_to_mean_bounds(
    nearest_distances: FloatArray, certified: CertifiedBounds | None, fixed_counts: list[int]
) -> tuple[MeanBound, ...]:
    """Return the bounds divided by the number of individuals."""
    count, mean_bounds = len(nearest_distances), []
    positions = (
        {} if certified is None else {int(value): index for index, value in enumerate(certified.fixed)}
    )
    for fixed in fixed_counts:
        mean_bound = MeanBound(
            fixed, min(float(nearest_distances[: count - fixed].sum()) / count, LARGEST_FLOAT)
        )
        if certified is not None and fixed in positions:
            position = positions[fixed]
            lower, upper = (float(value[position]) / count for value in (certified.lower, certified.upper))
            finite_upper = upper if math.isfinite(upper) else None  # a single individual cannot move
            mean_bound = replace(
                mean_bound,
                lower=min(lower, LARGEST_FLOAT),
                upper=finite_upper,
                exact=bool(certified.is_exact[position]),
            )
        mean_bounds.append(mean_bound)
    return tuple(mean_bounds)


def _find_cheapest_cheat(matrix: FloatArray | None, bounds: tuple[MeanBound, ...]) -> float | None:
    """Return the least known mean distance of a permutation that moves everybody (or all but one)."""
    swap_cost = None if matrix is None else compute_greedy_swap_mean(matrix)
    costs = (swap_cost, *(mean_bound.upper for mean_bound in bounds if mean_bound.fixed == 0))
    return min((cost for cost in costs if cost is not None), default=None)


def _suggest_remedy(low: float, cheats: tuple[CheatType, ...], sizes: IntArray) -> Message:
    if low == 0.0 and int(sizes.sum()) > 1 and cheats[2].fixed < int(sizes.sum()):
        return Message(
            "two individuals have the same data, or nobody has a neighbour: the distance cannot "
            "distinguish them; use another distance or other columns, or remove the repetitions"
        )
    if cheats[2].fixed > 2 * cheats[1].fixed:
        return _describe_small_groups(int((sizes == 1).sum()), len(sizes))
    return Message(
        "individuals are too few or too alike: take more of them, another distance, or a lower confidence"
    )


def _describe_small_groups(singletons: int, group_count: int) -> Message:
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
        return clipped_mean(distances)

    means_by_type = {}
    for seed, (name, draw_permutation) in enumerate(_list_permutation_types(groups).items()):
        rng = Generator(PCG64(seed))
        means_by_type[name] = np.array([compute_mean(draw_permutation(rng)) for _ in range(draws)])
    return means_by_type if draws else {}


def count_possible_escapes(nearest_distances: FloatArray, total: float) -> int:
    """Return the largest number of records that can leave their circles under the average rule (P2 §4.4).

    A record that moves by less than half of the distance to its nearest neighbour stays in its circle: it is
    still nearest to its own original, so that a search for the nearest record finds it.

    All records together may move by ``total``, the threshold times n. A record leaves its circle by moving
    half of the distance to its nearest neighbour. The result is therefore the largest m for which the m
    smallest of these halves add up to no more than ``total``, with the TOLERANCE of the rule itself.

    >>> count_possible_escapes(np.array([0.8, 0.2, 0.4]), 0.3)
    2
    """
    required_totals = np.cumsum(np.sort(nearest_distances) / 2)
    return int(np.searchsorted(required_totals, total + len(nearest_distances) * TOLERANCE, side="right"))


def _list_permutation_types(groups: IntArray) -> dict[str, _DrawPermutation]:
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


def _find_possible_cheats(sizes: IntArray) -> frozenset[str]:
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
