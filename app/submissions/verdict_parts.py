"""Prepare a verdict for tables: the contributions to the scores, and the distance to the threshold."""

from dataclasses import dataclass
from typing import Literal

from anoncup import schemas
from anoncup.competition.scoring_versions import counts_towards_security
from anoncup.evaluation.ranking import normalize_loss
from anoncup.rules.model import Rules
from anoncup.rules.settings import Excessive
from anoncup.tracks.model import AnyTrack

_NEAR_SHARE = 0.9
"""Distances of at least this share of the threshold are near it."""


@dataclass(frozen=True, slots=True)
class MeasureLine:
    """A measure in the table of results.

    ``weight`` is its share of the sum of all weights, or 1 if the track takes the largest measure. ``scale``
    is the divisor of its value. The utility loss is the sum of all contributions or the largest one,
    depending on the track.
    """

    name: str
    value: float
    higher_is_better: bool
    weight: float | None
    scale: float | None
    contribution: float | None


@dataclass(frozen=True, slots=True)
class AttackerLine:
    """An attacker in the table of results.

    ``is_counted`` means that it counts towards the risk of the release, and ``is_decisive`` that no attacker
    that counts has a larger risk; several attackers can be decisive.
    """

    name: str
    entry: schemas.AttackerVerdict
    is_counted: bool
    is_decisive: bool


@dataclass(frozen=True, slots=True)
class ThresholdComparison:
    """A release compared with the threshold of the rule against excessive anonymization.

    ``compared_distance`` is the distance that the rule compares. It is None without a threshold, and under
    Approach I, which compares the distances to other individuals. ``percent`` is that distance in percent of
    the threshold; it is None if there is no such distance or the threshold is 0.
    """

    settings: Excessive
    compared_distance: Literal["mean", "largest"] | None
    value: float
    percent: float | None
    is_over: bool

    @property
    def is_near(self) -> bool:
        """Whether the distance is near the threshold or above it."""
        return self.percent is not None and self.percent >= 100 * _NEAR_SHARE


def build_measure_lines(rules: Rules, track: AnyTrack, verdict: schemas.Verdict) -> list[MeasureLine]:
    """Return a line for every measure."""
    total_weight = sum(rules.weights.values())
    lines = []
    for name, entry in verdict.measures.items():
        measure = track.measures.get(name)  # None if it no longer exists
        weight, scale = rules.weight(name), rules.scales.get(name) if rules.weight(name) else None
        share = None
        if weight:
            share = 1.0 if track.utility == "largest" else weight / total_weight
        contribution = None
        if share is not None and scale is not None:
            contribution = share * normalize_loss(entry.value, scale, rounding=entry.rounding)
        lines.append(
            MeasureLine(
                name=name,
                value=entry.value,
                higher_is_better=measure is not None and measure.higher_is_better,
                weight=share,
                scale=scale,
                contribution=contribution,
            )
        )
    return lines


def build_attacker_lines(rules: Rules, verdict: schemas.Verdict) -> list[AttackerLine]:
    """Return the attackers that count, then the others, by decreasing risk; ties keep the verdict's order."""
    counted_names = {name for name in verdict.attackers if counts_towards_security(rules, name)}
    largest_risk = max((verdict.attackers[name].effective_risk for name in counted_names), default=None)
    lines = [
        AttackerLine(
            name=name,
            entry=entry,
            is_counted=name in counted_names,
            is_decisive=name in counted_names and entry.effective_risk == largest_risk,
        )
        for name, entry in verdict.attackers.items()
    ]
    return sorted(lines, key=lambda line: (not line.is_counted, -line.entry.effective_risk))


def compare_with_threshold(rules: Rules, verdict: schemas.Verdict) -> ThresholdComparison | None:
    """Compare a release with the threshold in its verdict, under the current approach and rule.

    Return None if the track has no distances.
    """
    excessive, settings = verdict.excessive, rules.excessive
    if excessive is None or settings is None:
        return None
    threshold, is_strict = excessive.threshold, settings.rule == "strict"
    is_compared = threshold is not None and settings.approach != "I"
    value = excessive.max if is_compared and is_strict else excessive.mean
    return ThresholdComparison(
        settings,
        compared_distance=("largest" if is_strict else "mean") if is_compared else None,
        value=value,
        percent=100 * value / threshold if is_compared and threshold else None,
        is_over=any(violation.code == "excessive_anonymization" for violation in verdict.violations),
    )
