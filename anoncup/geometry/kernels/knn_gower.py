"""Kernels of the k nearest rows by Gower's distance."""

import numpy as np
import numpy.typing as npt

from anoncup.geometry.arrays import FloatArray, IntArray
from anoncup.geometry.kernels.compilation import compile_loop

CodeArray = npt.NDArray[np.int32]
ByteArray = npt.NDArray[np.uint8]
_WordArray = npt.NDArray[np.uint64]
STACK_SIZE = 128
"""Stack size of a search. A tree halves its points at every level, so 64 levels are out of reach."""
_MAX_LISTED_CLASSES = 200
"""Maximum number of classes with the same number of mismatches that are searched one by one."""
BLOCK_SIZE = 64
"""Number of classes examined together: a word of eight bytes, each the minimum of eight classes."""
LINES_PER_BLOCK = 8
_BYTE_HALF = 128
LOW_BITS, HIGH_BITS, NO_BITS = np.uint64(0x0101010101010101), np.uint64(0x8080808080808080), np.uint64(0)
EXCLUDED = 255
"""Marks a class that is not searched, in place of its number of mismatches, which is always smaller."""


@compile_loop
def column_distance(gap: float, width: float) -> float:  # pragma: no cover - compiled
    """Return what one column adds to a distance: the gap divided by ``width``, at most 1."""
    return min(gap / width, 1.0)


@compile_loop
def insert(
    best: FloatArray, best_rows: IntArray, distance: float, row: int
) -> None:  # pragma: no cover - compiled
    """Insert a row into a list sorted by distance, then row; the last entry drops out."""
    slot = best.shape[0] - 1
    while slot > 0 and (
        distance < best[slot - 1] or (distance == best[slot - 1] and row < best_rows[slot - 1])
    ):
        best[slot], best_rows[slot] = best[slot - 1], best_rows[slot - 1]
        slot -= 1
    best[slot], best_rows[slot] = distance, row


@compile_loop
def box_distance(
    point: FloatArray, low: FloatArray, high: FloatArray, base_distance: int, widths: FloatArray
) -> float:  # pragma: no cover - compiled
    """Return a lower bound on the distance to the points of a box.

    It is ``base_distance`` plus the :func:`column_distance` to the box in every column. Rounding is monotone
    in each subtraction, share and sum, so no computed distance lies below this bound.
    """
    total = float(base_distance)
    for column in range(point.shape[0]):
        gap = max(low[column] - point[column], point[column] - high[column], 0.0)
        total += column_distance(gap, widths[column])
    return total


