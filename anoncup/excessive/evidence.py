"""Effect of thresholds on the contest's own data: how many honest releases are rejected and cheats accepted.

A guaranteed threshold rejects every permutation that moves enough individuals, however it was chosen. If it
also rejects honest releases, the advisor recommends a threshold that separates sample releases from simulated
random permutations. If no threshold separates them, it recommends none.
"""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from anoncup.excessive.method_costs import CheatMixture, HonestRelease, MethodTrials
from anoncup.excessive.rejection_rule import TOLERANCE
from anoncup.geometry.arrays import FloatArray
from anoncup.messages import CodedMessage, Message, serialize_as_notice, serialize_prefixed

_MAX_ROUND_THRESHOLDS = 10
"""Maximum number of round thresholds for which both errors are listed."""
_MAX_DIGITS = 16
"""Maximum number of digits of a recommended threshold."""
MIN_ROUNDED, MAX_ROUNDED = 1e-290, 1e290
"""Thresholds outside of this range are not rounded."""


@dataclass(frozen=True, slots=True)
class ThresholdErrors:
    """Errors of both kinds at a threshold.

    ``rejected``: number of honest releases that are rejected. ``mixed``: number of cheats within sample
    releases (``CheatMixture``) that pass. ``passing``: share of each type of simulated permutations that
    passes, in [0, 1].
    """

    threshold: float
    rejected: int
    mixed: int
    passing: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class GuaranteedThreshold:
    """The threshold that is proved to reject cheats.

    The mean distance of a permutation is at least ``high``, up to a small probability. ``threshold`` is the
    largest round number in the interval below it, None if the interval is empty.
    """

    high: float
    threshold: float | None


@dataclass(frozen=True, slots=True)
class ThresholdEvidence:
    """Sample releases and simulated cheats, and the threshold that they suggest.

    - ``honest_to``: the largest mean distance of a sample release.
    - ``cheats_from``: the smallest mean distance of a simulated permutation.
    - ``separates``: whether a threshold can accept all sample releases and reject all simulated permutations.
    - ``alike``: the mean distance of the cheapest known permutation that swaps (nearly) everybody with
      somebody similar, None if it was not computed.
    - ``threshold``: the recommendation, None if no threshold can be recommended.
    """

    individuals: int
    honest: tuple[HonestRelease, ...]
    mixtures: tuple[CheatMixture, ...]
    alike: float | None
    honest_to: float | None
    cheats_from: float | None
    separates: bool | None
    threshold: float | None
    reasons: tuple[CodedMessage, ...]
    errors: tuple[ThresholdErrors, ...]

    def to_json(self) -> dict[str, Any]:
        content = {name: getattr(self, name) for name in ("individuals", "alike", "honest_to", "cheats_from")}
        return content | {
            "honest": [_serialize_honest(part) for part in self.honest],
            "mixtures": [asdict(part) for part in self.mixtures],
            "separates": self.separates,
            "threshold": self.threshold,
            "reasons": [serialize_as_notice(part.code, part.message) for part in self.reasons],
            "errors": [asdict(part) for part in self.errors],
        }


def _serialize_honest(release: HonestRelease) -> dict[str, Any]:
    refusal = {"refused": None} if release.refusal is None else serialize_prefixed("refused", release.refusal)
    return {"method": release.method, "parameters": release.parameters, "mean": release.mean} | refusal


def gather_evidence(
    trials: MethodTrials,
    cheat_means: Mapping[str, FloatArray],
    guarantee: GuaranteedThreshold,
    *,
    alike: float | None = None,
) -> ThresholdEvidence:
    """Compute both kinds of errors at several thresholds, and recommend one of them.

    ``cheat_means``: mean distances of the simulated permutations of each type, (draws,).
    """
    honest_means = np.sort(
        [means_or_value.mean for means_or_value in trials.honest if means_or_value.mean is not None]
    )
    mixed_means = np.sort([means_or_value.mean for means_or_value in trials.mixtures])
    simulated_means = {name: np.sort(means) for name, means in cheat_means.items()}
    honest_to = float(honest_means[-1]) if len(honest_means) else None
    cheats_from = min((float(means[0]) for means in simulated_means.values()), default=None)

    def count_errors(threshold: float) -> ThresholdErrors:
        passing = {name: _compute_accepted_share(means, threshold) for name, means in simulated_means.items()}
        accepted_counts = [
            round(_compute_accepted_share(values, threshold) * len(values))
            for values in (honest_means, mixed_means)
        ]
        return ThresholdErrors(threshold, len(honest_means) - accepted_counts[0], accepted_counts[1], passing)

    threshold, reasons = _recommend_threshold(honest_means, simulated_means, guarantee)
    if threshold is not None and len(honest_means):
        reasons += _list_caveats(count_errors(threshold), guarantee, len(mixed_means), alike)
    round_thresholds = _list_round_thresholds(
        max([*honest_means, *mixed_means, *(means[-1] for means in simulated_means.values()), 0.0])
    )
    thresholds = sorted(
        {
            *round_thresholds,
            *(
                means_or_value
                for means_or_value in (threshold, guarantee.threshold)
                if means_or_value is not None
            ),
        }
    )
    return ThresholdEvidence(
        individuals=trials.individuals,
        honest=trials.honest,
        mixtures=trials.mixtures,
        alike=alike,
        honest_to=honest_to,
        cheats_from=cheats_from,
        separates=None if honest_to is None or cheats_from is None else honest_to < cheats_from,
        threshold=threshold,
        reasons=tuple(reasons),
        errors=tuple(map(count_errors, thresholds)),
    )


