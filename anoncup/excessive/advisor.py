"""Advice to organizers on the threshold of the rule against excessive anonymization (P2 §4.3, §4.4)."""

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.random import PCG64, Generator

from anoncup.excessive import DRAWS, Announce, silent
from anoncup.excessive.certified_bounds import LARGEST as EVERY
from anoncup.excessive.certified_bounds import Certified, certified_bounds
from anoncup.excessive.evidence import Evidence, Guarantee, evidence
from anoncup.excessive.fixed_point_odds import group_tail, log2, smallest_bound, smallest_group_bound, tail
from anoncup.excessive.gaps import close_gaps
from anoncup.excessive.individual_distances import mean_of
from anoncup.excessive.insufficient import max_escapes
from anoncup.excessive.method_costs import Trials
from anoncup.excessive.simulation import (
    Histogram,
    able,
    exchanged_with_most_alike,
    histogram_of,
    kinds_of_permutations,
)
from anoncup.excessive.sparse_bounds import intervals
from anoncup.geometry.arrays import FloatArray, IntArray
from anoncup.geometry.stable_sums import LARGEST
from anoncup.messages import Message, kept_under
from anoncup.tracks.parts import Distance

FINEST = 12
"""Most decimals a recommended threshold has."""
CERTIFIABLE = 100_000
"""Most individuals for which bounds are certified: half a minute and 1 GB."""
HELD = 10_000
"""Most individuals whose distances are all held at once: 800 MB."""
PAIRS = 10**7
"""Pairs of individuals that are compared in a simulation where not all distances are held."""
SHARES = (1, 2, 4, 8, 16, 32, 64)
"""Bounds are shown at n divided by these, beside those that the advice needs."""


@dataclass(frozen=True, slots=True)
class Cheat:
    """A type of cheating by permutation. More than ``fixed`` individuals stay in place with a chance of
    2^``log2_chance`` (None: 0); on average ``expected`` do."""

    name: str
    fixed: int
    log2_chance: float | None
    expected: float


@dataclass(frozen=True, slots=True)
class Bound:
    """Bounds of the mean distance if at most ``fixed`` individuals stay: P2's, and certified ones."""

    fixed: int
    s_lower: float
    lower: float | None = None
    upper: float | None = None
    exact: bool = False


@dataclass(frozen=True, slots=True)
class Advice:
    """Thresholds in the open interval (``low``, ``high``) reject every cheat and leave honest room.

    ``fixed``: the largest l with 1 - q*(l) < 2^-bits over the types of cheats. ``low`` = Min / 2; ``high`` =
    the least mean distance of a permutation with at most l fixed points, certified where ``certified``;
    ``high_s_lower`` = P2's own bound, s_lower(l) / n. ``threshold`` is None where the interval is empty; then
    ``remedy`` says what to change. ``escapes``: how many records can leave the circle of half their distance
    to the nearest other under the average rule at ``threshold``.
    """

    distance: str
    bits: int
    individuals: int
    groups: int
    alone: int
    cheats: tuple[Cheat, ...]
    fixed: int
    low: float
    high: float
    high_s_lower: float
    certified: bool
    threshold: float | None
    remedy: Message | None
    escapes: int | None
    bounds: tuple[Bound, ...]
    histograms: dict[str, Histogram]
    evidence: Evidence | None = None

    def to_json(self) -> dict[str, Any]:
        told = asdict(replace(self, evidence=None)) | (
            {} if self.remedy is None else kept_under("remedy", self.remedy)
        )
        return told | {"evidence": None if self.evidence is None else self.evidence.to_json()}


def advise(
    original: Any,
    distance: Distance,
    groups: IntArray,
    *,
    bits: int = 50,
    draws: int = DRAWS,
    seconds: float = 0.0,
    trials: Callable[[], Trials] | None = None,
    progress: Announce = silent,
) -> Advice:
    """A threshold that a permutation of the original data exceeds, but for a chance of 2^-``bits``.

    ``groups`` (n,): the group of every individual, inside which cheats may permute. ``draws``: permutations
    of each type to simulate; 0: none. ``seconds``: time to spend on making more of the bounds exact.
    ``trials``: tries sample methods on the data; without them there is no evidence.
    """
    steps = 3 if trials is None else 4
    sizes = np.bincount(np.unique(groups, return_inverse=True)[1])
    rows, cheats = len(groups), _cheats(len(groups), sizes, bits)
    progress(1, steps, "nearest others")
    nearest = np.sort(distance.nearest_other(original))
    nearest = np.where(np.isfinite(nearest), nearest, 0.0)
    progress(2, steps, "bounds")
    matrix = distance.matrix(original) if rows <= (HELD if draws else EVERY) else None
    shown = _shown(rows, cheats)
    with np.errstate(over="ignore", invalid="ignore"):  # the largest distances have no sum
        certified = _certified(original, distance, matrix, shown, seconds)
        bounds = _bounds(nearest, certified, shown)
    chosen = next(bound for bound in bounds if bound.fixed == max(cheat.fixed for cheat in cheats))
    low = float(nearest[0]) / 2
    high = chosen.s_lower if chosen.lower is None else chosen.lower
    threshold = largest_round_number(low, high)
    progress(3, steps, "simulation")
    means = _simulated(original, distance, matrix, groups, draws)
    found = None
    if trials is not None:
        progress(4, steps, "sample methods")
        cheating = {name: means[name] for name in means if name in able(sizes)}
        found = evidence(trials(), cheating, Guarantee(high, threshold), alike=_cheapest(matrix, bounds))
    return Advice(
        distance=distance.name,
        bits=bits,
        individuals=rows,
        groups=len(sizes),
        alone=int((sizes == 1).sum()),
        cheats=cheats,
        fixed=chosen.fixed,
        low=low,
        high=high,
        high_s_lower=chosen.s_lower,
        certified=chosen.lower is not None,
        threshold=threshold,
        remedy=_remedy(low, cheats, sizes) if threshold is None else None,
        escapes=None if threshold is None else max_escapes(nearest, rows * threshold),
        bounds=bounds,
        histograms={name: histogram_of(each) for name, each in means.items()},
        evidence=found,
    )


