"""From measured values to scores, and from scores to ranks (§4)."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from anoncup.tracks.parts import Measure

NOTHING = 1e-9
"""Values below this are rounding, not loss (in data units: times the largest absolute sensitive value)."""


def rounding_of(measure: Measure, largest_cell: float) -> float:
    """Below which a value of this measure, or what two of them differ by, is rounding."""
    return NOTHING * largest_cell if measure.in_data_units else NOTHING


def utility_score(value: float, scale: float, *, tiny: float = NOTHING) -> float:
    """min(1, value / scale), in [0, 1], 0 best; what is below ``tiny`` is 0, and x / 0 is 1 for x > 0."""
    value, scale = (0.0 if abs(number) < tiny else number for number in (value, scale))
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
    how: Literal["mean", "largest"] = "mean",
) -> float:
    """Return U in [0, 1]: the weighted mean of the measures' utility scores, or their largest.

    Without weights U is 0.
    """
    rounding = {name: rounding_of(measures[name], largest_cell) for name in weights}
    return combine_utility_scores(values, weights=weights, scales=scales, rounding=rounding, how=how)


def combine_utility_scores(
    values: Mapping[str, float],
    *,
    weights: Mapping[str, float],
    scales: Mapping[str, float],
    rounding: Mapping[str, float],
    how: Literal["mean", "largest"] = "mean",
) -> float:
    """Return the same from the values below which each weighted measure counts as 0."""
    scores = {name: utility_score(values[name], scales[name], tiny=rounding[name]) for name in weights}
    if how == "largest":
        return max(scores.values(), default=0.0)
    most = max(weights.values(), default=1.0)  # shares up to 1 cannot overflow
    shares = {name: weight / most for name, weight in weights.items()}
    total = 0.0
    for name, share in shares.items():
        total += share * scores[name]
    return min(total / sum(shares.values()), 1.0) if shares else 0.0


def security(risks: Iterable[float]) -> float:
    """E: the largest risk of the attackers that count, in [0, 1], 0 best; of none, 0."""
    return max(risks, default=0.0)


def overall(utility_value: float, security_value: float) -> float:
    """(U + E) / 2, lower is better (P3 §4.3)."""
    return (utility_value + security_value) / 2


def ranks(scores: Sequence[float | None], *, rounding: float = 0.0) -> list[int | None]:
    """Rank by score, lowest first; equal scores share a rank ("1 2 2 4"); no score, no rank.

    Scores that are less than ``rounding`` above the lowest of their rank are equal.

    >>> ranks([0.2, None, 0.1, 0.2])
    [2, None, 1, 2]
    """
    rank_of: dict[float, int] = {}
    least, rank = -math.inf, 0
    for place, score in enumerate(sorted(score for score in scores if score is not None), 1):
        if score > least and score - least >= rounding:
            least, rank = score, place
        rank_of[score] = rank
    return [None if score is None else rank_of[score] for score in scores]


def standing(scores: Sequence[float | None]) -> list[int]:
    """Positions in the order of the board: by score; equal ones, and those without, in the order given.

    >>> standing([0.2, None, 0.1, 0.2])
    [2, 0, 3, 1]
    """
    return sorted(range(len(scores)), key=lambda place: _sort_key(scores[place]))


def rank_sums(
    tables: Sequence[Mapping[str, float] | None], *, rounding: Mapping[str, float] | None = None
) -> list[float | None]:
    """For the ranking rule ``rank_sum``: sums of the ranks over all named values, the lowest value first.

    ``rounding``: by name, below which a value is 0 and a difference none; 1e-9 where it is not named.

    >>> rank_sums([{"U": 0.1, "E": 0.5}, None, {"U": 0.3, "E": 0.5}])
    [2.0, None, 3.0]
    """
    names = next((list(table) for table in tables if table is not None), [])
    by_name = [_ranks_of(name, tables, tiny=(rounding or {}).get(name, NOTHING)) for name in names]
    sums = [float(sum(rank or 0 for rank in places)) for places in zip(*by_name, strict=True)] or [0.0] * len(
        tables
    )
    return [None if table is None else total for table, total in zip(tables, sums, strict=True)]


def ranked_values(
    measures: Mapping[str, float], security_value: float, weights: Iterable[str]
) -> dict[str, float]:
    """What ``rank_sum`` adds the ranks of: every measure that weighs in U, and E."""
    weighing = {name: measures[name] for name in weights}
    return {**weighing, "security": security_value}


def pareto_front(points: Sequence[tuple[float, float] | None]) -> list[bool]:
    """Which pairs of losses (U, E) no other pair beats in one without losing in the other.

    Equal pairs are on the front together; None is not on it.

    >>> pareto_front([(0.1, 0.5), (0.2, 0.2), (0.2, 0.5), None, (0.1, 0.5)])
    [True, True, False, False, True]
    """
    least, front = math.inf, set()
    for point in sorted({point for point in points if point is not None}):
        if point[1] < least:
            least = point[1]
            front.add(point)
    return [point in front for point in points]


def _ranks_of(name: str, tables: Sequence[Mapping[str, float] | None], *, tiny: float) -> list[int | None]:
    values = (None if table is None else table[name] for table in tables)
    return ranks([0.0 if value is not None and value < tiny else value for value in values], rounding=tiny)


def _sort_key(score: float | None) -> tuple[bool, float]:
    return (score is None, 0.0 if score is None else score)