@compile_loop
def search_trees(  # noqa: PLR0917 - compiled code takes plain arrays by position
    point: FloatArray,
    roots: IntArray,
    level: int,
    codes: CodeArray,
    class_codes: CodeArray,
    counts: ByteArray,
    class_ids: IntArray,
    widths: FloatArray,
    floor: float,
    points: FloatArray,
    rows: IntArray,
    start: IntArray,
    end: IntArray,
    child: IntArray,
    smallest_row: IntArray,
    low: FloatArray,
    high: FloatArray,
    best: FloatArray,
    best_rows: IntArray,
    stack: IntArray,
    stack_bounds: FloatArray,
) -> None:  # pragma: no cover - compiled
    """Merge the nearest points of some trees into ``best`` and ``best_rows``, sorted by distance, then row.

    The distance is the number of mismatches with ``codes``, then the :func:`column_distance` of every column,
    in column order; it is at least ``floor``. Without ``counts`` a tree contains one class, numbered as its
    root. With ``counts``, classes with fewer mismatches than ``level``, the tree's base distance, or marked
    ``EXCLUDED`` are skipped.
    """
    last = best.shape[0] - 1
    limit = best[last]
    for root in roots:
        base = level if counts.shape[0] > 0 else mismatches(codes, class_codes, root)
        stack[0], stack_bounds[0] = root, float(base)
        size = 1
        while size > 0:
            size -= 1
            node = stack[size]
            lower_bound = max(stack_bounds[size], floor)
            if lower_bound > limit or (lower_bound == limit and smallest_row[node] > best_rows[last]):
                continue
            if child[node] >= 0:
                near_child = child[node]
                far_child = near_child + 1
                near_bound = box_distance(point, low[near_child], high[near_child], base, widths)
                far_bound = box_distance(point, low[far_child], high[far_child], base, widths)
                if far_bound < near_bound or (
                    far_bound == near_bound and smallest_row[far_child] < smallest_row[near_child]
                ):
                    near_child, far_child = far_child, near_child
                    near_bound, far_bound = far_bound, near_bound
                stack[size], stack_bounds[size] = far_child, far_bound
                stack[size + 1], stack_bounds[size + 1] = near_child, near_bound
                size += 2
                continue
            for point_index in range(start[node], end[node]):
                total = float(base)
                if counts.shape[0] > 0:
                    class_index = class_ids[point_index]
                    if (
                        counts[class_index] < base
                        or counts[class_index] > limit
                        or counts[class_index] == EXCLUDED
                    ):
                        continue
                    total = float(mismatches(codes, class_codes, class_index))
                for column in range(point.shape[0]):
                    total += column_distance(abs(points[point_index, column] - point[column]), widths[column])
                    if total > limit:
                        break
                total = max(total, floor)
                row = rows[point_index]
                if total > limit or (total == limit and row > best_rows[last]):
                    continue
                insert(best, best_rows, total, row)
                limit = best[last]


@compile_loop
def mismatches(
    codes: CodeArray, class_codes: CodeArray, class_index: int
) -> int:  # pragma: no cover - compiled
    count = 0
    for column in range(codes.shape[0]):
        count += codes[column] != class_codes[class_index, column]
    return count


@compile_loop
def count_mismatches(  # noqa: PLR0917 - compiled code takes plain arrays by position
    codes: CodeArray,
    class_bytes: ByteArray,
    classes: int,
    excluded_class: int,
    counts: ByteArray,
    block_minima: ByteArray,
) -> int:  # pragma: no cover - compiled
    """Fill ``counts`` with the mismatches in the lowest bytes of ``codes``; return the minimum.

    A class never has fewer mismatches than its bytes have. ``block_minima[i]`` is the minimum of the counts
    ``i``, ``i + len(block_minima)`` and so on, so that whole arrays are compared, ``LINES_PER_BLOCK`` of
    them.
    """
    counts[:] = 0
    for column in range(class_bytes.shape[0]):
        code = np.uint8(codes[column] & 255)
        for class_index in range(counts.shape[0]):
            counts[class_index] += np.uint8(class_bytes[column, class_index] != code)
    counts[classes:] = EXCLUDED
    if excluded_class >= 0:
        counts[excluded_class] = EXCLUDED
    stride, fewest = block_minima.shape[0], EXCLUDED
    block_minima[:] = EXCLUDED
    for line in range(LINES_PER_BLOCK):
        line_counts = counts[line * stride : (line + 1) * stride]
        for position in range(stride):
            block_minima[position] = (
                line_counts[position]
                if line_counts[position] < block_minima[position]
                else block_minima[position]
            )
    for position in range(stride):
        fewest = min(fewest, int(block_minima[position]))
    return fewest


@compile_loop
def list_classes(
    count: int, counts: ByteArray, block_minima: ByteArray, words: _WordArray, listed: IntArray
) -> int:  # pragma: no cover - compiled
    """List the classes with exactly this number of mismatches until the list is full; return its length.

    ``words`` are ``block_minima`` in groups of eight bytes. One of the bytes is less than a number up to 128
    if subtracting that number from each byte sets a highest bit that was not set.
    """
    listed_count = 0
    next_bytes = np.uint64(count + 1) * LOW_BITS
    for word in range(words.shape[0]):
        minima_word = words[word]
        if count < _BYTE_HALF and ((minima_word - next_bytes) & ~minima_word & HIGH_BITS) == NO_BITS:
            continue
        for position in range(8 * word, 8 * word + 8):
            if block_minima[position] > count:
                continue
            for class_index in range(position, counts.shape[0], block_minima.shape[0]):
                if counts[class_index] == count:
                    listed[listed_count] = class_index
                    listed_count += 1
                    if listed_count == listed.shape[0]:
                        return listed_count
    return listed_count


