"""Kernels that find the k nearest rows by Gower's distance."""

import numpy as np
import numpy.typing as npt

from anoncup.geometry.arrays import FloatArray, IntArray
from anoncup.geometry.kernels.compilation import compile_loop

CodeArray = npt.NDArray[np.int32]
ByteArray = npt.NDArray[np.uint8]
_WordArray = npt.NDArray[np.uint64]
STACK_SIZE = 128
"""Stack size of a search. It is sufficient for 64 levels, and a tree halves its points at every level."""
_MAX_LISTED_CLASSES = 200
"""Maximum number of classes, all with the same number of mismatches, that are searched one by one."""
BLOCK_SIZE = 64
"""Number of classes examined together, as a word of eight bytes, each the minimum of eight classes."""
LINES_PER_BLOCK = 8
_WORD_TEST_LIMIT = 128
LOW_BITS, HIGH_BITS, NO_BITS = np.uint64(0x0101010101010101), np.uint64(0x8080808080808080), np.uint64(0)
EXCLUDED = 255
"""Stands for the number of mismatches of a class that is not searched. Real numbers are smaller."""


@compile_loop
def column_distance(gap: float, width: float) -> float:  # pragma: no cover - compiled
    """Return the share of one column in a distance: the gap divided by ``width``, at most 1."""
    return min(gap / width, 1.0)


@compile_loop
def insert_neighbour(
    best: FloatArray, best_rows: IntArray, distance: float, row: int
) -> None:  # pragma: no cover - compiled
    """Insert a row into a list that is sorted by distance, then row. The last entry drops out."""
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

    It is ``base_distance`` plus the :func:`column_distance` to the box in every column. Because rounding is
    monotone in each subtraction, division and sum, no computed distance is below this bound.
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
    first_child: IntArray,
    smallest_row: IntArray,
    low: FloatArray,
    high: FloatArray,
    best: FloatArray,
    best_rows: IntArray,
    stack: IntArray,
    stack_bounds: FloatArray,
) -> None:  # pragma: no cover - compiled
    """Merge the nearest points of some trees into ``best`` and ``best_rows``, sorted by distance, then row.

    The distance is the number of mismatches with ``codes`` plus the :func:`column_distance` of every column,
    added in column order; it is at least ``floor``.

    If ``counts`` is empty, a tree contains a single class with the number of its root. Otherwise ``counts``
    are the mismatches of the classes, and classes are skipped that have fewer than ``level`` mismatches or
    are marked ``EXCLUDED``.
    """
    last = best.shape[0] - 1
    limit = best[last]
    for root in roots:
        base = level if counts.shape[0] > 0 else count_code_mismatches(codes, class_codes, root)
        stack[0], stack_bounds[0] = root, float(base)
        size = 1
        while size > 0:
            size -= 1
            node = stack[size]
            lower_bound = max(stack_bounds[size], floor)
            if lower_bound > limit or (lower_bound == limit and smallest_row[node] > best_rows[last]):
                continue
            if first_child[node] >= 0:
                near_child = first_child[node]
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
                    total = float(count_code_mismatches(codes, class_codes, class_index))
                for column in range(point.shape[0]):
                    total += column_distance(abs(points[point_index, column] - point[column]), widths[column])
                    if total > limit:
                        break
                total = max(total, floor)
                row = rows[point_index]
                if total > limit or (total == limit and row > best_rows[last]):
                    continue
                insert_neighbour(best, best_rows, total, row)
                limit = best[last]


@compile_loop
def count_code_mismatches(
    codes: CodeArray, class_codes: CodeArray, class_index: int
) -> int:  # pragma: no cover - compiled
    count = 0
    for column in range(codes.shape[0]):
        count += codes[column] != class_codes[class_index, column]
    return count


@compile_loop
def count_byte_mismatches(  # noqa: PLR0917 - compiled code takes plain arrays by position
    codes: CodeArray,
    class_bytes: ByteArray,
    classes: int,
    excluded_class: int,
    counts: ByteArray,
    block_minima: ByteArray,
) -> int:  # pragma: no cover - compiled
    """Fill ``counts`` with each class's number of mismatches in the lowest bytes of ``codes``.

    Returns the minimum. Equal codes have equal bytes, so a class has at least as many mismatches as its
    bytes. ``block_minima[i]`` is the minimum of the counts ``i``, ``i + len(block_minima)`` and so on, so
    that it can be computed by comparing ``LINES_PER_BLOCK`` whole arrays.
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
    mismatch_count: int, counts: ByteArray, block_minima: ByteArray, words: _WordArray, class_list: IntArray
) -> int:  # pragma: no cover - compiled
    """List the classes with exactly ``count`` mismatches until the list is full; return its length.

    ``words`` are ``block_minima`` in groups of eight bytes. To test all eight at once, a number up to 128 is
    subtracted from each byte: a byte is less than the number only if this sets its highest bit.
    """
    listed_count = 0
    next_bytes = np.uint64(mismatch_count + 1) * LOW_BITS
    for word in range(words.shape[0]):
        minima_word = words[word]
        if (
            mismatch_count < _WORD_TEST_LIMIT
            and ((minima_word - next_bytes) & ~minima_word & HIGH_BITS) == NO_BITS
        ):
            continue
        for position in range(8 * word, 8 * word + 8):
            if block_minima[position] > mismatch_count:
                continue
            for class_index in range(position, counts.shape[0], block_minima.shape[0]):
                if counts[class_index] == mismatch_count:
                    class_list[listed_count] = class_index
                    listed_count += 1
                    if listed_count == class_list.shape[0]:
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
    first_child: IntArray,
    smallest_row: IntArray,
    low: FloatArray,
    high: FloatArray,
    best: FloatArray,
    best_rows: IntArray,
) -> None:  # pragma: no cover - compiled
    """Fill each query's line of ``best`` and ``best_rows`` with the nearest points.

    The distance is Gower's sum: the number of different codes plus the differences divided by ``widths``.

    - Queries ``spans[c]`` to ``spans[c + 1]`` have the codes ``span_codes[c]``. ``span_classes[c]`` is the
      tree of the points with the same codes, or -1.
    - All points of tree g have the codes ``class_codes[g]``. ``class_bytes[:, g]`` are the lowest bytes of
      these codes, padded to whole blocks. The last tree contains all points.
    - ``class_ids``: the class of every point.

    Mismatches of bytes are counted once for all queries of a span. Trees that have too many of them are never
    searched.
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
                    widths, floors[query], points, rows, start, end, first_child, smallest_row, low, high,
                    query_best, query_best_rows, stack, stack_bounds,
                )  # fmt: skip
            if query_best[-1] < 1.0:
                continue
            if fewest < 0:
                fewest = count_byte_mismatches(
                    codes, class_bytes, classes, span_classes[span], counts, block_minima
                )
            for level in range(fewest, class_bytes.shape[0] + 1):
                if query_best[-1] < level:
                    break
                listed_count = list_classes(level, counts, block_minima, words, class_list)
                if listed_count > _MAX_LISTED_CLASSES:
                    search_trees(
                        queries[query], all_points_tree, level, codes, class_codes, counts, class_ids, widths,
                        floors[query], points, rows, start, end, first_child, smallest_row, low, high,
                        query_best, query_best_rows, stack, stack_bounds,
                    )  # fmt: skip
                    break
                search_trees(
                    queries[query], class_list[:listed_count], level, codes, class_codes, no_counts,
                    class_ids, widths,
                    floors[query], points, rows, start, end, first_child, smallest_row, low, high,
                    query_best, query_best_rows, stack, stack_bounds,
                )  # fmt: skip
