"""Kernels of nearest-neighbour search in trees whose nodes have eight boxes or eight points each.

The eight cells of a column are side by side in memory, so that one instruction processes all eight boxes or
points. Each sum is still computed in the order of the columns.
"""

import numpy as np

from anoncup.geometry.arrays import BoolArray, FloatArray, IntArray
from anoncup.geometry.kernels.compilation import compile_loop
from anoncup.geometry.kernels.knn_gower import insert_neighbour

LANES = 8
MAX_SCANNED_ROWS = 32
"""Maximum number of rows of a group that is scanned instead of getting a tree."""
_SCATTER_SAMPLE = 32
"""Minimum number of rows from which the variance of columns is estimated; at most twice as many are used."""
_STACK_SIZE = 128
"""Stack size of a search. Each level adds at most seven entries, and eight levels hold 134 million rows."""
NO_ROW = np.iinfo(np.int64).max


@compile_loop
def partition_members(  # noqa: PLR0917 - compiled code takes plain arrays by position
    points: FloatArray, members: IntArray, keys: FloatArray, begin: int, end: int, middle: int, column: int
) -> None:  # pragma: no cover - compiled
    """Partition members so that those before ``middle`` are not larger in the column than the others.

    The pivots are pseudo-random, so that no order of the points makes this slow. ``keys`` (n,) is scratch
    space.
    """
    for position in range(begin, end):
        keys[position] = points[members[position], column]
    first, last, random_state = begin, end - 1, 1
    while first < last:
        random_state = random_state * 1103515245 + 12345 & 0x7FFFFFFF
        pivot = keys[first + (random_state >> 8) % (last - first + 1)]
        low_index, high_index = first, last
        while low_index <= high_index:
            while keys[low_index] < pivot:
                low_index += 1
            while keys[high_index] > pivot:
                high_index -= 1
            if low_index <= high_index:
                keys[low_index], keys[high_index] = keys[high_index], keys[low_index]
                members[low_index], members[high_index] = members[high_index], members[low_index]
                low_index += 1
                high_index -= 1
        if middle <= high_index:
            last = high_index
        elif middle >= low_index:
            first = low_index
        else:
            break


@compile_loop
def find_most_scattered_column(
    points: FloatArray, members: IntArray, begin: int, end: int, sums: FloatArray
) -> int:  # pragma: no cover - compiled
    """Return the column with the largest variance in a sample of members.

    The variance depends less on outliers than the range. ``sums`` (2, columns) is scratch space.
    """
    step = (end - begin) // (2 * _SCATTER_SAMPLE) + 1
    count = (end - begin + step - 1) // step
    sums[:] = 0.0
    first = members[begin]
    for position in range(begin + step, end, step):
        row = members[position]
        for column in range(points.shape[1]):
            difference = points[row, column] - points[first, column]
            sums[0, column] += difference
            sums[1, column] += difference * difference
    best_column, largest_scatter = 0, -1.0
    for column in range(points.shape[1]):
        scatter = sums[1, column] - sums[0, column] * (sums[0, column] / count)
        if scatter > largest_scatter:
            best_column, largest_scatter = column, scatter
    return best_column


@compile_loop
def order_members(  # noqa: PLR0917 - compiled code takes plain arrays by position
    points: FloatArray, members: IntArray, keys: FloatArray, sums: FloatArray, begin: int, end: int
) -> None:  # pragma: no cover - compiled
    """Order members so that each run of 8, of 64 and so on from the beginning contains nearby points."""
    begins, ends = np.empty(_STACK_SIZE, dtype=np.int64), np.empty(_STACK_SIZE, dtype=np.int64)
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
        column = find_most_scattered_column(points, members, begin, end, sums)
        partition_members(points, members, keys, begin, end, middle, column)
        begins[size], ends[size] = begin, middle
        begins[size + 1], ends[size + 1] = middle, end
        size += 2


