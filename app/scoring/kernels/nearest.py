"""The compiled loops behind the nearest row."""

import numpy as np

from app.scoring.arrays import FloatArray, IntArray
from app.scoring.kernels.compiled import compiled
from app.scoring.kernels.neighbours import DEEPEST
from app.scoring.kernels.neighbours import Codes as Short

NO_ROW = np.iinfo(np.int64).max


@compiled
def box_distance(
    point: FloatArray, low: FloatArray, high: FloatArray, absolute: bool
) -> float:  # pragma: no cover - compiled
    """Smallest distance any point of a box can have, summed as a point's distance is.

    Rounding is monotone in each subtraction, square and sum, so no computed distance is below this bound.
    """
    total = 0.0
    for column in range(point.shape[0]):
        gap = max(low[column] - point[column], point[column] - high[column], 0.0)
        total += gap if absolute else gap * gap
    return total


@compiled
def search(  # noqa: PLR0917 - compiled code takes plain arrays by position
    queries: FloatArray,
    roots: IntArray,
    points: FloatArray,
    rows: IntArray,
    start: IntArray,
    end: IntArray,
    child: IntArray,
    least_row: IntArray,
    low: FloatArray,
    high: FloatArray,
    absolute: bool,
    barred: IntArray,
) -> IntArray:  # pragma: no cover - compiled
    """For each query the row of the nearest point in the tree at its root; root -1 gives -1.

    Distance: squared differences (or, if ``absolute``, plain ones) summed in column order; equal distances
    go to the lower row. A subtree is skipped only if it can hold neither a nearer point nor an equally near
    one with a lower row. Row ``barred`` of a query (-1: none) is not an answer to it; no other row: -1.
    """
    found = np.full(queries.shape[0], -1, dtype=np.int64)
    waiting = np.empty(DEEPEST, dtype=np.int64)
    bounds = np.empty(DEEPEST, dtype=np.float64)
    for query in range(queries.shape[0]):
        if roots[query] < 0:
            continue
        best = np.inf
        best_row = NO_ROW
        waiting[0] = roots[query]
        bounds[0] = 0.0
        size = 1
        while size > 0:
            size -= 1
            node = waiting[size]
            if bounds[size] > best or (bounds[size] == best and least_row[node] > best_row):
                continue
            if child[node] < 0:
                for place in range(start[node], end[node]):
                    if rows[place] == barred[query]:
                        continue
                    distance = 0.0  # to the end: to leave early costs more, in branches foretold wrongly
                    for column in range(queries.shape[1]):
                        gap = points[place, column] - queries[query, column]
                        distance += abs(gap) if absolute else gap * gap
                    if distance < best or (distance == best and rows[place] < best_row):
                        best = distance
                        best_row = rows[place]
                continue
            near = child[node]
            far = near + 1
            near_bound = box_distance(queries[query], low[near], high[near], absolute)
            far_bound = box_distance(queries[query], low[far], high[far], absolute)
            if far_bound < near_bound or (far_bound == near_bound and least_row[far] < least_row[near]):
                near, far = far, near
                near_bound, far_bound = far_bound, near_bound
            waiting[size] = far
            bounds[size] = far_bound
            waiting[size + 1] = near
            bounds[size + 1] = near_bound
            size += 2
        if best_row < NO_ROW:
            found[query] = best_row
    return found


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
