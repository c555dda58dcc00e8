"""Scores from measured values (``docs/scoring.md``)."""

from collections.abc import Iterable, Mapping
from typing import Literal

from anoncup.tracks.parts import AnyMeasure

ROUNDING = 1e-9
"""Smaller values count as rounding, not as loss. For measures in data units, this is relative to the largest
absolute sensitive value."""


def rounding_threshold(measure: AnyMeasure, largest_cell: float) -> float:
    """Return the limit below which a value of a measure, or a difference of two values, counts as 0."""
    return ROUNDING * largest_cell if measure.in_data_units else ROUNDING


def normalize_loss(value: float, scale: float, *, rounding: float = ROUNDING) -> float:
    """Return min(1, value / scale), a loss in [0, 1]; 0 is best.

    Values and scales below ``rounding`` count as 0. If only the scale is 0, the loss is 1.
    """
    value, scale = (0.0 if abs(number) < rounding else number for number in (value, scale))
    if scale == 0.0:
        return 0.0 if value == 0.0 else 1.0
    return 1.0 if value >= scale else value / scale


def compute_utility_loss(
    values: Mapping[str, float],
    *,
    measures: Mapping[str, AnyMeasure],
    weights: Mapping[str, float],
    scales: Mapping[str, float],
    largest_cell: float,
    aggregation: Literal["mean", "largest"] = "mean",
) -> float:
    """Return U in [0, 1]: the weighted mean of the measures' normalized losses, or the largest of them.

    Without weights, U is 0.
    """
    rounding = {name: rounding_threshold(measures[name], largest_cell) for name in weights}
    return combine_losses(values, weights=weights, scales=scales, rounding=rounding, aggregation=aggregation)


def combine_losses(
    values: Mapping[str, float],
    *,
    weights: Mapping[str, float],
    scales: Mapping[str, float],
    rounding: Mapping[str, float],
    aggregation: Literal["mean", "largest"] = "mean",
) -> float:
    """Return U as ``compute_utility_loss`` does, with a ``rounding`` limit for each weighted measure."""
    losses = {name: normalize_loss(values[name], scales[name], rounding=rounding[name]) for name in weights}
    if aggregation == "largest":
        return max(losses.values(), default=0.0)
    largest_weight = max(weights.values(), default=1.0)  # Sums of shares up to 1 cannot overflow.
    shares = {name: weight / largest_weight for name, weight in weights.items()}
    total = 0.0
    for name, share in shares.items():
        total += share * losses[name]
    return min(total / sum(shares.values()), 1.0) if shares else 0.0


def compute_security_risk(risks: Iterable[float]) -> float:
    """Return E in [0, 1], the largest risk of the attackers that count; 0 is best. It is 0 without any."""
    return max(risks, default=0.0)


def compute_overall_loss(utility_loss: float, security_risk: float) -> float:
    """Return (U + E) / 2; lower is better."""
    return (utility_loss + security_risk) / 2
