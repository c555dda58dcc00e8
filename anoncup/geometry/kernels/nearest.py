"""Kernel that finds the nearest of a few candidates."""

import numpy as np

from anoncup.geometry.arrays import FloatArray, IntArray
from anoncup.geometry.kernels.compilation import compile_loop


@compile_loop
def select_nearest(  # noqa: PLR0917 - compiled code is called by name
    points: FloatArray,
    queries: FloatArray,
    candidates: IntArray,
    starts: IntArray,
    sizes: IntArray,
    count: int,
) -> tuple[IntArray, FloatArray]:  # pragma: no cover - compiled
    """Return the ``count`` nearest candidates of each query and their squared distances, both (q, count).

    The candidates of query i are rows of ``points``: ``sizes[i]`` ones from ``candidates[starts[i]]`` on.
    They may have any order, but it is faster if the nearest come first. Squares are added in column order,
    and ties go to the lower row. Lines are padded with -1 and infinity.
    """
    rows = np.full((len(queries), count), -1)
    squares = np.full((len(queries), count), np.inf)
    for query in range(len(queries)):
        for row in candidates[starts[query] : starts[query] + sizes[query]]:
            square = 0.0
            for column in range(points.shape[1]):
                gap = points[row, column] - queries[query, column]
                square += gap * gap
            place = count
            while place > 0 and (
                square < squares[query, place - 1]
                or (square == squares[query, place - 1] and row < rows[query, place - 1])
            ):
                if place < count:
                    rows[query, place] = rows[query, place - 1]
                    squares[query, place] = squares[query, place - 1]
                place -= 1
            if place < count:
                rows[query, place], squares[query, place] = row, square
    return rows, squares
