"""Sums and means that stay finite for every finite float64.

Uploaded cells may be as large as 1e308. A plain sum of such cells is infinite, and the difference of two
infinite sums is NaN. Values are therefore scaled by a power of two where needed, which is exact for ordinary
values.
"""

import math
import sys
from collections.abc import Iterable, Sequence
from itertools import combinations

import numpy as np

from anoncup.geometry.arrays import FloatArray

LARGEST_FLOAT = sys.float_info.max
_SCALE_EXPONENT = -200
_OVERFLOW_LIMIT = 2.0**800
_EXACT_LIMIT = 2.0**53


def find_scale_exponent(*columns: FloatArray) -> int:
    """Return an exponent e so that sums of the columns times 2**e cannot overflow; 0 for ordinary values."""
    largest = max((float(np.abs(column).max()) for column in columns if column.size), default=0.0)
    return _SCALE_EXPONENT if largest > _OVERFLOW_LIMIT else 0


def is_sum_exact(column: FloatArray) -> bool:
    """Return whether sums of the values are exact: they are integers, and no sum reaches 2**53."""
    largest_sum = float(np.abs(column).max(initial=0.0)) * column.size
    return largest_sum < _EXACT_LIMIT and bool((np.rint(column) == column).all())


def unscale(value: float, exponent: int) -> float:
    """Return ``value`` divided by 2**exponent, clipped to the largest float."""
    try:
        return math.ldexp(value, -exponent)
    except OverflowError:
        return math.copysign(LARGEST_FLOAT, value)


def finite_mean(values: Iterable[float]) -> float:
    """Return the mean of non-negative numbers, at most the largest float; 0 without numbers."""
    numbers = list(values)
    try:
        return min(math.fsum(value / len(numbers) for value in numbers), LARGEST_FLOAT) if numbers else 0.0
    except OverflowError:  # Shares of the largest floats may be rounded up.
        return LARGEST_FLOAT


def scaled_mean(scaled_numbers: Iterable[tuple[float, int]]) -> float:
    """Return the mean of non-negative numbers that are given as pairs (number times 2**exponent, exponent).

    The numbers may exceed the largest float; their mean is clipped to it.
    """
    numbers = list(scaled_numbers)
    values = [unscale(value, exponent) for value, exponent in numbers]
    if max(values, default=0.0) < LARGEST_FLOAT:
        return finite_mean(values)
    smallest_exponent = min(exponent for _, exponent in numbers)
    return unscale(
        finite_mean(math.ldexp(value, smallest_exponent - exponent) for value, exponent in numbers),
        smallest_exponent,
    )


def mean(column: FloatArray) -> float:
    """Return the mean of values already scaled by :func:`find_scale_exponent`; 0 without values."""
    return float(column.sum()) / column.size if column.size else 0.0


def compute_deviations(column: FloatArray) -> FloatArray:
    """Return the column minus its mean, scaled by a power of two; zeros for constant columns.

    The largest absolute value lies in [1/2, 1). The mean is subtracted twice: the second time removes the
    rounding error of the first mean, which matters if the values only differ in their last digits.
    """
    if column.size == 0 or column.min() == column.max():
        return np.zeros_like(column)
    scaled = _scale_to_unit(column)
    centred = _scale_to_unit(scaled - mean(scaled))
    return _scale_to_unit(centred - mean(centred))


def standard_deviation(column: FloatArray) -> float:
    """Return the population standard deviation (ddof 0), finite for every finite column."""
    if column.size == 0 or column.min() == column.max():
        return 0.0
    exponent = _find_exponent(column)
    scaled = np.ldexp(column, -exponent)
    centred = scaled - mean(scaled)
    centred_exponent = _find_exponent(centred)
    deviations = np.ldexp(centred, -centred_exponent)
    deviations -= mean(deviations)
    return unscale(math.sqrt(mean(deviations * deviations)), -(exponent + centred_exponent))


def _find_exponent(column: FloatArray) -> int:
    return math.frexp(float(np.abs(column).max()))[1]


def _scale_to_unit(column: FloatArray) -> FloatArray:
    scaled: FloatArray = np.ldexp(column, -_find_exponent(column))
    return scaled


def compute_correlations(columns: Sequence[FloatArray]) -> FloatArray:
    """Return Pearson's r of all pairs of columns, (0, 1), (0, 2) and so on; 0 for constant columns."""
    centred = [compute_deviations(column) for column in columns]
    squared_lengths = [float((column * column).sum()) for column in centred]
    pairs = list(combinations(range(len(columns)), 2))
    return np.array(
        [_correlate(centred[a], centred[b], squared_lengths[a], squared_lengths[b]) for a, b in pairs]
    )


def _correlate(a: FloatArray, b: FloatArray, a_squared_length: float, b_squared_length: float) -> float:
    if a_squared_length == 0.0 or b_squared_length == 0.0:
        return 0.0
    r = float((a * b).sum()) / float(np.sqrt(a_squared_length * b_squared_length))
    return min(max(r, -1.0), 1.0)
