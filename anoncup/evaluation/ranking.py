"""Scores from measured values (``docs/scoring.md``)."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from anoncup.tracks.parts import AnyMeasure, HasRows

ROUNDING = 1e-12
"""Smaller values of measures that are computed in floats are rounding noise, not losses. For measures in data
units, this is relative to the largest absolute value in the columns that the measure reads."""


def rounding_threshold(measure: AnyMeasure, original: HasRows, parameters: Mapping[str, object]) -> float:
    """Return the largest value of a measure that counts as 0."""
    if measure.is_exact:
        return 0.0
    return ROUNDING * (measure.largest_cell(original, **parameters) if measure.largest_cell else 1.0)


def normalize_loss(value: float, scale: float, *, rounding: float) -> float:
    """Return min(1, value / scale), a loss in [0, 1]; 0 is best.

    Values and scales up to ``rounding`` count as 0. If only the scale is 0, the loss is 1.
    """
    value, scale = (0.0 if abs(number) <= rounding else number for number in (value, scale))
    if scale == 0.0:
        return 0.0 if value == 0.0 else 1.0
    return 1.0 if value >= scale else value / scale


def compute_utility_loss(
    values: Mapping[str, float],
    *,
    weights: Mapping[str, float],
    scales: Mapping[str, float],
    rounding: Mapping[str, float],
    aggregation: Literal["mean", "largest"] = "mean",
) -> float:
    """Return U in [0, 1]: the weighted mean of the measures' normalized losses, or the largest of them.

    ``rounding`` has the largest value that counts as 0 for each measure. Without weights, U is 0.
    """
    losses = {name: normalize_loss(values[name], scales[name], rounding=rounding[name]) for name in weights}
    if aggregation == "largest":
        return max(losses.values(), default=0.0)
    largest_weight = max(weights.values(), default=1.0)  # Sums of shares up to 1 cannot overflow.
    shares = {name: weight / largest_weight for name, weight in weights.items()}
    total = 0.0
    for name, share in shares.items():
        total += share * losses[name]
    return min(total / sum(shares.values()), 1.0) if shares else 0.0


def compute_security(risks: Iterable[float]) -> float:
    """Return E in [0, 1], the largest risk of the attackers that count; 0 is best. It is 0 without any."""
    return max(risks, default=0.0)


def compute_overall_loss(utility: float, security: float) -> float:
    """Return (U + E) / 2 in [0, 1]; 0 is best."""
    return (utility + security) / 2


def find_pareto_front(points: Sequence[tuple[float, float] | None]) -> list[bool]:
    """Return for each pair of losses (U, E) whether no other pair dominates it.

    Equal pairs are on the Pareto front together. None is not on it.

    >>> find_pareto_front([(0.1, 0.5), (0.2, 0.2), (0.2, 0.5), None, (0.1, 0.5)])
    [True, True, False, False, True]
    """
    lowest_risk, front = math.inf, set()
    for point in sorted({point for point in points if point is not None}):
        if point[1] < lowest_risk:
            lowest_risk = point[1]
            front.add(point)
    return [point in front for point in points]