def _compute_accepted_share(means: FloatArray, threshold: float) -> float:
    """Return the share of sorted mean distances that a threshold accepts."""
    return float(np.searchsorted(means, threshold + TOLERANCE, side="right")) / max(len(means), 1)


def _recommend_threshold(
    honest_means: FloatArray, cheat_means: Mapping[str, FloatArray], guarantee: GuaranteedThreshold
) -> tuple[float | None, list[CodedMessage]]:
    """Return the guaranteed threshold if it accepts all honest releases, otherwise one that separates."""
    guaranteed_threshold = guarantee.threshold
    if not len(honest_means):
        return guaranteed_threshold, [
            CodedMessage("no_sample", Message("no sample method can be tried on these data"))
        ]
    if guaranteed_threshold is not None and honest_means[-1] <= guaranteed_threshold + TOLERANCE:
        message = Message(
            "it is guaranteed, and accepts all {honest} sample releases", honest=len(honest_means)
        )
        return guaranteed_threshold, [CodedMessage("guaranteed", message)]
    strict_reasons = (
        [] if guaranteed_threshold is None else [_explain_too_strict(honest_means, guaranteed_threshold)]
    )
    if not cheat_means:
        message = Message("no cheats were simulated, so only what is guaranteed can be said")
        return guaranteed_threshold, [*strict_reasons, CodedMessage("not_simulated", message)]
    honest_max, cheat_min = float(honest_means[-1]), min(float(means[0]) for means in cheat_means.values())
    if honest_max < cheat_min:
        message = Message(
            "all {honest} sample releases lie at {most:.6g} or below, all simulated cheats at {least:.6g} or "
            "above",
            honest=len(honest_means),
            most=honest_max,
            least=cheat_min,
        )
        return round_middle(honest_max, cheat_min), [CodedMessage("separates", message), *strict_reasons]
    message = Message(
        "no threshold separates honest work from cheats: sample releases reach {most:.6g}, simulated cheats "
        "begin at {least:.6g}; another distance or other group columns may tell them apart",
        most=honest_max,
        least=cheat_min,
    )
    return None, [CodedMessage("inseparable", message), *strict_reasons]


def _explain_too_strict(honest_means: FloatArray, guaranteed_threshold: float) -> CodedMessage:
    rejected_count = len(honest_means) - round(
        _compute_accepted_share(honest_means, guaranteed_threshold) * len(honest_means)
    )
    message = Message(
        "{sure}, the largest that is guaranteed, rejects {rejected} of {honest} sample releases",
        sure=guaranteed_threshold,
        rejected=rejected_count,
        honest=len(honest_means),
    )
    return CodedMessage("too_strict", message)


def _list_caveats(
    errors: ThresholdErrors, guarantee: GuaranteedThreshold, mixed_count: int, alike: float | None
) -> list[CodedMessage]:
    """Return the risks that remain at the recommended threshold."""
    caveats = []
    if mixed_count:
        message = Message(
            "{passing} of {mixed} sample releases in which some or all individuals were swapped pass this "
            "threshold",
            passing=errors.mixed,
            mixed=mixed_count,
        )
        caveats.append(CodedMessage("mixtures", message))
    if errors.threshold >= guarantee.high:
        caveats.append(
            CodedMessage("not_guaranteed", _describe_unguaranteed(errors.threshold, guarantee, alike))
        )
    return caveats


def _describe_unguaranteed(threshold: float, guarantee: GuaranteedThreshold, alike: float | None) -> Message:
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
    """Return the middle of an interval, rounded to as few decimals as keep it in the middle half.

    >>> round_middle(0.135, 0.2265)
    0.2
    """
    if not MIN_ROUNDED < high - low <= high < MAX_ROUNDED:
        return low + (high - low) / 2
    quarter, middle = (high - low) / 4, low + (high - low) / 2
    coarsest = -math.ceil(math.log10(high))
    candidates = (round(middle, decimals) for decimals in range(coarsest, coarsest + _MAX_DIGITS))
    return next(
        (candidate for candidate in candidates if low + quarter <= candidate <= high - quarter), middle
    )


def _list_round_thresholds(largest: float) -> list[float]:
    """Return round thresholds from 0 to the largest distance."""
    if not MIN_ROUNDED < largest < MAX_ROUNDED:
        return sorted({0.0, largest})
    digits = math.floor(math.log10(largest / _MAX_ROUND_THRESHOLDS))
    step = next(
        factor for factor in (1, 2, 5, 10) if factor * 10.0**digits * _MAX_ROUND_THRESHOLDS >= largest
    )
    unit = step * 10.0**digits
    return [round(multiple * unit, max(-digits, 0)) for multiple in range(math.ceil(largest / unit) + 1)]