@compile_loop
def search_k_nearest_gower(  # noqa: PLR0917 - compiled code takes plain arrays by position
    queries: FloatArray,
    spans: IntArray,
    span_codes: CodeArray,
    span_classes: IntArray,
    class_codes: CodeArray,
    class_bytes: ByteArray,
    widths: FloatArray,
    floors: FloatArray,
    class_ids: IntArray,
    points: FloatArray,
    rows: IntArray,
    start: IntArray,
    end: IntArray,
    child: IntArray,
    smallest_row: IntArray,
    low: FloatArray,
    high: FloatArray,
    best: FloatArray,
    best_rows: IntArray,
) -> None:  # pragma: no cover - compiled
    """Fill each query's line of ``best`` and ``best_rows`` with the nearest points.

    The distance is Gower's sum: mismatches of codes, then differences divided by ``widths``. Queries
    ``spans[c]`` to ``spans[c + 1]`` share the codes ``span_codes[c]`` and, if there is one, the tree
    ``span_classes[c]`` (-1: none). All points of tree g have the codes ``class_codes[g]``, with the lowest
    bytes ``class_bytes[:, g]``, padded to whole blocks. Byte mismatches are counted once for all queries of a
    span, and trees whose mismatches alone are too many are never searched. The last tree contains all points;
    ``class_ids`` holds the class of every point.
    """
    stack = np.empty(STACK_SIZE, dtype=np.int64)
    stack_bounds = np.empty(STACK_SIZE, dtype=np.float64)
    classes, padded = class_codes.shape[0], class_bytes.shape[1]
    words, counts = np.empty(padded // BLOCK_SIZE, dtype=np.uint64), np.empty(padded, dtype=np.uint8)
    block_minima, class_list = words.view(np.uint8), np.empty(_MAX_LISTED_CLASSES + 1, dtype=np.int64)
    no_counts, all_points_tree = np.empty(0, dtype=np.uint8), np.full(1, classes)
    for span in range(spans.shape[0] - 1):
        codes, fewest = span_codes[span], -1
        for query in range(spans[span], spans[span + 1]):
            query_best, query_best_rows = best[query], best_rows[query]
            if span_classes[span] >= 0:
                search_trees(
                    queries[query], span_classes[span : span + 1], 0, codes, class_codes, no_counts,
                    class_ids,
                    widths, floors[query], points, rows, start, end, child, smallest_row, low, high,
                    query_best, query_best_rows, stack, stack_bounds,
                )  # fmt: skip
            if query_best[-1] < 1.0:
                continue
            if fewest < 0:
                fewest = count_mismatches(
                    codes, class_bytes, classes, span_classes[span], counts, block_minima
                )
            for level in range(fewest, class_bytes.shape[0] + 1):
                if query_best[-1] < level:
                    break
                listed_count = list_classes(level, counts, block_minima, words, class_list)
                if listed_count > _MAX_LISTED_CLASSES:
                    search_trees(
                        queries[query], all_points_tree, level, codes, class_codes, counts, class_ids, widths,
                        floors[query], points, rows, start, end, child, smallest_row, low, high,
                        query_best, query_best_rows, stack, stack_bounds,
                    )  # fmt: skip
                    break
                search_trees(
                    queries[query], class_list[:listed_count], level, codes, class_codes, no_counts,
                    class_ids, widths,
                    floors[query], points, rows, start, end, child, smallest_row, low, high,
                    query_best, query_best_rows, stack, stack_bounds,
                )  # fmt: skip
