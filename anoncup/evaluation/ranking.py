"""Scores from measured values, and ranks from scores (``docs/scoring.md``)."""

import math
from collections.abc import Iterable, Mapping, Sequence
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


def compute_ranks(scores: Sequence[float | None], *, rounding: float = 0.0) -> list[int | None]:
    """Return the rank of each entry by score, lowest first; None for entries without a score.

    Equal scores share a rank ("1 2 2 4"). Scores less than ``rounding`` above the lowest score of their rank
    count as equal.

    >>> compute_ranks([0.2, None, 0.1, 0.2])
    [2, None, 1, 2]
    """
    ranks_by_score: dict[float, int] = {}
    lowest, rank = -math.inf, 0
    for position, score in enumerate(sorted(score for score in scores if score is not None), 1):
        if score > lowest and score - lowest >= rounding:
            lowest, rank = score, position
        ranks_by_score[score] = rank
    return [None if score is None else ranks_by_score[score] for score in scores]


def sort_for_board(scores: Sequence[float | None]) -> list[int]:
    """Return the positions of the entries by score, lowest first, then those without a score.

    Entries with equal scores keep their order.

    >>> sort_for_board([0.2, None, 0.1, 0.2])
    [2, 0, 3, 1]
    """
    return sorted(range(len(scores)), key=lambda index: _build_sort_key(scores[index]))


def compute_rank_sums(
    entries: Sequence[Mapping[str, float] | None], *, rounding: Mapping[str, float] | None = None
) -> list[float | None]:
    """Return each entry's sum of its ranks in all values, for the ranking rule ``rank_sum``.

    The lowest value has rank 1. ``rounding``: for each value's name, the limit below which values count as 0
    and differences as ties. It is 1e-9 for other names.

    >>> compute_rank_sums([{"U": 0.1, "E": 0.5}, None, {"U": 0.3, "E": 0.5}])
    [2.0, None, 3.0]
    """
    names = next((list(entry) for entry in entries if entry is not None), [])
    ranks_by_name = [
        _rank_by_value(name, entries, rounding=(rounding or {}).get(name, ROUNDING)) for name in names
    ]
    sums = [
        float(sum(rank or 0 for rank in ranks_of_entry))
        for ranks_of_entry in zip(*ranks_by_name, strict=True)
    ] or [0.0] * len(entries)
    return [None if entry is None else total for entry, total in zip(entries, sums, strict=True)]


def select_ranked_values(
    measures: Mapping[str, float], security_risk: float, weights: Iterable[str]
) -> dict[str, float]:
    """Return the values whose ranks the rule ``rank_sum`` adds up: all measures with a weight, and E."""
    weighted = {name: measures[name] for name in weights}
    return {**weighted, "security": security_risk}


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


def _rank_by_value(
    name: str, entries: Sequence[Mapping[str, float] | None], *, rounding: float
) -> list[int | None]:
    values = (None if entry is None else entry[name] for entry in entries)
    return compute_ranks(
        [0.0 if value is not None and value < rounding else value for value in values], rounding=rounding
    )


def _build_sort_key(score: float | None) -> tuple[bool, float]:
    return (score is None, 0.0 if score is None else score)
