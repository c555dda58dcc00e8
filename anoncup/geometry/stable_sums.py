"""Sums and means that stay finite for every finite float64.

Uploaded cells may be as large as 1e308: their plain sum is infinite, and the difference of two such sums is
NaN. Scaling by a power of two changes no digit of an ordinary value; it is applied only where needed.
"""

import math
import sys
from collections.abc import Iterable, Sequence
from itertools import combinations

import numpy as np

from anoncup.geometry.arrays import FloatArray

LARGEST = sys.float_info.max
_SCALE_EXPONENT = -200
_OVERFLOW_LIMIT = 2.0**800
_EXACT_LIMIT = 2.0**53


def headroom(*columns: FloatArray) -> int:
    """Return an exponent e so that sums of the columns times 2**e cannot overflow; 0 for ordinary values."""
    largest = max((float(np.abs(column).max()) for column in columns if column.size), default=0.0)
    return _SCALE_EXPONENT if largest > _OVERFLOW_LIMIT else 0


def is_sum_exact(column: FloatArray) -> bool:
    """Return whether sums of the values are never rounded: whole numbers with a total below 2**53."""
    largest_sum = float(np.abs(column).max(initial=0.0)) * column.size
    return largest_sum < _EXACT_LIMIT and bool((np.rint(column) == column).all())


def unscale(value: float, exponent: int) -> float:
    """Return ``value`` divided by 2**exponent, clipped to the largest float."""
    try:
        return math.ldexp(value, -exponent)
    except OverflowError:
        return math.copysign(LARGEST, value)


def finite_mean(values: Iterable[float]) -> float:
    """Return the mean of non-negative numbers, clipped to the largest float; 0 without numbers."""
    numbers = list(values)
    try:
        return min(math.fsum(value / len(numbers) for value in numbers), LARGEST) if numbers else 0.0
    except OverflowError:  # the shares of the largest floats may each be rounded up
        return LARGEST


def scaled_mean(scaled_numbers: Iterable[tuple[float, int]]) -> float:
    """Return the mean of non-negative numbers, each given as a scaled value and the exponent of its scale.

    The mean is clipped to the largest float; the numbers themselves may exceed it.
    """
    numbers = list(scaled_numbers)
    values = [unscale(value, exponent) for value, exponent in numbers]
    if max(values, default=0.0) < LARGEST:
        return finite_mean(values)
    smallest_exponent = min(exponent for _, exponent in numbers)
    return unscale(
        finite_mean(math.ldexp(value, smallest_exponent - exponent) for value, exponent in numbers),
        smallest_exponent,
    )


def mean(column: FloatArray) -> float:
    """Return the mean of values already scaled by :func:`headroom`; 0 without values."""
    return float(column.sum()) / column.size if column.size else 0.0


def deviations(column: FloatArray) -> FloatArray:
    """Return the column minus its mean, scaled by a power of two; zeros if constant.

    The largest absolute value lies in [1/2, 1). The second subtraction removes the rounding error of the
    mean, which matters if the values differ only in their last digits.
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
    exponent = _exponent(column)
    scaled = np.ldexp(column, -exponent)
    centred = scaled - mean(scaled)
    centred_exponent = _exponent(centred)
    deviations = np.ldexp(centred, -centred_exponent)
    deviations -= mean(deviations)
    return unscale(math.sqrt(mean(deviations * deviations)), -(exponent + centred_exponent))


def _exponent(column: FloatArray) -> int:
    return math.frexp(float(np.abs(column).max()))[1]


def _scale_to_unit(column: FloatArray) -> FloatArray:
    scaled: FloatArray = np.ldexp(column, -_exponent(column))
    return scaled


def correlations(columns: Sequence[FloatArray]) -> FloatArray:
    """Return Pearson's r of every pair of columns, in the order (0,1), (0,2), ...; 0 for constant columns."""
    centred = [deviations(column) for column in columns]
    lengths = [float((column * column).sum()) for column in centred]
    pairs = list(combinations(range(len(columns)), 2))
    return np.array([_correlation(centred[a], centred[b], lengths[a], lengths[b]) for a, b in pairs])


def _correlation(a: FloatArray, b: FloatArray, a_length: float, b_length: float) -> float:
    if a_length == 0.0 or b_length == 0.0:
        return 0.0
    r = float((a * b).sum()) / float(np.sqrt(a_length * b_length))
    return min(max(r, -1.0), 1.0)
