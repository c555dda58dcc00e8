"""The compiled loops behind the nearest row: trees whose nodes have eight boxes or eight points.

These lie column by column, eight cells of a column side by side, so that one instruction serves all of them;
each one's sum is still taken in column order.
"""

import numpy as np

from anoncup.geometry.arrays import BoolArray, FloatArray, IntArray
from anoncup.geometry.kernels.compilation import compiled
from anoncup.geometry.kernels.knn_gower import insert

LANES = 8
FEW = 32
"""Rows of a group that has no tree: they are looked at one after the other."""
SAMPLE = 32
"""Rows, or twice as many, that say where points are most scattered."""
DEEPEST = 128
"""Entries of a stack. Each level leaves seven at most, and eight levels hold 134 million rows."""
NO_ROW = np.iinfo(np.int64).max


@compiled
def part(  # noqa: PLR0917 - compiled code takes plain arrays by position
    points: FloatArray, members: IntArray, keys: FloatArray, begin: int, end: int, middle: int, column: int
) -> None:  # pragma: no cover - compiled
    """Exchange members until none before ``middle`` is larger in the column than those from there on.

    The pivots' places are as good as random, whatever the points are. ``keys`` (n,) is room for the column.
    """
    for place in range(begin, end):
        keys[place] = points[members[place], column]
    first, last, draw = begin, end - 1, 1
    while first < last:
        draw = draw * 1103515245 + 12345 & 0x7FFFFFFF
        pivot = keys[first + (draw >> 8) % (last - first + 1)]
        left, right = first, last
        while left <= right:
            while keys[left] < pivot:
                left += 1
            while keys[right] > pivot:
                right -= 1
            if left <= right:
                keys[left], keys[right] = keys[right], keys[left]
                members[left], members[right] = members[right], members[left]
                left += 1
                right -= 1
        if middle <= right:
            last = right
        elif middle >= left:
            first = left
        else:
            break


@compiled
def most_scattered(
    points: FloatArray, members: IntArray, begin: int, end: int, sums: FloatArray
) -> int:  # pragma: no cover - compiled
    """The column of the largest variance among some of the members. Ranges would follow outliers.

    ``sums`` (2, columns) is room for them.
    """
    step = (end - begin) // (2 * SAMPLE) + 1
    count = (end - begin + step - 1) // step
    sums[:] = 0.0
    first = members[begin]
    for place in range(begin + step, end, step):
        row = members[place]
        for column in range(points.shape[1]):
            gap = points[row, column] - points[first, column]
            sums[0, column] += gap
            sums[1, column] += gap * gap
    widest, largest = 0, -1.0
    for column in range(points.shape[1]):
        scatter = sums[1, column] - sums[0, column] * (sums[0, column] / count)
        if scatter > largest:
            widest, largest = column, scatter
    return widest


@compiled
def arrange(  # noqa: PLR0917 - compiled code takes plain arrays by position
    points: FloatArray, members: IntArray, keys: FloatArray, sums: FloatArray, begin: int, end: int
) -> None:  # pragma: no cover - compiled
    """Order members so that each eight, eight times eight and so on from the beginning lie close together."""
    begins, ends = np.empty(DEEPEST, dtype=np.int64), np.empty(DEEPEST, dtype=np.int64)
    begins[0], ends[0] = begin, end
    size = 1
    while size > 0:
        size -= 1
        begin, end = begins[size], ends[size]
        if end - begin <= LANES or points.shape[1] == 0:
            continue
        unit = LANES
        while unit * LANES < end - begin:
            unit *= LANES
        middle = begin + (end - begin + unit - 1) // unit // 2 * unit
        column = most_scattered(points, members, begin, end, sums)
        part(points, members, keys, begin, end, middle, column)
        begins[size], ends[size] = begin, middle
        begins[size + 1], ends[size + 1] = middle, end
        size += 2


