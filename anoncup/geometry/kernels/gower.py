"""The compiled loops behind the nearest other row."""

import numpy as np

from anoncup.geometry.arrays import FloatArray, IntArray
from anoncup.geometry.kernels.compilation import compiled
from anoncup.geometry.kernels.knn_gower import Codes as Short


@compiled
def nearest_other(codes: IntArray, units: FloatArray) -> FloatArray:  # pragma: no cover - compiled
    """For each row the least Gower sum to another row: mismatches of codes plus differences of units.

    Rows should come sorted by their codes: a close neighbour found early ends most sums after two mismatches.
    One row alone has no other: infinity.
    """
    rows = codes.shape[0]
    best = np.full(rows, np.inf)
    for reach in range(1, rows):
        for row in range(rows - reach):
            other = row + reach
            limit = max(best[row], best[other])
            total = 0.0
            for column in range(codes.shape[1]):
                if codes[row, column] != codes[other, column]:
                    total += 1.0
                    if total > limit:
                        break
            if total > limit:
                continue
            for column in range(units.shape[1]):
                total += abs(units[row, column] - units[other, column])
                if total > limit:
                    break
            best[row] = min(best[row], total)
            best[other] = min(best[other], total)
    return best


@compiled
def gower_rows_apart(
    codes: Short,
    values: FloatArray,
    other_codes: Short,
    other_values: FloatArray,
    widths: FloatArray,
) -> FloatArray:  # pragma: no cover - compiled
    """The Gower sums of rows (m, columns) to others (columns, n), (m, n), columns in their order.

    A mismatch of codes counts 1, of values the difference over ``widths``, at most 1. The inner loops go
    along the others, each of whom has a sum of its own, so that several are done in one step.
    """
    sums = np.zeros((codes.shape[0], other_codes.shape[1]))
    for row in range(sums.shape[0]):
        own = sums[row]
        for column in range(codes.shape[1]):
            code = codes[row, column]
            others = other_codes[column]
            for other in range(own.shape[0]):
                own[other] += 1.0 if others[other] != code else 0.0
        for column in range(values.shape[1]):
            value = values[row, column]
            width = widths[column]
            cells = other_values[column]
            for other in range(own.shape[0]):
                own[other] += min(abs(cells[other] - value) / width, 1.0)
    return sums


SMALLEST = 5e-324
"""The width of a constant column: any difference at all is at least as large."""
