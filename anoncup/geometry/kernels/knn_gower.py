"""The compiled loops behind the several nearest rows by Gower's distance."""

import numpy as np
import numpy.typing as npt

from anoncup.geometry.arrays import FloatArray, IntArray
from anoncup.geometry.kernels.compilation import compiled

Codes = npt.NDArray[np.int32]
Bytes = npt.NDArray[np.uint8]
Words = npt.NDArray[np.uint64]
DEEPEST = 128
"""Entries of a search's stack. A tree halves its points at every level, so 64 levels are out of reach."""
CROWD = 200
"""Classes with the same number of mismatches that are worth entering one by one."""
BLOCK = 64
"""Classes that are looked at together: a word of eight bytes, each the least of eight."""
LINES = 8
HALF = 128
LOW_BITS, HIGH_BITS, NO_BITS = np.uint64(0x0101010101010101), np.uint64(0x8080808080808080), np.uint64(0)
ENTERED = 255
"""In the place of the mismatches of a class that is not to be entered any more; none has as many in bytes."""


@compiled
def part(gap: float, width: float) -> float:  # pragma: no cover - compiled
    """What one column adds to a distance: the gap's share of ``width``, at most 1."""
    return min(gap / width, 1.0)


@compiled
def insert(
    best: FloatArray, best_rows: IntArray, distance: float, row: int
) -> None:  # pragma: no cover - compiled
    """Put a row in its place in a list sorted by distance, then row; the last one falls out."""
    slot = best.shape[0] - 1
    while slot > 0 and (
        distance < best[slot - 1] or (distance == best[slot - 1] and row < best_rows[slot - 1])
    ):
        best[slot], best_rows[slot] = best[slot - 1], best_rows[slot - 1]
        slot -= 1
    best[slot], best_rows[slot] = distance, row


@compiled
def box_total(
    point: FloatArray, low: FloatArray, high: FloatArray, base: int, widths: FloatArray
) -> float:  # pragma: no cover - compiled
    """Smallest distance any point of a box can have: ``base`` plus the :func:`part` of every column.

    Rounding is monotone in each subtraction, part and sum, so no computed distance is below this bound.
    """
    total = float(base)
    for column in range(point.shape[0]):
        gap = max(low[column] - point[column], point[column] - high[column], 0.0)
        total += part(gap, widths[column])
    return total


