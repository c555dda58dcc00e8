"""Means and correlations keep their digits at every size."""

import math

import numpy as np
import pytest

from anoncup.geometry.stable_sums import (
    LARGEST,
    correlations,
    exact_in_any_order,
    finite_mean,
    mean_of_scaled,
    restored,
    standard_deviation,
)

pytestmark = pytest.mark.full


@pytest.mark.parametrize("offset", [0.0, 1e9, 1e12, 1e15])
def test_a_large_offset_does_not_change_a_correlation(offset: float) -> None:
    marks = (np.random.default_rng(0).random(3001) < 0.5).astype(np.float64)
    assert correlations([offset + marks, marks])[0] == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("size", [1e-300, 1e-160, 1.0, 1e160, 1e300])
def test_deviation_and_correlation_scale_with_the_data(size: float) -> None:
    cells = np.array([1.0, 2.0, 3.0, 4.0])
    assert standard_deviation(cells * size) == pytest.approx(float(cells.std()) * size, rel=1e-12)
    assert correlations([cells * size, cells[::-1].copy()])[0] == pytest.approx(-1.0)


def test_what_is_beyond_the_largest_float_is_the_largest_float() -> None:
    assert restored(LARGEST, -1) == LARGEST
    assert finite_mean([LARGEST, LARGEST, LARGEST]) == LARGEST
    assert finite_mean([]) == 0.0


def test_a_mean_is_exact_though_one_of_the_numbers_is_beyond_the_largest_float() -> None:
    twice = 2 * math.ldexp(1e308, -200), -200
    assert mean_of_scaled([(0.0, 0), twice]) == 1e308
    assert mean_of_scaled([(3.0, 0), (5.0, 0)]) == 4.0
    assert mean_of_scaled([(1e-300, 0), (0.0, -200)]) == 5e-301
    assert mean_of_scaled([twice, twice]) == LARGEST
    assert mean_of_scaled([]) == 0.0


WHOLE = [0.0, -0.0, 1.0, -3.0, 324525.0, 2.0**49, -(2.0**49), 2.0**53 / 8 - 1]


@pytest.mark.parametrize("largest", range(1, len(WHOLE) + 1))
def test_what_is_exact_in_any_order_has_one_sum(largest: int) -> None:
    rng = np.random.default_rng(largest)
    column = rng.choice(WHOLE[:largest], 8)
    assert exact_in_any_order(column)
    for _ in range(20):
        assert np.bincount(np.zeros(8, dtype=np.int64), rng.permutation(column))[0] == math.fsum(column)


@pytest.mark.parametrize("column", [[0.5], [1.0, 2.0**53], [2.0**52] * 2, [5e-324], [1e308, 1e308]])
def test_sums_that_may_be_rounded_are_not_taken_to_be_exact(column: list[float]) -> None:
    assert not exact_in_any_order(np.array(column))
    assert exact_in_any_order(np.array([]))
