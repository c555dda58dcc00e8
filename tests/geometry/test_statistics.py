"""Means, deviations and correlations keep their precision at every magnitude that tables may have."""

import numpy as np
import pytest

from anoncup.geometry.statistics import compute_correlations, mean, standard_deviation

pytestmark = pytest.mark.full


@pytest.mark.parametrize("offset", [0.0, 1e9, 1e12, 1e15])
def test_large_offset_does_not_change_a_correlation(offset: float) -> None:
    indicators = (np.random.default_rng(0).random(3001) < 0.5).astype(np.float64)
    assert compute_correlations([offset + indicators, indicators])[0] == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("size", [1e-30, 1.0, 2.5e29])
def test_deviation_and_correlation_scale_with_the_data(size: float) -> None:
    cells = np.array([1.0, 2.0, 3.0, 4.0])
    assert standard_deviation(cells * size) == pytest.approx(float(cells.std()) * size, rel=1e-12)
    assert compute_correlations([cells * size, cells[::-1].copy()])[0] == pytest.approx(-1.0)


def test_constant_column_has_no_deviation_and_no_correlation() -> None:
    constant = np.full(7, 0.1)
    assert standard_deviation(constant) == 0.0
    assert compute_correlations([constant, np.arange(7.0)]).tolist() == [0.0]


def test_mean_of_nothing_is_zero() -> None:
    assert mean([]) == mean(np.array([])) == 0.0
