"""The compiled loops that plant search trees."""

from anoncup.geometry.arrays import FloatArray, IntArray
from anoncup.geometry.kernels.compilation import compiled


@compiled
def halve(
    points: FloatArray, rows: IntArray, start: int, end: int, column: int
) -> int:  # pragma: no cover - compiled
    """Exchange points, and their rows, until none of the first half is larger in the column than the others.

    Returns where the second half begins. The pivots' places are as good as random, whatever the points are.
    """
    middle, first, last, draw = (start + end) // 2, start, end - 1, 1
    while first < last:
        draw = draw * 1103515245 + 12345 & 0x7FFFFFFF
        pivot = points[first + (draw >> 8) % (last - first + 1), column]
        left, right = first, last
        while left <= right:
            while points[left, column] < pivot:
                left += 1
            while points[right, column] > pivot:
                right -= 1
            if left <= right:
                for each in range(points.shape[1]):
                    points[left, each], points[right, each] = points[right, each], points[left, each]
                rows[left], rows[right] = rows[right], rows[left]
                left += 1
                right -= 1
        if middle <= right:
            last = right
        elif middle >= left:
            first = left
        else:
            break
    return middle


@compiled
def grow(  # noqa: PLR0917 - compiled code takes plain arrays by position
    trees: int,
    leaf: int,
    points: FloatArray,
    rows: IntArray,
    start: IntArray,
    end: IntArray,
    child: IntArray,
    least_row: IntArray,
    low: FloatArray,
    high: FloatArray,
    waiting: IntArray,
) -> int:  # pragma: no cover - compiled
    """Halve the points of every tree along their widest side until at most ``leaf`` are left; in place.

    Fills the nodes of a ``Forest`` and returns how many there are; ``start`` and ``end`` of the roots are
    given, and ``child`` is all -1. ``waiting`` is room for nodes yet to be described.
    """
    columns = points.shape[1]
    nodes = trees
    for tree in range(trees):
        waiting[0] = tree
        size = 1
        while size > 0:
            size -= 1
            node = waiting[size]
            begin, stop = start[node], end[node]
            least_row[node] = rows[begin]
            for column in range(columns):
                low[node, column] = high[node, column] = points[begin, column]
            for place in range(begin + 1, stop):
                least_row[node] = min(least_row[node], rows[place])
                for column in range(columns):
                    low[node, column] = min(low[node, column], points[place, column])
                    high[node, column] = max(high[node, column], points[place, column])
            if stop - begin <= leaf or columns == 0:
                continue
            widest = columns - 1
            for column in range(columns - 1):
                if high[node, column] - low[node, column] > high[node, widest] - low[node, widest]:
                    widest = column
            child[node] = nodes
            start[nodes], end[nodes + 1] = begin, stop
            end[nodes] = start[nodes + 1] = halve(points, rows, begin, stop, widest)
            waiting[size], waiting[size + 1] = nodes, nodes + 1
            size += 2
            nodes += 2
    return nodes
