"""Compute U and the overall score of a submission under weights that the reader chooses."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite

from anoncup import schemas
from anoncup.evaluation.ranking import combine_losses, compute_overall_loss
from anoncup.rules.model import Rules
from anoncup.rules.toml_values import MAX_NUMBER
from anoncup.tracks.model import Track

_FIELD_PREFIX = "weight."
_REQUEST_FIELD = "what"
_MAX_CHARACTERS = 40
"""Maximum length of a typed number."""


@dataclass(frozen=True, slots=True)
class WeightInput:
    """A measure and the weight typed for it."""

    name: str
    raw_weight: str
    is_invalid: bool

    @property
    def field(self) -> str:
        return _FIELD_PREFIX + self.name


@dataclass(frozen=True, slots=True)
class WhatIf:
    """Results under the typed weights.

    ``utility`` and ``overall`` are None before they are requested, or if a weight is invalid.
    """

    measures: tuple[WeightInput, ...]
    is_requested: bool
    utility: float | None = None
    overall: float | None = None

    @property
    def invalid_names(self) -> tuple[str, ...]:
        return tuple(measure.name for measure in self.measures if measure.is_invalid)


def compute_what_if(
    rules: Rules, track: Track, verdict: schemas.Verdict, query: Mapping[str, str]
) -> WhatIf | None:
    """Return the results under the weights in the query, or None if no measure can have a weight."""
    names = [name for name in track.measures if _can_weigh(rules, track, verdict, name)]
    if not names:
        return None
    is_requested = _REQUEST_FIELD in query
    raw_weights = {
        name: query.get(_FIELD_PREFIX + name, "") if is_requested else _format_weight(rules.weight(name))
        for name in names
    }
    weights = {name: _parse_weight(text) for name, text in raw_weights.items()}
    inputs = tuple(
        WeightInput(name, text[:_MAX_CHARACTERS], weights[name] is None) for name, text in raw_weights.items()
    )
    valid_weights = {name: weight for name, weight in weights.items() if weight is not None}
    if not is_requested or len(valid_weights) < len(weights):
        return WhatIf(inputs, is_requested)
    utility = _compute_verdict_utility(rules, track, verdict, valid_weights)
    return WhatIf(inputs, is_requested, utility, compute_overall_loss(utility, verdict.security))


def _can_weigh(rules: Rules, track: Track, verdict: schemas.Verdict, name: str) -> bool:
    return track.measures[name].weighs and name in verdict.measures and bool(rules.scales.get(name))


def _compute_verdict_utility(
    rules: Rules, track: Track, verdict: schemas.Verdict, weights: Mapping[str, float]
) -> float:
    """Compute U as scoring does, which leaves out measures of weight 0."""
    positive_weights = {name: weight for name, weight in weights.items() if weight > 0}
    entries = {name: verdict.measures[name] for name in positive_weights}
    return combine_losses(
        {name: entry.value for name, entry in entries.items()},
        weights=positive_weights,
        scales=rules.scales,
        rounding={name: entry.rounding for name, entry in entries.items()},
        aggregation=track.utility,
    )


def _parse_weight(text: str) -> float | None:
    """Parse a weight that a competition file allows. Empty text gives 0, invalid text None."""
    try:
        weight = float(text.strip() or 0)
    except ValueError:
        return None
    return weight if isfinite(weight) and 0 <= weight <= MAX_NUMBER and len(text) <= _MAX_CHARACTERS else None


def _format_weight(weight: float) -> str:
    return str(int(weight)) if weight == int(weight) else str(weight)