@compile_loop
def fill_box(  # noqa: PLR0917 - compiled code takes plain arrays by position
    lower_bounds: FloatArray,
    upper_bounds: FloatArray,
    rows: IntArray,
    child: int,
    low: FloatArray,
    high: FloatArray,
    node: int,
    lane: int,
) -> int:  # pragma: no cover - compiled
    """Fill one lane of a node with the bounding box of a child, and return the child's smallest row.

    The child's lanes are boxes from ``lower_bounds`` to ``upper_bounds``. For a block of points, both are the
    same array. Lanes without a row are skipped.
    """
    smallest_row = NO_ROW
    for child_lane in range(LANES):
        smallest_row = min(smallest_row, rows[child, child_lane])
    for column in range(lower_bounds.shape[1] // LANES):
        first_cell = column * LANES
        smallest, largest = np.inf, -np.inf
        for child_lane in range(first_cell, first_cell + LANES):
            if rows[child, child_lane - first_cell] < NO_ROW:
                smallest = (
                    lower_bounds[child, child_lane]
                    if lower_bounds[child, child_lane] < smallest
                    else smallest
                )
                largest = (
                    upper_bounds[child, child_lane] if upper_bounds[child, child_lane] > largest else largest
                )
        low[node, first_cell + lane], high[node, first_cell + lane] = smallest, largest
    return smallest_row


@compile_loop
def build_octrees(  # noqa: PLR0917 - compiled code takes plain arrays by position
    points: FloatArray,
    members: IntArray,
    starts: IntArray,
    roots: IntArray,
    blocks: FloatArray,
    block_rows: IntArray,
    first_child: IntArray,
    is_leaf: BoolArray,
    low: FloatArray,
    high: FloatArray,
    smallest_rows: IntArray,
) -> None:  # pragma: no cover - compiled
    """Fill the blocks and nodes of a ``NeighbourIndex`` and order ``members`` accordingly.

    ``roots`` is all -1, ``block_rows`` and ``smallest_rows`` are all NO_ROW, the cells of blocks are
    infinite.
    """
    keys, sums = np.empty(members.shape[0]), np.empty((2, points.shape[1]))
    block, node = 0, 0
    for group in range(roots.shape[0]):
        begin, end = starts[group], starts[group + 1]
        if end - begin <= MAX_SCANNED_ROWS:
            continue
        order_members(points, members, keys, sums, begin, end)
        for position in range(end - begin):
            row, row_block = members[begin + position], block + position // LANES
            block_rows[row_block, position % LANES] = row
            for column in range(points.shape[1]):
                blocks[row_block, column * LANES + position % LANES] = points[row, column]
        child, child_count, is_block_level = block, (end - begin + LANES - 1) // LANES, True
        block += child_count
        while is_block_level or child_count > 1:
            first_node = node
            for child_index in range(child_count):
                node, lane = first_node + child_index // LANES, child_index % LANES
                if is_block_level:
                    smallest_row = fill_box(
                        blocks, blocks, block_rows, child + child_index, low, high, node, lane
                    )
                else:
                    smallest_row = fill_box(
                        low, high, smallest_rows, child + child_index, low, high, node, lane
                    )
                smallest_rows[node, lane] = smallest_row
                if lane == 0:
                    first_child[node], is_leaf[node] = child + child_index, is_block_level
            child, child_count, is_block_level = first_node, node + 1 - first_node, False
            node += 1
        roots[group] = child


@compile_loop
def add_box_distances(  # noqa: PLR0917 - compiled code takes plain arrays by position
    low: FloatArray, high: FloatArray, node: int, query: FloatArray, absolute: bool, totals: FloatArray
) -> None:  # pragma: no cover - compiled
    """Write the distances to the eight boxes of a node to the last eight ``totals``; the first eight are 0.

    Each cell is added to the total eight cells before it, so that every lane gets a sum in column order.
    Because rounding is monotone in every subtraction, square and sum, no point is computed to be nearer than
    its box.
    """
    for cell in range(query.shape[0]):
        below, above = low[node, cell] - query[cell], query[cell] - high[node, cell]
        gap = below if below > above else above
        gap = gap if gap > 0.0 else 0.0
        totals[cell + LANES] = totals[cell] + gap * (1.0 if absolute else gap)


@compile_loop
def add_point_distances(
    blocks: FloatArray, block: int, query: FloatArray, absolute: bool, totals: FloatArray
) -> None:  # pragma: no cover - compiled
    """Write the distances to the eight points of a block to ``totals``, as :func:`add_box_distances` does."""
    for cell in range(query.shape[0]):
        gap = abs(blocks[block, cell] - query[cell])
        totals[cell + LANES] = totals[cell] + gap * (1.0 if absolute else gap)


@compile_loop
def scan_small_groups(  # noqa: PLR0917 - compiled code takes plain arrays by position
    queries: FloatArray,
    group_ids: IntArray,
    points: FloatArray,
    members: IntArray,
    starts: IntArray,
    roots: IntArray,
    absolute: bool,
    excluded_rows: IntArray,
    nearest: IntArray,
) -> None:  # pragma: no cover - compiled
    """Fill ``nearest`` as :func:`search_nearest` does, for groups without a tree.

    If a group has a single row, it is the answer without computing the distance, unless it is excluded.
    """
    for query in range(queries.shape[0]):
        group = group_ids[query]
        if group < 0 or roots[group] >= 0:
            continue
        begin, end = starts[group], starts[group + 1]
        best, best_row = np.inf, NO_ROW
        if end - begin == 1:
            best_row = members[begin] if members[begin] != excluded_rows[query] else NO_ROW
            begin = end
        for position in range(begin, end):
            row = members[position]
            distance = 0.0
            for column in range(queries.shape[1]):
                difference = abs(points[row, column] - queries[query, column])
                distance += difference * (1.0 if absolute else difference)
            if (distance < best or (distance == best and row < best_row)) and row != excluded_rows[query]:
                best, best_row = distance, row
        nearest[query] = best_row if best_row < NO_ROW else -1


@compile_loop
def search_nearest(  # noqa: PLR0917 - compiled code takes plain arrays by position
    queries: FloatArray,
    group_ids: IntArray,
    roots: IntArray,
    blocks: FloatArray,
    block_rows: IntArray,
    first_child: IntArray,
    is_leaf: BoolArray,
    low: FloatArray,
    high: FloatArray,
    smallest_rows: IntArray,
    absolute: bool,
    excluded_rows: IntArray,
    nearest: IntArray,
) -> None:  # pragma: no cover - compiled
    """Fill ``nearest`` (q,) with the nearest row of the same group for each query, for groups with a tree.

    The distance is the sum of squared differences, or of absolute ones if ``absolute``, in column order. Ties
    go to the lower row: skipped nodes contain neither a nearer point nor an equally near one with a lower
    row. Row ``excluded_rows[i]`` (-1: none) is not an answer to query i; without another row, the result is
    -1.
    """
    stack, stack_rows = np.empty(_STACK_SIZE, dtype=np.int64), np.empty(_STACK_SIZE, dtype=np.int64)
    stack_bounds = np.empty(_STACK_SIZE, dtype=np.float64)
    query_cells = np.empty(queries.shape[1] * LANES)
    totals = np.zeros(query_cells.shape[0] + LANES)
    sums = totals[query_cells.shape[0] :]
    for query in range(queries.shape[0]):
        group = group_ids[query]
        if group < 0 or roots[group] < 0:
            continue
        best, best_row = np.inf, NO_ROW
        stack[0], stack_bounds[0], stack_rows[0] = roots[group], 0.0, -1
        size = 1
        for cell in range(query_cells.shape[0]):
            query_cells[cell] = queries[query, cell // LANES]
        while size > 0:
            size -= 1
            if stack_bounds[size] > best or (stack_bounds[size] == best and stack_rows[size] > best_row):
                continue
            node = stack[size]
            if node < 0:  # a block
                block = -1 - node
                add_point_distances(blocks, block, query_cells, absolute, totals)
                for lane in range(LANES):
                    distance, row = sums[lane], block_rows[block, lane]
                    is_nearer = distance < best or (distance == best and row < best_row)
                    if is_nearer and row != excluded_rows[query]:
                        best, best_row = distance, row
                continue
            add_box_distances(low, high, node, query_cells, absolute, totals)
            bottom = size
            for lane in range(LANES):
                distance_bound, smallest_row = sums[lane], smallest_rows[node, lane]
                if distance_bound > best or (distance_bound == best and smallest_row >= best_row):
                    continue
                position = size
                while position > bottom and (
                    stack_bounds[position - 1] < distance_bound
                    or (
                        stack_bounds[position - 1] == distance_bound
                        and stack_rows[position - 1] < smallest_row
                    )
                ):
                    stack[position], stack_rows[position] = stack[position - 1], stack_rows[position - 1]
                    stack_bounds[position] = stack_bounds[position - 1]
                    position -= 1
                child = first_child[node] + lane
                stack[position] = -1 - child if is_leaf[node] else child
                stack_bounds[position] = distance_bound
                stack_rows[position] = smallest_row
                size += 1
        nearest[query] = best_row if best_row < NO_ROW else -1


@compile_loop
def search_k_nearest(  # noqa: PLR0912, PLR0917 - compiled code takes plain arrays by position
    queries: FloatArray,
    group_ids: IntArray,
    points: FloatArray,
    members: IntArray,
    starts: IntArray,
    roots: IntArray,
    blocks: FloatArray,
    block_rows: IntArray,
    first_child: IntArray,
    is_leaf: BoolArray,
    low: FloatArray,
    high: FloatArray,
    smallest_rows: IntArray,
    best: FloatArray,
    best_rows: IntArray,
) -> None:  # pragma: no cover - compiled
    """Fill each query's line of ``best`` and ``best_rows`` with the nearest rows of its group.

    Distances are sums of squared differences, as in :func:`search_nearest`. Lines are sorted by distance,
    then row. Entries beyond the size of the group stay infinite, with NO_ROW. Group -1 has no rows.
    """
    stack, stack_rows = np.empty(_STACK_SIZE, dtype=np.int64), np.empty(_STACK_SIZE, dtype=np.int64)
    stack_bounds = np.empty(_STACK_SIZE, dtype=np.float64)
    query_cells = np.empty(queries.shape[1] * LANES)
    totals = np.zeros(query_cells.shape[0] + LANES)
    sums = totals[query_cells.shape[0] :]
    last = best.shape[1] - 1
    for query in range(queries.shape[0]):
        group, query_best, query_best_rows = group_ids[query], best[query], best_rows[query]
        if group < 0:
            continue
        size = 0
        if roots[group] < 0:
            for row in members[starts[group] : starts[group + 1]]:
                distance = 0.0
                for column in range(queries.shape[1]):
                    difference = points[row, column] - queries[query, column]
                    distance += difference * difference
                if distance < query_best[last] or (
                    distance == query_best[last] and row < query_best_rows[last]
                ):
                    insert_neighbour(query_best, query_best_rows, distance, row)
        else:
            stack[0], stack_bounds[0], stack_rows[0] = roots[group], 0.0, -1
            size = 1
            for cell in range(query_cells.shape[0]):
                query_cells[cell] = queries[query, cell // LANES]
        while size > 0:
            size -= 1
            if stack_bounds[size] > query_best[last] or (
                stack_bounds[size] == query_best[last] and stack_rows[size] > query_best_rows[last]
            ):
                continue
            node = stack[size]
            if node < 0:  # a block
                block = -1 - node
                add_point_distances(blocks, block, query_cells, False, totals)
                for lane in range(LANES):
                    distance, row = sums[lane], block_rows[block, lane]
                    is_nearer = distance < query_best[last] or (
                        distance == query_best[last] and row < query_best_rows[last]
                    )
                    if is_nearer and row < NO_ROW:
                        insert_neighbour(query_best, query_best_rows, distance, row)
                continue
            add_box_distances(low, high, node, query_cells, False, totals)
            bottom = size
            for lane in range(LANES):
                distance_bound, smallest_row = sums[lane], smallest_rows[node, lane]
                if distance_bound > query_best[last] or (
                    distance_bound == query_best[last] and smallest_row >= query_best_rows[last]
                ):
                    continue
                position = size
                while position > bottom and (
                    stack_bounds[position - 1] < distance_bound
                    or (
                        stack_bounds[position - 1] == distance_bound
                        and stack_rows[position - 1] < smallest_row
                    )
                ):
                    stack[position], stack_rows[position] = stack[position - 1], stack_rows[position - 1]
                    stack_bounds[position] = stack_bounds[position - 1]
                    position -= 1
                child = first_child[node] + lane
                stack[position] = -1 - child if is_leaf[node] else child
                stack_bounds[position] = distance_bound
                stack_rows[position] = smallest_row
                size += 1
