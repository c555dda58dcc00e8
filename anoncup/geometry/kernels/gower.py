"""Kernel of Gower's distance between all rows of two tables."""

import numpy as np
import numpy.typing as npt

from anoncup.geometry.arrays import FloatArray, IntArray
from anoncup.geometry.kernels.compilation import compile_loop

_SMALLEST_WIDTH = 5e-324
"""The smallest positive float, by which every difference becomes infinite, so that it counts 1."""


def gower_sums(
    *,
    codes: IntArray,
    values: FloatArray,
    other_codes: IntArray,
    other_values: FloatArray,
    widths: FloatArray,
) -> FloatArray:
    """Return Gower's sum for each row and each other row, (m, n), from 0 to the number of columns.

    Each pair of different codes counts 1, then each pair of values its difference divided by the column's
    width, at most 1. Where the width is 0, different values count 1. Columns are added in their order.
    ``codes`` are (m, code columns) and ``values`` (m, value columns), those of the other table (n, ...).
    """
    return _add_columns(
        codes.astype(np.int32, order="C"),
        np.ascontiguousarray(values),
        other_codes.T.astype(np.int32, order="C"),
        np.ascontiguousarray(other_values.T),
        make_positive(widths),
    )


def make_positive(widths: FloatArray) -> FloatArray:
    """Replace widths of 0 by a number by which every difference can be divided and counts at least 1."""
    return np.where(widths > 0, widths, _SMALLEST_WIDTH)


@compile_loop
def _add_columns(
    codes: npt.NDArray[np.int32],
    values: FloatArray,
    code_columns: npt.NDArray[np.int32],
    value_columns: FloatArray,
    widths: FloatArray,
) -> FloatArray:  # pragma: no cover - compiled
    """Add up columns; the inner loops run along the other rows, so that they can be vectorized."""
    sums = np.zeros((len(codes), code_columns.shape[1]))
    for row in range(len(codes)):
        row_sums = sums[row]
        for column in range(codes.shape[1]):
            code, other_codes = codes[row, column], code_columns[column]
            for other_row in range(len(row_sums)):
                row_sums[other_row] += 1.0 if other_codes[other_row] != code else 0.0
        for column in range(values.shape[1]):
            value, width, other_values = values[row, column], widths[column], value_columns[column]
            for other_row in range(len(row_sums)):
                row_sums[other_row] += min(abs(other_values[other_row] - value) / width, 1.0)
    return sums
