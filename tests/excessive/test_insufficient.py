"""The least threshold at which a record can escape, and the most escapes under a total distance."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anoncup.excessive.insufficient import compute_least_threshold, count_possible_escapes
from tests.support.hypothesis_profiles import limit_examples


def test_least_threshold_is_half_the_smallest_distance() -> None:
    assert compute_least_threshold(np.array([0.8, 0.7133620690, 0.9])) == pytest.approx(0.3566810345)


@pytest.mark.parametrize(
    ("total", "expected"), [(0.0, 0), (0.09, 0), (0.1, 1), (0.3, 2), (0.69, 2), (0.7, 3)]
)
def test_escapes_are_limited_by_the_total_distance(total: float, expected: int) -> None:
    assert count_possible_escapes(np.array([0.8, 0.2, 0.4]), total) == expected


def test_equal_records_escape_at_no_cost() -> None:
    assert count_possible_escapes(np.array([0.0, 0.0, 1.0]), 0.0) == 2
    assert count_possible_escapes(np.array([]), 1.0) == 0


@limit_examples(100)
@given(st.lists(st.integers(0, 8), max_size=7), st.integers(0, 30))
def test_number_of_escapes_is_maximal(eighths: list[int], total: int) -> None:
    affordable = [
        size
        for size in range(len(eighths) + 1)
        for subset in combinations(eighths, size)
        if sum(subset) <= total * 2
    ]
    assert count_possible_escapes(np.array(eighths) / 8, total / 8) == max(affordable)
