"""Means and correlations keep their digits at every size."""

import numpy as np
import pytest

from app.scoring.magnitude import LARGEST, finite_mean, restored, standard_deviation
from app.scoring.utility.microdata import correlations


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
