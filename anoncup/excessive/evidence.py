"""What a threshold does on the very data: honest work that it rejects, and cheats that it lets through.

The interval that is guaranteed holds against every permutation that moves enough people, however well chosen.
Where honest work does not fit below it, a threshold is recommended that separates sample releases from
simulated permutations, which choose nobody. Where none separates them, none is recommended.
"""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from anoncup.excessive.individual_distances import TOLERANCE
from anoncup.excessive.method_costs import Honest, Mixture, Trials
from anoncup.geometry.arrays import FloatArray
from anoncup.messages import Message, Statement, kept, kept_under

LISTED = 10
"""Round thresholds at which both errors are told, at most."""
DIGITS = 16
"""Most digits of a recommended threshold."""
SMALLEST, LARGEST = 1e-290, 1e290
"""Distances outside of these are not rounded."""


@dataclass(frozen=True, slots=True)
class Errors:
    """At ``threshold``: ``rejected`` honest releases, ``mixed`` covered cheats that pass, and of each kind
    of simulated permutations the share in [0, 1] that passes."""

    threshold: float
    rejected: int
    mixed: int
    passing: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Guarantee:
    """What is proved: every permutation but for a chance lies at ``high`` or beyond; ``threshold``: the
    largest round number of the interval, None if that is empty."""

    high: float
    threshold: float | None


@dataclass(frozen=True, slots=True)
class Evidence:
    """``honest_to``: the largest mean distance of a sample release; ``cheats_from``: the least of a simulated
    permutation; ``separates``: whether some threshold accepts all of the one and rejects all of the other.
    ``alike``: the cheapest permutation found that exchanges (nearly) everybody with somebody alike, None if
    none was looked for. ``threshold``: the one that is recommended, None if none separates.
    """

    individuals: int
    honest: tuple[Honest, ...]
    mixtures: tuple[Mixture, ...]
    alike: float | None
    honest_to: float | None
    cheats_from: float | None
    separates: bool | None
    threshold: float | None
    reasons: tuple[Statement, ...]
    errors: tuple[Errors, ...]

    def to_json(self) -> dict[str, Any]:
        own = {name: getattr(self, name) for name in ("individuals", "alike", "honest_to", "cheats_from")}
        return own | {
            "honest": [_plain(each) for each in self.honest],
            "mixtures": [asdict(each) for each in self.mixtures],
            "separates": self.separates,
            "threshold": self.threshold,
            "reasons": [kept(each.code, each.message) for each in self.reasons],
            "errors": [asdict(each) for each in self.errors],
        }


def _plain(one: Honest) -> dict[str, Any]:
    said = {"refused": None} if one.refused is None else kept_under("refused", one.refused)
    return {"method": one.method, "parameters": one.parameters, "mean": one.mean} | said


def evidence(
    trials: Trials, cheats: Mapping[str, FloatArray], guarantee: Guarantee, *, alike: float | None = None
) -> Evidence:
    """Both errors, and a threshold with them in sight. ``cheats``: mean distances of each kind, (draws,)."""
    honest = np.sort([each.mean for each in trials.honest if each.mean is not None])
    mixed = np.sort([each.mean for each in trials.mixtures])
    simulated = {name: np.sort(means) for name, means in cheats.items()}
    honest_to = float(honest[-1]) if len(honest) else None
    cheats_from = min((float(means[0]) for means in simulated.values()), default=None)

    def errors_at(threshold: float) -> Errors:
        passing = {name: share_up_to(means, threshold) for name, means in simulated.items()}
        below = [round(share_up_to(each, threshold) * len(each)) for each in (honest, mixed)]
        return Errors(threshold, len(honest) - below[0], below[1], passing)

    threshold, reasons = _recommended(honest, simulated, guarantee)
    if threshold is not None and len(honest):
        reasons += _said_of(errors_at(threshold), guarantee, len(mixed), alike)
    shown = _round_numbers(max([*honest, *mixed, *(means[-1] for means in simulated.values()), 0.0]))
    listed = sorted({*shown, *(each for each in (threshold, guarantee.threshold) if each is not None)})
    return Evidence(
        individuals=trials.individuals,
        honest=trials.honest,
        mixtures=trials.mixtures,
        alike=alike,
        honest_to=honest_to,
        cheats_from=cheats_from,
        separates=None if honest_to is None or cheats_from is None else honest_to < cheats_from,
        threshold=threshold,
        reasons=tuple(reasons),
        errors=tuple(map(errors_at, listed)),
    )


