"""Sums and means that stay finite for every finite float64.

Uploaded cells may be as large as 1e308: their plain sum is infinite and the difference of two such sums is
not a number. Scaling by a power of two changes no digit of an ordinary value; it is done only where needed.
"""

import math
import sys
from collections.abc import Iterable, Sequence
from itertools import combinations

import numpy as np

from anoncup.geometry.arrays import FloatArray

LARGEST = sys.float_info.max
_ROOM = -200
_CROWDED = 2.0**800
_WHOLE = 2.0**53


def headroom(*columns: FloatArray) -> int:
    """Exponent e such that sums of the columns times 2**e cannot overflow; 0 for ordinary values."""
    largest = max((float(np.abs(column).max()) for column in columns if column.size), default=0.0)
    return _ROOM if largest > _CROWDED else 0


def exact_in_any_order(column: FloatArray) -> bool:
    """Whether no sum of the column's values is rounded: whole numbers, together below 2**53."""
    most = float(np.abs(column).max(initial=0.0)) * column.size
    return most < _WHOLE and bool((np.rint(column) == column).all())


def restored(value: float, exponent: int) -> float:
    """``value`` without the factor 2**exponent, at most the largest float."""
    try:
        return math.ldexp(value, -exponent)
    except OverflowError:
        return math.copysign(LARGEST, value)


def finite_mean(values: Iterable[float]) -> float:
    """Mean of non-negative numbers, at most the largest float; of no numbers, 0."""
    listed = list(values)
    try:
        return min(math.fsum(value / len(listed) for value in listed), LARGEST) if listed else 0.0
    except OverflowError:  # the shares of the largest floats, each rounded up
        return LARGEST


def mean_of_scaled(parts: Iterable[tuple[float, int]]) -> float:
    """Return the mean of non-negative numbers, each given as a value and the exponent that it was scaled by.

    The mean is at most the largest float; a number may exceed it.
    """
    listed = list(parts)
    values = [restored(value, exponent) for value, exponent in listed]
    if max(values, default=0.0) < LARGEST:
        return finite_mean(values)
    least = min(exponent for _, exponent in listed)
    return restored(finite_mean(math.ldexp(value, least - exponent) for value, exponent in listed), least)


def mean(column: FloatArray) -> float:
    """Mean of values for which :func:`headroom` has been made; of no values, 0."""
    return float(column.sum()) / column.size if column.size else 0.0


def deviations(column: FloatArray) -> FloatArray:
    """The column minus its mean, scaled by a power of two to a largest size in [1/2, 1); constant gives 0.

    The second subtraction removes the rounding of the mean, which matters where a column's values
    differ only in their last digits.
    """
    if column.size == 0 or column.min() == column.max():
        return np.zeros_like(column)
    unit = _to_unit(column)
    rough = _to_unit(unit - mean(unit))
    return _to_unit(rough - mean(rough))


def standard_deviation(column: FloatArray) -> float:
    """Population standard deviation (ddof 0), finite for every finite column."""
    if column.size == 0 or column.min() == column.max():
        return 0.0
    exponent = _exponent(column)
    unit = np.ldexp(column, -exponent)
    rough = unit - mean(unit)
    inner = _exponent(rough)
    fine = np.ldexp(rough, -inner)
    fine -= mean(fine)
    return restored(math.sqrt(mean(fine * fine)), -(exponent + inner))


def _exponent(column: FloatArray) -> int:
    return math.frexp(float(np.abs(column).max()))[1]


def _to_unit(column: FloatArray) -> FloatArray:
    scaled: FloatArray = np.ldexp(column, -_exponent(column))
    return scaled


def correlations(columns: Sequence[FloatArray]) -> FloatArray:
    """Pearson's r of every pair of columns, pairs in order (0,1), (0,2), ...; 0 where one is constant."""
    centred = [deviations(column) for column in columns]
    lengths = [float((column * column).sum()) for column in centred]
    pairs = list(combinations(range(len(columns)), 2))
    return np.array([_correlation(centred[a], centred[b], lengths[a], lengths[b]) for a, b in pairs])


def _correlation(a: FloatArray, b: FloatArray, a_length: float, b_length: float) -> float:
    if a_length == 0.0 or b_length == 0.0:
        return 0.0
    r = float((a * b).sum()) / float(np.sqrt(a_length * b_length))
    return min(max(r, -1.0), 1.0)
