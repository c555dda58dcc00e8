"""Means, standard deviations and correlations of columns.

Tables limit the size of their cells (``anoncup.tables.csv_text``), so that no sum or square overflows.
"""

from collections.abc import Iterable, Sequence
from itertools import combinations

import numpy as np

from anoncup.geometry.arrays import FloatArray


def mean(values: Iterable[float]) -> float:
    """Return the mean, or 0 without values."""
    numbers = values if isinstance(values, np.ndarray) else np.fromiter(values, dtype=np.float64)
    return float(numbers.mean()) if len(numbers) else 0.0


def center(column: FloatArray) -> FloatArray:
    """Return the column minus its mean; zeros for a constant column.

    The mean is subtracted twice: the second time removes the rounding error of the first mean, which matters
    if the values only differ in their last digits.
    """
    if column.size == 0 or column.min() == column.max():
        return np.zeros_like(column)
    deviations = column - column.mean()
    centred: FloatArray = deviations - deviations.mean()
    return centred


def standard_deviation(column: FloatArray) -> float:
    """Return the population standard deviation (ddof 0); 0 without values."""
    return float(np.sqrt(mean(center(column) ** 2)))


def compute_correlations(columns: Sequence[FloatArray]) -> FloatArray:
    """Return Pearson's r of all pairs of columns, (0, 1), (0, 2) and so on; 0 for constant columns."""
    centred = [center(column) for column in columns]
    return np.array([_correlate(a, b) for a, b in combinations(centred, 2)])


def _correlate(a: FloatArray, b: FloatArray) -> float:
    squared_lengths = float((a * a).sum()) * float((b * b).sum())
    if squared_lengths == 0.0:
        return 0.0
    return min(max(float((a * b).sum()) / float(np.sqrt(squared_lengths)), -1.0), 1.0)
