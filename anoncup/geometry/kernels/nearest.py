"""Kernel that finds the nearest of a few candidates."""

import numpy as np

from anoncup.geometry.arrays import FloatArray, IntArray
from anoncup.geometry.kernels.compilation import compile_loop


@compile_loop
def select_nearest(
    points: FloatArray, queries: FloatArray, candidates: IntArray, sizes: IntArray, count: int
) -> tuple[IntArray, FloatArray]:  # pragma: no cover - compiled
    """Return the ``count`` nearest candidates of each query and their squared distances, both (q, count).

    The candidates of a query are rows of ``points`` in ascending order; ``sizes`` (q,) are their numbers.
    Squares are added in column order, and ties go to the lower row. Lines are padded with -1 and infinity.
    """
    rows = np.full((len(queries), count), -1)
    squares = np.full((len(queries), count), np.inf)
    first = 0
    for query in range(len(queries)):
        for row in candidates[first : first + sizes[query]]:
            square = 0.0
            for column in range(points.shape[1]):
                gap = points[row, column] - queries[query, column]
                square += gap * gap
            place = count
            while place > 0 and square < squares[query, place - 1]:
                if place < count:
                    rows[query, place] = rows[query, place - 1]
                    squares[query, place] = squares[query, place - 1]
                place -= 1
            if place < count:
                rows[query, place], squares[query, place] = row, square
        first += sizes[query]
    return rows, squares