def share_up_to(means: FloatArray, threshold: float) -> float:
    """The share of sorted mean distances that a threshold accepts."""
    return float(np.searchsorted(means, threshold + TOLERANCE, side="right")) / max(len(means), 1)


def _recommended(
    honest: FloatArray, cheats: Mapping[str, FloatArray], guarantee: Guarantee
) -> tuple[float | None, list[Statement]]:
    """Return the guaranteed threshold if it accepts all honest releases, else one that separates."""
    sure = guarantee.threshold
    if not len(honest):
        return sure, [Statement("no_sample", Message("no sample method can be tried on these data"))]
    if sure is not None and honest[-1] <= sure + TOLERANCE:
        said = Message("it is guaranteed, and accepts all {honest} sample releases", honest=len(honest))
        return sure, [Statement("guaranteed", said)]
    strict = [] if sure is None else [_too_strict(honest, sure)]
    if not cheats:
        said = Message("no cheats were simulated, so only what is guaranteed can be said")
        return sure, [*strict, Statement("not_simulated", said)]
    most, least = float(honest[-1]), min(float(means[0]) for means in cheats.values())
    if most < least:
        said = Message(
            "all {honest} sample releases lie at {most:.6g} or below, all simulated cheats at {least:.6g} or "
            "above",
            honest=len(honest),
            most=most,
            least=least,
        )
        return round_middle(most, least), [Statement("separates", said), *strict]
    said = Message(
        "no threshold separates honest work from cheats: sample releases reach {most:.6g}, simulated cheats "
        "begin at {least:.6g}; another distance or other group columns may tell them apart",
        most=most,
        least=least,
    )
    return None, [Statement("inseparable", said), *strict]


def _too_strict(honest: FloatArray, sure: float) -> Statement:
    rejected = len(honest) - round(share_up_to(honest, sure) * len(honest))
    said = Message(
        "{sure}, the largest that is guaranteed, rejects {rejected} of {honest} sample releases",
        sure=sure,
        rejected=rejected,
        honest=len(honest),
    )
    return Statement("too_strict", said)


def _said_of(errors: Errors, guarantee: Guarantee, mixed: int, alike: float | None) -> list[Statement]:
    """Return what the recommended threshold leaves open."""
    found = []
    if mixed:
        said = Message(
            "{passing} of {mixed} sample releases in which some or all individuals were swapped pass this "
            "threshold",
            passing=errors.mixed,
            mixed=mixed,
        )
        found.append(Statement("mixtures", said))
    if errors.threshold >= guarantee.high:
        found.append(Statement("not_guaranteed", _beyond(errors.threshold, guarantee, alike)))
    return found


def _beyond(threshold: float, guarantee: Guarantee, alike: float | None) -> Message:
    if alike is None or alike > threshold:
        return Message(
            "the guarantee ends at {high:.6g}: beyond it a cheat that chooses whom to swap could pass",
            high=guarantee.high,
        )
    return Message(
        "the guarantee ends at {high:.6g}: a cheat that swaps everybody with their most similar other has "
        "distance {alike:.6g} and could pass",
        high=guarantee.high,
        alike=alike,
    )


def round_middle(low: float, high: float) -> float:
    """The number of fewest decimals near the middle of an interval, in its middle half.

    >>> round_middle(0.135, 0.2265)
    0.2
    """
    if not SMALLEST < high - low <= high < LARGEST:
        return low + (high - low) / 2
    quarter, middle = (high - low) / 4, low + (high - low) / 2
    coarsest = -math.ceil(math.log10(high))
    candidates = (round(middle, decimals) for decimals in range(coarsest, coarsest + DIGITS))
    return next((each for each in candidates if low + quarter <= each <= high - quarter), middle)


def _round_numbers(largest: float) -> list[float]:
    """From 0 on to the largest distance."""
    if not SMALLEST < largest < LARGEST:
        return sorted({0.0, largest})
    digits = math.floor(math.log10(largest / LISTED))
    step = next(each for each in (1, 2, 5, 10) if each * 10.0**digits * LISTED >= largest)
    unit = step * 10.0**digits
    return [round(place * unit, max(-digits, 0)) for place in range(math.ceil(largest / unit) + 1)]
