"""Means, deviations and correlations keep their precision at every magnitude."""

import math

import numpy as np
import pytest

from anoncup.geometry.stable_sums import (
    LARGEST_FLOAT,
    compute_correlations,
    finite_mean,
    is_sum_exact,
    scaled_mean,
    standard_deviation,
    unscale,
)

pytestmark = pytest.mark.full


@pytest.mark.parametrize("offset", [0.0, 1e9, 1e12, 1e15])
def test_large_offset_does_not_change_a_correlation(offset: float) -> None:
    indicators = (np.random.default_rng(0).random(3001) < 0.5).astype(np.float64)
    assert compute_correlations([offset + indicators, indicators])[0] == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("size", [1e-300, 1e-160, 1.0, 1e160, 1e300])
def test_deviation_and_correlation_scale_with_the_data(size: float) -> None:
    cells = np.array([1.0, 2.0, 3.0, 4.0])
    assert standard_deviation(cells * size) == pytest.approx(float(cells.std()) * size, rel=1e-12)
    assert compute_correlations([cells * size, cells[::-1].copy()])[0] == pytest.approx(-1.0)


def test_overflow_is_clamped_to_the_largest_float() -> None:
    assert unscale(LARGEST_FLOAT, -1) == LARGEST_FLOAT
    assert finite_mean([LARGEST_FLOAT, LARGEST_FLOAT, LARGEST_FLOAT]) == LARGEST_FLOAT
    assert finite_mean([]) == 0.0


def test_scaled_means_are_exact_beyond_the_largest_float() -> None:
    scaled_number = 2 * math.ldexp(1e308, -200), -200
    assert scaled_mean([(0.0, 0), scaled_number]) == 1e308
    assert scaled_mean([(3.0, 0), (5.0, 0)]) == 4.0
    assert scaled_mean([(1e-300, 0), (0.0, -200)]) == 5e-301
    assert scaled_mean([scaled_number, scaled_number]) == LARGEST_FLOAT
    assert scaled_mean([]) == 0.0


WHOLE_NUMBERS = [0.0, -0.0, 1.0, -3.0, 324525.0, 2.0**49, -(2.0**49), 2.0**53 / 8 - 1]


@pytest.mark.parametrize("largest", range(1, len(WHOLE_NUMBERS) + 1))
def test_sums_of_exact_columns_ignore_the_order(largest: int) -> None:
    rng = np.random.default_rng(largest)
    column = rng.choice(WHOLE_NUMBERS[:largest], 8)
    assert is_sum_exact(column)
    for _ in range(20):
        assert np.bincount(np.zeros(8, dtype=np.int64), rng.permutation(column))[0] == math.fsum(column)


@pytest.mark.parametrize("column", [[0.5], [1.0, 2.0**53], [2.0**52] * 2, [5e-324], [1e308, 1e308]])
def test_columns_with_rounding_sums_are_not_exact(column: list[float]) -> None:
    assert not is_sum_exact(np.array(column))
    assert is_sum_exact(np.array([]))
