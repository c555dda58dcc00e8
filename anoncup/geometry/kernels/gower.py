"""Kernels of Gower's distance between all rows of one table or of two tables."""

import numpy as np

from anoncup.geometry.arrays import FloatArray, IntArray
from anoncup.geometry.kernels.compilation import compile_loop
from anoncup.geometry.kernels.knn_gower import CodeArray as Short


@compile_loop
def nearest_neighbour_sums(
    codes: IntArray, scaled_values: FloatArray
) -> FloatArray:  # pragma: no cover - compiled
    """Return each row's smallest Gower sum to another row, (n,); infinity for a single row.

    The sum is the number of different codes plus the differences of the scaled values. Rows should be sorted
    by their codes. Close neighbours are then found early, and most other sums are given up after two
    different codes.
    """
    rows = codes.shape[0]
    smallest_sums = np.full(rows, np.inf)
    for offset in range(1, rows):
        for row in range(rows - offset):
            neighbour = row + offset
            limit = max(smallest_sums[row], smallest_sums[neighbour])
            total = 0.0
            for column in range(codes.shape[1]):
                if codes[row, column] != codes[neighbour, column]:
                    total += 1.0
                    if total > limit:
                        break
            if total > limit:
                continue
            for column in range(scaled_values.shape[1]):
                total += abs(scaled_values[row, column] - scaled_values[neighbour, column])
                if total > limit:
                    break
            smallest_sums[row] = min(smallest_sums[row], total)
            smallest_sums[neighbour] = min(smallest_sums[neighbour], total)
    return smallest_sums


@compile_loop
def gower_sum_matrix(
    codes: Short,
    values: FloatArray,
    other_codes: Short,
    other_values: FloatArray,
    widths: FloatArray,
) -> FloatArray:  # pragma: no cover - compiled
    """Return the Gower sums (m, n) between rows (m, columns) and other rows (columns, n).

    Different codes count 1. Values count their difference divided by ``widths``, at most 1. The columns are
    added in order. The inner loops run along the other rows, each with a sum of its own, so that they can be
    vectorized.
    """
    sums = np.zeros((codes.shape[0], other_codes.shape[1]))
    for row in range(sums.shape[0]):
        row_sums = sums[row]
        for column in range(codes.shape[1]):
            code = codes[row, column]
            column_codes = other_codes[column]
            for other_row in range(row_sums.shape[0]):
                row_sums[other_row] += 1.0 if column_codes[other_row] != code else 0.0
        for column in range(values.shape[1]):
            value = values[row, column]
            width = widths[column]
            column_values = other_values[column]
            for other_row in range(row_sums.shape[0]):
                row_sums[other_row] += min(abs(column_values[other_row] - value) / width, 1.0)
    return sums


SMALLEST_WIDTH = 5e-324
"""Width of a constant column, the smallest positive float: every difference from its value counts 1."""
