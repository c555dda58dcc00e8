"""Scores from measured values, and ranks from scores (§4)."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from anoncup.tracks.parts import Measure

ROUNDING = 1e-9
"""Smaller values are rounding, not loss (in data units: times the largest absolute sensitive value)."""


def rounding_threshold(measure: Measure, largest_cell: float) -> float:
    """Return the value below which a measure, or a difference of two of its values, is rounding."""
    return ROUNDING * largest_cell if measure.in_data_units else ROUNDING


def utility_score(value: float, scale: float, *, rounding: float = ROUNDING) -> float:
    """Return min(1, value / scale), in [0, 1], 0 best.

    Values and scales below ``rounding`` are 0; x / 0 is 1 for x > 0.
    """
    value, scale = (0.0 if abs(number) < rounding else number for number in (value, scale))
    if scale == 0.0:
        return 0.0 if value == 0.0 else 1.0
    return 1.0 if value >= scale else value / scale


def compute_utility(
    values: Mapping[str, float],
    *,
    measures: Mapping[str, Measure],
    weights: Mapping[str, float],
    scales: Mapping[str, float],
    largest_cell: float,
    aggregation: Literal["mean", "largest"] = "mean",
) -> float:
    """Return U in [0, 1]: the weighted mean of the measures' utility scores, or the largest of them.

    Without weights U is 0.
    """
    rounding = {name: rounding_threshold(measures[name], largest_cell) for name in weights}
    return combine_utility_scores(
        values, weights=weights, scales=scales, rounding=rounding, aggregation=aggregation
    )


def combine_utility_scores(
    values: Mapping[str, float],
    *,
    weights: Mapping[str, float],
    scales: Mapping[str, float],
    rounding: Mapping[str, float],
    aggregation: Literal["mean", "largest"] = "mean",
) -> float:
    """Return U as :func:`compute_utility` does, with given rounding thresholds of the weighted measures."""
    scores = {name: utility_score(values[name], scales[name], rounding=rounding[name]) for name in weights}
    if aggregation == "largest":
        return max(scores.values(), default=0.0)
    largest_weight = max(weights.values(), default=1.0)  # shares up to 1 cannot overflow
    shares = {name: weight / largest_weight for name, weight in weights.items()}
    total = 0.0
    for name, share in shares.items():
        total += share * scores[name]
    return min(total / sum(shares.values()), 1.0) if shares else 0.0


def security_score(risks: Iterable[float]) -> float:
    """Return E, the largest risk of the attackers that count, in [0, 1], 0 best; 0 without attackers."""
    return max(risks, default=0.0)


def overall_score(utility_value: float, security_value: float) -> float:
    """Return (U + E) / 2; lower is better (P3 §4.3)."""
    return (utility_value + security_value) / 2


def ranks(scores: Sequence[float | None], *, rounding: float = 0.0) -> list[int | None]:
    """Rank by score, lowest first; equal scores share a rank ("1 2 2 4"); no score, no rank.

    Scores that are less than ``rounding`` above the lowest of their rank are equal.

    >>> ranks([0.2, None, 0.1, 0.2])
    [2, None, 1, 2]
    """
    rank_of: dict[float, int] = {}
    lowest, rank = -math.inf, 0
    for position, score in enumerate(sorted(score for score in scores if score is not None), 1):
        if score > lowest and score - lowest >= rounding:
            lowest, rank = score, position
        rank_of[score] = rank
    return [None if score is None else rank_of[score] for score in scores]


def board_order(scores: Sequence[float | None]) -> list[int]:
    """Return the entries in board order: by score; ties, and entries without a score, in the order given.

    >>> board_order([0.2, None, 0.1, 0.2])
    [2, 0, 3, 1]
    """
    return sorted(range(len(scores)), key=lambda index: _sort_key(scores[index]))


def rank_sums(
    tables: Sequence[Mapping[str, float] | None], *, rounding: Mapping[str, float] | None = None
) -> list[float | None]:
    """Return the sums of the ranks over all named values, for the ranking rule ``rank_sum``.

    The lowest value has rank 1. ``rounding``: by name, the limit below which a value is 0 and a difference is
    a tie; 1e-9 for other names.

    >>> rank_sums([{"U": 0.1, "E": 0.5}, None, {"U": 0.3, "E": 0.5}])
    [2.0, None, 3.0]
    """
    names = next((list(table) for table in tables if table is not None), [])
    by_name = [_rank_by_value(name, tables, rounding=(rounding or {}).get(name, ROUNDING)) for name in names]
    sums = [
        float(sum(rank or 0 for rank in ranks_of_entry)) for ranks_of_entry in zip(*by_name, strict=True)
    ] or [0.0] * len(tables)
    return [None if table is None else total for table, total in zip(tables, sums, strict=True)]


def select_ranked_values(
    measures: Mapping[str, float], security_value: float, weights: Iterable[str]
) -> dict[str, float]:
    """Return the values whose ranks ``rank_sum`` adds: every measure with a weight in U, and E."""
    weighted = {name: measures[name] for name in weights}
    return {**weighted, "security": security_value}


def pareto_front(points: Sequence[tuple[float, float] | None]) -> list[bool]:
    """Return which pairs of losses (U, E) are not dominated by another pair.

    Equal pairs are on the front together; None is not on it.

    >>> pareto_front([(0.1, 0.5), (0.2, 0.2), (0.2, 0.5), None, (0.1, 0.5)])
    [True, True, False, False, True]
    """
    lowest_risk, front = math.inf, set()
    for point in sorted({point for point in points if point is not None}):
        if point[1] < lowest_risk:
            lowest_risk = point[1]
            front.add(point)
    return [point in front for point in points]


def _rank_by_value(
    name: str, tables: Sequence[Mapping[str, float] | None], *, rounding: float
) -> list[int | None]:
    values = (None if table is None else table[name] for table in tables)
    return ranks(
        [0.0 if value is not None and value < rounding else value for value in values], rounding=rounding
    )


def _sort_key(score: float | None) -> tuple[bool, float]:
    return (score is None, 0.0 if score is None else score)
