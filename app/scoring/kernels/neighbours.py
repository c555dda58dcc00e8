"""The compiled loops behind the several nearest rows, by Euclid's distance and by Gower's."""

import numpy as np
import numpy.typing as npt

from app.scoring.arrays import FloatArray, IntArray
from app.scoring.kernels.compiled import compiled

Codes = npt.NDArray[np.int32]
DEEPEST = 128
"""Entries of a search's stack. A tree halves its points at every level, so 64 levels are out of reach."""
CROWD = 200
"""Classes with the same number of mismatches that are worth entering one by one."""


@compiled
def part(gap: float, width: float) -> float:  # pragma: no cover - compiled
    """What one column adds to a distance: the gap's share of ``width``, at most 1; width 0: its square."""
    return gap * gap if width == 0.0 else min(gap / width, 1.0)


@compiled
def box_total(
    point: FloatArray, low: FloatArray, high: FloatArray, base: int, widths: FloatArray
) -> float:  # pragma: no cover - compiled
    """As :func:`box_distance`, for ``base`` plus the :func:`part` of every column."""
    total = float(base)
    for column in range(point.shape[0]):
        gap = max(low[column] - point[column], point[column] - high[column], 0.0)
        total += part(gap, widths[column])
    return total


@compiled
def collect(  # noqa: PLR0917 - compiled code takes plain arrays by position
    point: FloatArray,
    root: int,
    base: int,
    counts: Codes,
    class_at: IntArray,
    widths: FloatArray,
    floor: float,
    slack: float,
    points: FloatArray,
    rows: IntArray,
    start: IntArray,
    end: IntArray,
    child: IntArray,
    least_row: IntArray,
    low: FloatArray,
    high: FloatArray,
    best: FloatArray,
    best_rows: IntArray,
    waiting: IntArray,
    bounds: FloatArray,
) -> None:  # pragma: no cover - compiled
    """Bring the nearest points of one tree into ``best`` and ``best_rows``, sorted by distance, then row.

    Distance: ``base`` plus the :func:`part` of every column, in column order; below ``floor`` it counts as
    ``floor``. ``slack`` >= 0: only distances up to (1 + slack) times the least are wanted. With ``counts``
    a point starts at its class's count instead of ``base``, and classes that count less are left out.
    """
    last = best.shape[0] - 1
    limit = best[last] if slack < 0.0 else min(best[last], best[0] + best[0] * slack)
    waiting[0] = root
    bounds[0] = float(base)
    size = 1
    while size > 0:
        size -= 1
        node = waiting[size]
        bound = max(bounds[size], floor)
        if bound > limit or (bound == best[last] and least_row[node] > best_rows[last]):
            continue
        if child[node] >= 0:
            near = child[node]
            far = near + 1
            near_bound = box_total(point, low[near], high[near], base, widths)
            far_bound = box_total(point, low[far], high[far], base, widths)
            if far_bound < near_bound or (far_bound == near_bound and least_row[far] < least_row[near]):
                near, far = far, near
                near_bound, far_bound = far_bound, near_bound
            waiting[size] = far
            bounds[size] = far_bound
            waiting[size + 1] = near
            bounds[size + 1] = near_bound
            size += 2
            continue
        for place in range(start[node], end[node]):
            mismatches = base if counts.shape[0] == 0 else counts[class_at[place]]
            if mismatches < base:
                continue
            total = float(mismatches)
            for column in range(point.shape[0]):
                total += part(abs(points[place, column] - point[column]), widths[column])
                if total > limit:
                    break
            total = max(total, floor)
            row = rows[place]
            if total > limit or (total == best[last] and row > best_rows[last]):
                continue
            slot = last
            while slot > 0 and (
                total < best[slot - 1] or (total == best[slot - 1] and row < best_rows[slot - 1])
            ):
                best[slot] = best[slot - 1]
                best_rows[slot] = best_rows[slot - 1]
                slot -= 1
            best[slot] = total
            best_rows[slot] = row
            limit = best[last] if slack < 0.0 else min(best[last], best[0] + best[0] * slack)