@compiled
def collect(  # noqa: PLR0917 - compiled code takes plain arrays by position
    point: FloatArray,
    roots: IntArray,
    level: int,
    codes: Codes,
    class_codes: Codes,
    counts: Bytes,
    class_at: IntArray,
    widths: FloatArray,
    floor: float,
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
    """Bring the nearest points of some trees into ``best`` and ``best_rows``, sorted by distance, then row.

    Distance: mismatches with ``codes``, then the :func:`part` of every column, in column order; below
    ``floor`` it counts as ``floor``. Without ``counts`` a tree has one class, of its root's number. With
    them classes that count less than ``level``, which is the tree's base, or are ``ENTERED``, are left out.
    """
    last = best.shape[0] - 1
    limit = best[last]
    for root in roots:
        base = level if counts.shape[0] > 0 else mismatches(codes, class_codes, root)
        waiting[0], bounds[0] = root, float(base)
        size = 1
        while size > 0:
            size -= 1
            node = waiting[size]
            bound = max(bounds[size], floor)
            if bound > limit or (bound == limit and least_row[node] > best_rows[last]):
                continue
            if child[node] >= 0:
                near = child[node]
                far = near + 1
                near_bound = box_total(point, low[near], high[near], base, widths)
                far_bound = box_total(point, low[far], high[far], base, widths)
                if far_bound < near_bound or (far_bound == near_bound and least_row[far] < least_row[near]):
                    near, far = far, near
                    near_bound, far_bound = far_bound, near_bound
                waiting[size], bounds[size] = far, far_bound
                waiting[size + 1], bounds[size + 1] = near, near_bound
                size += 2
                continue
            for place in range(start[node], end[node]):
                total = float(base)
                if counts.shape[0] > 0:
                    group = class_at[place]
                    if counts[group] < base or counts[group] > limit or counts[group] == ENTERED:
                        continue
                    total = float(mismatches(codes, class_codes, group))
                for column in range(point.shape[0]):
                    total += part(abs(points[place, column] - point[column]), widths[column])
                    if total > limit:
                        break
                total = max(total, floor)
                row = rows[place]
                if total > limit or (total == limit and row > best_rows[last]):
                    continue
                insert(best, best_rows, total, row)
                limit = best[last]


@compiled
def mismatches(codes: Codes, class_codes: Codes, group: int) -> int:  # pragma: no cover - compiled
    count = 0
    for column in range(codes.shape[0]):
        count += codes[column] != class_codes[group, column]
    return count


@compiled
def count_mismatches(  # noqa: PLR0917 - compiled code takes plain arrays by position
    codes: Codes, class_bytes: Bytes, classes: int, entered: int, counts: Bytes, least: Bytes
) -> int:  # pragma: no cover - compiled
    """Fill ``counts`` with the mismatches in bytes of ``codes``; returns the fewest.

    Bytes are the lowest of the codes: no class has fewer mismatches than that. ``least[i]`` are the fewest of
    the counts ``i``, ``i + len(least)`` and so on, so that ``LINES`` of them are compared as wholes.
    """
    counts[:] = 0
    for column in range(class_bytes.shape[0]):
        code = np.uint8(codes[column] & 255)
        for group in range(counts.shape[0]):
            counts[group] += np.uint8(class_bytes[column, group] != code)
    counts[classes:] = ENTERED
    if entered >= 0:
        counts[entered] = ENTERED
    apart, fewest = least.shape[0], ENTERED
    least[:] = ENTERED
    for line in range(LINES):
        some = counts[line * apart : (line + 1) * apart]
        for at in range(apart):
            least[at] = some[at] if some[at] < least[at] else least[at]
    for at in range(apart):
        fewest = min(fewest, int(least[at]))
    return fewest


@compiled
def classes_with(
    count: int, counts: Bytes, least: Bytes, words: Words, listed: IntArray
) -> int:  # pragma: no cover - compiled
    """List the classes with so many mismatches until the list is full; returns how many it has then.

    ``words`` are ``least`` in eights. One of eight bytes is less than a number up to 128 if, the number taken
    from each, a highest bit is set that was not.
    """
    found = 0
    above = np.uint64(count + 1) * LOW_BITS
    for word in range(words.shape[0]):
        fewest = words[word]
        if count < HALF and ((fewest - above) & ~fewest & HIGH_BITS) == NO_BITS:
            continue
        for at in range(8 * word, 8 * word + 8):
            if least[at] > count:
                continue
            for group in range(at, counts.shape[0], least.shape[0]):
                if counts[group] == count:
                    listed[found] = group
                    found += 1
                    if found == listed.shape[0]:
                        return found
    return found


@compiled
def gower_several(  # noqa: PLR0917 - compiled code takes plain arrays by position
    queries: FloatArray,
    spans: IntArray,
    span_codes: Codes,
    span_classes: IntArray,
    class_codes: Codes,
    class_bytes: Bytes,
    widths: FloatArray,
    floors: FloatArray,
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
    """Fill each query's line of ``best`` and ``best_rows`` with the nearest points.

    Distance: Gower's sum, mismatches of codes, then shares of ``widths``. Queries ``spans[c]``.. ``spans[c
    + 1]`` have the codes ``span_codes[c]`` in common, and with the tree ``span_classes[c]`` (-1: none). All
    points of tree g have the codes ``class_codes[g]``, whose lowest bytes are ``class_bytes[:, g]``, filled
    up to whole blocks: mismatches in these are counted once for all queries, and trees whose mismatches
    alone are too many are never entered. After the classes' trees there is one of all points; ``class_at``
    has every point's class.
    """
    waiting = np.empty(DEEPEST, dtype=np.int64)
    bounds = np.empty(DEEPEST, dtype=np.float64)
    classes, padded = class_codes.shape[0], class_bytes.shape[1]
    words, counts = np.empty(padded // BLOCK, dtype=np.uint64), np.empty(padded, dtype=np.uint8)
    least, listed = words.view(np.uint8), np.empty(CROWD + 1, dtype=np.int64)
    none, whole = np.empty(0, dtype=np.uint8), np.full(1, classes)
    for span in range(spans.shape[0] - 1):
        codes, fewest = span_codes[span], -1
        for query in range(spans[span], spans[span + 1]):
            found, found_rows = best[query], best_rows[query]
            if span_classes[span] >= 0:
                collect(
                    queries[query], span_classes[span : span + 1], 0, codes, class_codes, none, class_at,
                    widths, floors[query], points, rows, start, end, child, least_row, low, high,
                    found, found_rows, waiting, bounds,
                )  # fmt: skip
            if found[-1] < 1.0:
                continue
            if fewest < 0:
                fewest = count_mismatches(codes, class_bytes, classes, span_classes[span], counts, least)
            for level in range(fewest, class_bytes.shape[0] + 1):
                if found[-1] < level:
                    break
                near = classes_with(level, counts, least, words, listed)
                if near > CROWD:
                    collect(
                        queries[query], whole, level, codes, class_codes, counts, class_at, widths,
                        floors[query], points, rows, start, end, child, least_row, low, high,
                        found, found_rows, waiting, bounds,
                    )  # fmt: skip
                    break
                collect(
                    queries[query], listed[:near], level, codes, class_codes, none, class_at, widths,
                    floors[query], points, rows, start, end, child, least_row, low, high,
                    found, found_rows, waiting, bounds,
                )  # fmt: skip
