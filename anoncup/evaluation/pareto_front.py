"""The Pareto front of releases by utility loss and risk."""

import math
from collections.abc import Sequence


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