@compiled
def enclose(  # noqa: PLR0917 - compiled code takes plain arrays by position
    cells: FloatArray,
    others: FloatArray,
    rows: IntArray,
    child: int,
    low: FloatArray,
    high: FloatArray,
    node: int,
    lane: int,
) -> int:  # pragma: no cover - compiled
    """Fill one lane of a node with the box around a child: around boxes, ``cells`` to ``others``, or points.

    Of points, both are the same. Returns the least row. Lanes without a row are left out.
    """
    least = NO_ROW
    for each in range(LANES):
        least = min(least, rows[child, each])
    for column in range(cells.shape[1] // LANES):
        at = column * LANES
        smallest, largest = np.inf, -np.inf
        for each in range(at, at + LANES):
            if rows[child, each - at] < NO_ROW:
                smallest = cells[child, each] if cells[child, each] < smallest else smallest
                largest = others[child, each] if others[child, each] > largest else largest
        low[node, at + lane], high[node, at + lane] = smallest, largest
    return least


@compiled
def grow_eights(  # noqa: PLR0917 - compiled code takes plain arrays by position
    points: FloatArray,
    members: IntArray,
    starts: IntArray,
    roots: IntArray,
    blocks: FloatArray,
    block_rows: IntArray,
    first: IntArray,
    lowest: BoolArray,
    low: FloatArray,
    high: FloatArray,
    least_rows: IntArray,
) -> None:  # pragma: no cover - compiled
    """Fill the blocks and nodes of an ``Index`` and order ``members`` by them.

    ``roots`` is all -1, ``block_rows`` and ``least_rows`` are all NO_ROW, the cells of blocks are infinite.
    """
    keys, sums = np.empty(members.shape[0]), np.empty((2, points.shape[1]))
    block, node = 0, 0
    for group in range(roots.shape[0]):
        begin, end = starts[group], starts[group + 1]
        if end - begin <= FEW:
            continue
        arrange(points, members, keys, sums, begin, end)
        for place in range(end - begin):
            row, at = members[begin + place], block + place // LANES
            block_rows[at, place % LANES] = row
            for column in range(points.shape[1]):
                blocks[at, column * LANES + place % LANES] = points[row, column]
        child, count, of_blocks = block, (end - begin + LANES - 1) // LANES, True
        block += count
        while of_blocks or count > 1:
            made = node
            for each in range(count):
                node, lane = made + each // LANES, each % LANES
                if of_blocks:
                    least = enclose(blocks, blocks, block_rows, child + each, low, high, node, lane)
                else:
                    least = enclose(low, high, least_rows, child + each, low, high, node, lane)
                least_rows[node, lane] = least
                if lane == 0:
                    first[node], lowest[node] = child + each, of_blocks
            child, count, of_blocks = made, node + 1 - made, False
            node += 1
        roots[group] = child


@compiled
def add_up(  # noqa: PLR0917 - compiled code takes plain arrays by position
    low: FloatArray, high: FloatArray, at: int, query: FloatArray, absolute: bool, totals: FloatArray
) -> None:  # pragma: no cover - compiled
    """Distances to the eight boxes of node ``at`` in the last eight of ``totals``, whose first eight are 0.

    Each cell adds what is eight cells before it: a sum in column order for each lane. Rounding is monotone in
    every subtraction, square and sum, so that no point of a box is computed to be nearer than the box.
    """
    for cell in range(query.shape[0]):
        below, above = low[at, cell] - query[cell], query[cell] - high[at, cell]
        gap = below if below > above else above
        gap = gap if gap > 0.0 else 0.0
        totals[cell + LANES] = totals[cell] + gap * (1.0 if absolute else gap)


@compiled
def add_up_points(
    blocks: FloatArray, at: int, query: FloatArray, absolute: bool, totals: FloatArray
) -> None:  # pragma: no cover - compiled
    """As :func:`add_up`, to the eight points of a block."""
    for cell in range(query.shape[0]):
        gap = abs(blocks[at, cell] - query[cell])
        totals[cell + LANES] = totals[cell] + gap * (1.0 if absolute else gap)


@compiled
def scan(  # noqa: PLR0917 - compiled code takes plain arrays by position
    queries: FloatArray,
    groups: IntArray,
    points: FloatArray,
    members: IntArray,
    starts: IntArray,
    roots: IntArray,
    absolute: bool,
    barred: IntArray,
    found: IntArray,
) -> None:  # pragma: no cover - compiled
    """Fill ``found`` as :func:`search` does, for groups without a tree. Who has no rival is not measured."""
    for query in range(queries.shape[0]):
        group = groups[query]
        if group < 0 or roots[group] >= 0:
            continue
        begin, end = starts[group], starts[group + 1]
        best, best_row = np.inf, NO_ROW
        if end - begin == 1:
            best_row = members[begin] if members[begin] != barred[query] else NO_ROW
            begin = end
        for place in range(begin, end):
            row = members[place]
            distance = 0.0
            for column in range(queries.shape[1]):
                gap = abs(points[row, column] - queries[query, column])
                distance += gap * (1.0 if absolute else gap)
            if (distance < best or (distance == best and row < best_row)) and row != barred[query]:
                best, best_row = distance, row
        found[query] = best_row if best_row < NO_ROW else -1


@compiled
def search(  # noqa: PLR0917 - compiled code takes plain arrays by position
    queries: FloatArray,
    groups: IntArray,
    roots: IntArray,
    blocks: FloatArray,
    block_rows: IntArray,
    first: IntArray,
    lowest: BoolArray,
    low: FloatArray,
    high: FloatArray,
    least_rows: IntArray,
    absolute: bool,
    barred: IntArray,
    found: IntArray,
) -> None:  # pragma: no cover - compiled
    """Fill ``found`` (q,) with the row of its group that is nearest to each query, for groups with a tree.

    Distance: squared differences (or, if ``absolute``, plain ones) summed in column order; equal distances
    go to the lower row. What is skipped can hold neither a nearer point nor an equally near one with a lower
    row. Row ``barred`` of a query (-1: none) is not an answer to it; no other row: -1.
    """
    waiting, leasts = np.empty(DEEPEST, dtype=np.int64), np.empty(DEEPEST, dtype=np.int64)
    bounds = np.empty(DEEPEST, dtype=np.float64)
    wide = np.empty(queries.shape[1] * LANES)
    totals = np.zeros(wide.shape[0] + LANES)
    sums = totals[wide.shape[0] :]
    for query in range(queries.shape[0]):
        group = groups[query]
        if group < 0 or roots[group] < 0:
            continue
        best, best_row = np.inf, NO_ROW
        waiting[0], bounds[0], leasts[0] = roots[group], 0.0, -1
        size = 1
        for cell in range(wide.shape[0]):
            wide[cell] = queries[query, cell // LANES]
        while size > 0:
            size -= 1
            if bounds[size] > best or (bounds[size] == best and leasts[size] > best_row):
                continue
            at = waiting[size]
            if at < 0:  # a block
                block = -1 - at
                add_up_points(blocks, block, wide, absolute, totals)
                for lane in range(LANES):
                    distance, row = sums[lane], block_rows[block, lane]
                    nearer = distance < best or (distance == best and row < best_row)
                    if nearer and row != barred[query]:
                        best, best_row = distance, row
                continue
            add_up(low, high, at, wide, absolute, totals)
            bottom = size
            for lane in range(LANES):
                bound, least = sums[lane], least_rows[at, lane]
                if bound > best or (bound == best and least >= best_row):
                    continue
                place = size
                while place > bottom and (
                    bounds[place - 1] < bound or (bounds[place - 1] == bound and leasts[place - 1] < least)
                ):
                    waiting[place], leasts[place] = waiting[place - 1], leasts[place - 1]
                    bounds[place] = bounds[place - 1]
                    place -= 1
                child = first[at] + lane
                waiting[place], bounds[place], leasts[place] = (
                    -1 - child if lowest[at] else child,
                    bound,
                    least,
                )
                size += 1
        found[query] = best_row if best_row < NO_ROW else -1


@compiled
def several(  # noqa: PLR0912, PLR0917 - compiled code takes plain arrays by position
    queries: FloatArray,
    groups: IntArray,
    points: FloatArray,
    members: IntArray,
    starts: IntArray,
    roots: IntArray,
    blocks: FloatArray,
    block_rows: IntArray,
    first: IntArray,
    lowest: BoolArray,
    low: FloatArray,
    high: FloatArray,
    least_rows: IntArray,
    best: FloatArray,
    best_rows: IntArray,
) -> None:  # pragma: no cover - compiled
    """Fill each query's line of ``best`` and ``best_rows`` with the nearest rows of its group; -1 has none.

    As :func:`search` by squared differences. Lines are sorted by distance, then row; what is left of them
    stays as it is: infinitely far, with a row that is none.
    """
    waiting, leasts = np.empty(DEEPEST, dtype=np.int64), np.empty(DEEPEST, dtype=np.int64)
    bounds = np.empty(DEEPEST, dtype=np.float64)
    wide = np.empty(queries.shape[1] * LANES)
    totals = np.zeros(wide.shape[0] + LANES)
    sums = totals[wide.shape[0] :]
    last = best.shape[1] - 1
    for query in range(queries.shape[0]):
        group, found, found_rows = groups[query], best[query], best_rows[query]
        if group < 0:
            continue
        size = 0
        if roots[group] < 0:
            for row in members[starts[group] : starts[group + 1]]:
                distance = 0.0
                for column in range(queries.shape[1]):
                    gap = points[row, column] - queries[query, column]
                    distance += gap * gap
                if distance < found[last] or (distance == found[last] and row < found_rows[last]):
                    insert(found, found_rows, distance, row)
        else:
            waiting[0], bounds[0], leasts[0] = roots[group], 0.0, -1
            size = 1
            for cell in range(wide.shape[0]):
                wide[cell] = queries[query, cell // LANES]
        while size > 0:
            size -= 1
            if bounds[size] > found[last] or (
                bounds[size] == found[last] and leasts[size] > found_rows[last]
            ):
                continue
            at = waiting[size]
            if at < 0:  # a block
                block = -1 - at
                add_up_points(blocks, block, wide, False, totals)
                for lane in range(LANES):
                    distance, row = sums[lane], block_rows[block, lane]
                    nearer = distance < found[last] or (distance == found[last] and row < found_rows[last])
                    if nearer and row < NO_ROW:
                        insert(found, found_rows, distance, row)
                continue
            add_up(low, high, at, wide, False, totals)
            bottom = size
            for lane in range(LANES):
                bound, least = sums[lane], least_rows[at, lane]
                if bound > found[last] or (bound == found[last] and least >= found_rows[last]):
                    continue
                place = size
                while place > bottom and (
                    bounds[place - 1] < bound or (bounds[place - 1] == bound and leasts[place - 1] < least)
                ):
                    waiting[place], leasts[place] = waiting[place - 1], leasts[place - 1]
                    bounds[place] = bounds[place - 1]
                    place -= 1
                child = first[at] + lane
                waiting[place], bounds[place], leasts[place] = (
                    -1 - child if lowest[at] else child,
                    bound,
                    least,
                )
                size += 1