def largest_round_number(low: float, high: float) -> float | None:
    """The largest number of two decimals strictly between; failing that of three, four, ... decimals.

    >>> largest_round_number(0.3567, 0.6435)
    0.64
    """
    for decimals in range(2, FINEST + 1):
        unit = 10.0**decimals
        steps = math.ceil(high * unit)
        candidates = (round(step / unit, decimals) for step in (steps, steps - 1))
        found = next((value for value in candidates if low < value < high), None)
        if found is not None:
            return found
    return None


def _cheats(rows: int, sizes: IntArray, bits: int) -> tuple[Cheat, ...]:
    alone, within = smallest_bound(rows, bits=bits), smallest_group_bound(sizes, bits=bits)
    return (
        Cheat("shift", 0, None, 0.0),
        Cheat("random", alone, _log2(tail(rows, alone)), 1.0),
        Cheat("group", within, _log2(group_tail(sizes, within)), float(len(sizes))),
    )


def _log2(chance: Fraction) -> float | None:
    return log2(chance) if chance else None


def _shown(rows: int, cheats: tuple[Cheat, ...]) -> list[int]:
    """The numbers of fixed points whose bounds are of interest."""
    numbers = {cheat.fixed for cheat in cheats} | {1, *(rows // share for share in SHARES)}
    return sorted(number for number in numbers if number <= rows)


def _certified(
    original: Any, distance: Distance, matrix: FloatArray | None, shown: list[int], seconds: float
) -> Certified | None:
    """Certified bounds, of at most so many individuals; of few made exact where time allows."""
    if original.rows > EVERY:
        if distance.others is None or original.rows > CERTIFIABLE:
            return None
        others, apart = partial(distance.others, original), partial(distance.pairs, original)
        return intervals(original.rows, others, apart, np.array(shown)).asked
    matrix = distance.matrix(original) if matrix is None else matrix
    found = certified_bounds(matrix)
    return close_gaps(matrix, found, seconds=seconds, only=shown) if seconds > 0 else found


def _bounds(nearest: FloatArray, certified: Certified | None, shown: list[int]) -> tuple[Bound, ...]:
    """The bounds as means over the individuals."""
    rows, found = len(nearest), []
    places = {} if certified is None else {int(each): i for i, each in enumerate(certified.fixed)}
    for fixed in shown:
        bound = Bound(fixed, min(float(nearest[: rows - fixed].sum()) / rows, LARGEST))
        if certified is not None and fixed in places:
            place = places[fixed]
            lower, upper = (float(each[place]) / rows for each in (certified.lower, certified.upper))
            known = upper if math.isfinite(upper) else None  # one individual alone cannot move
            bound = replace(bound, lower=min(lower, LARGEST), upper=known, exact=bool(certified.exact[place]))
        found.append(bound)
    return tuple(found)


def _cheapest(matrix: FloatArray | None, bounds: tuple[Bound, ...]) -> float | None:
    """The least mean distance found of a permutation that moves everybody, or all but one."""
    pairs = None if matrix is None else exchanged_with_most_alike(matrix)
    found = (pairs, *(bound.upper for bound in bounds if bound.fixed == 0))
    return min((each for each in found if each is not None), default=None)


def _remedy(low: float, cheats: tuple[Cheat, ...], sizes: IntArray) -> Message:
    if low == 0.0 and int(sizes.sum()) > 1 and cheats[2].fixed < int(sizes.sum()):
        return Message(
            "two individuals have the same data, or nobody has a neighbour: the distance cannot "
            "distinguish them; use another distance or other columns, or remove the repetitions"
        )
    if cheats[2].fixed > 2 * cheats[1].fixed:
        return _of_small_groups(int((sizes == 1).sum()), len(sizes))
    return Message(
        "individuals are too few or too alike: take more of them, another distance, or a lower confidence"
    )


def _of_small_groups(alone: int, groups: int) -> Message:
    if not alone:
        return Message(
            "groups are small, and many of their individuals stay in place by chance: name fewer group "
            "columns, or merge rare values"
        )
    return Message(
        "in {alone} of {groups} groups there is only one individual, whom no cheat can move: name "
        "fewer group columns, or merge rare values",
        alone=alone,
        groups=groups,
    )


def _simulated(
    original: Any, distance: Distance, matrix: FloatArray | None, groups: IntArray, draws: int
) -> dict[str, FloatArray]:
    """Mean distances of every cheat's simulation, (draws,); of very many individuals there are fewer."""
    rows = np.arange(len(groups))
    if matrix is None:
        draws = min(draws, max(PAIRS // len(groups), 1))

    def mean(permutation: IntArray) -> float:
        if matrix is None:
            apart = distance.pairs(original, rows, permutation)
        else:
            apart = matrix.take(rows * len(rows) + permutation)
        return mean_of(apart)

    found = {}
    for place, (name, draw) in enumerate(kinds_of_permutations(groups).items()):
        rng = Generator(PCG64(place))
        found[name] = np.array([mean(draw(rng)) for _ in range(draws)])
    return found if draws else {}
