"""The Pareto front."""

import numpy as np

from anoncup.evaluation.pareto_front import find_pareto_front


def test_pareto_front_has_all_undominated_points() -> None:
    rng = np.random.default_rng(0)
    points = [(float(u), float(e)) for u, e in rng.integers(0, 6, (40, 2))]

    def is_dominated(point: tuple[float, float]) -> bool:
        return any(
            other_point != point and other_point[0] <= point[0] and other_point[1] <= point[1]
            for other_point in points
        )

    assert find_pareto_front(points) == [not is_dominated(point) for point in points]
    assert find_pareto_front([None, (0.5, 0.5)]) == [False, True]