@compiled
def several(  # noqa: PLR0917 - compiled code takes plain arrays by position
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
    best: FloatArray,
    best_rows: IntArray,
) -> None:  # pragma: no cover - compiled
    """Fill each query's line of ``best`` and ``best_rows`` with the nearest points of the tree at its root.

    Distance: squared differences summed in column order. Root -1 leaves the line as it is.
    """
    waiting = np.empty(DEEPEST, dtype=np.int64)
    bounds = np.empty(DEEPEST, dtype=np.float64)
    squares, none = np.zeros(queries.shape[1]), np.empty(0, dtype=np.int32)
    for query in range(queries.shape[0]):
        if roots[query] >= 0:
            collect(
                queries[query], roots[query], 0, none, rows, squares, 0.0, -1.0,
                points, rows, start, end, child, least_row, low, high,
                best[query], best_rows[query], waiting, bounds,
            )  # fmt: skip


@compiled
def gower_several(  # noqa: PLR0912, PLR0917 - compiled code takes plain arrays by position
    queries: FloatArray,
    spans: IntArray,
    span_codes: Codes,
    span_classes: IntArray,
    class_codes: Codes,
    widths: FloatArray,
    floors: FloatArray,
    slack: float,
    class_at: IntArray,
    points: FloatArray,
    rows: IntArray,
    start: IntArray,
    end: IntArray,
    child: IntArray,
    least_row: IntArray,
    low: FloatArray,
    high: FloatArray,
    best: FloatArray,
    best_rows: IntArray,
) -> None:  # pragma: no cover - compiled
    """As :func:`several` by Gower's sum: mismatches of codes, then shares of ``widths``.

    Queries ``spans[c]``..``spans[c + 1]`` have the codes ``span_codes[c]`` in common, and with the tree
    ``span_classes[c]`` (-1: none). All points of tree g have the codes ``class_codes[:, g]``, so their
    mismatches are counted once, and trees whose mismatches alone are too many are never entered. After the
    classes' trees there is one of all points; ``class_at`` has every point's class.
    """
    waiting = np.empty(DEEPEST, dtype=np.int64)
    bounds = np.empty(DEEPEST, dtype=np.float64)
    columns, classes = class_codes.shape
    counts, none = np.empty(classes, dtype=np.int32), np.empty(0, dtype=np.int32)
    crowds = np.empty(columns + 1, dtype=np.int64)
    for span in range(spans.shape[0] - 1):
        counted = False
        for query in range(spans[span], spans[span + 1]):
            found, found_rows = best[query], best_rows[query]
            if span_classes[span] >= 0:
                collect(
                    queries[query], span_classes[span], 0, none, class_at, widths, floors[query], slack,
                    points, rows, start, end, child, least_row, low, high,
                    found, found_rows, waiting, bounds,
                )  # fmt: skip
            if (found[0] + found[0] * slack if slack >= 0.0 else found[-1]) < 1.0:
                continue
            if not counted:
                counted = True
                counts[:] = 0
                for column in range(columns):
                    code = span_codes[span, column]
                    for group in range(classes):
                        counts[group] += np.int32(class_codes[column, group] != code)
                crowds[:] = 0
                for group in range(classes):
                    crowds[counts[group]] += 1
            for level in range(1, columns + 1):
                if (found[0] + found[0] * slack if slack >= 0.0 else found[-1]) < level:
                    break
                if crowds[level] > CROWD:
                    collect(
                        queries[query], classes, level, counts, class_at, widths, floors[query], slack,
                        points, rows, start, end, child, least_row, low, high,
                        found, found_rows, waiting, bounds,
                    )  # fmt: skip
                    break
                for group in range(classes if crowds[level] > 0 else 0):
                    if counts[group] == level:
                        collect(
                            queries[query], group, level, none, class_at, widths, floors[query], slack,
                            points, rows, start, end, child, least_row, low, high,
                            found, found_rows, waiting, bounds,
                        )  # fmt: skip
