"""Nearest rows of the original X for each row of the release Y, by Euclidean distance in raw units.

C(y) is the equivalence class of X with the quasi-identifiers of y. Ties go to the lower row of X.
"""

import numpy as np

from anoncup.geometry.arrays import BoolArray, FloatArray, IntArray
from anoncup.geometry.nearest_neighbours import find_k_nearest_rows, find_nearest_rows
from anoncup.tracks.memo import memoize
from anoncup.tracks.microdata.distances import NEAREST_COUNT
from anoncup.tracks.microdata.release import MicrodataTarget


@memoize
def nearest_in_class(
    target: MicrodataTarget, quasi_identifiers: tuple[str, ...], sensitive: tuple[str, ...]
) -> IntArray:
    """Return the nearest row of C(y) for each row y of Y, (n',); -1 if C(y) is empty."""
    index = target.original.index_classes(quasi_identifiers, sensitive)
    return find_nearest_rows(index, target.select(sensitive), target.match_classes(quasi_identifiers))


def nearest(
    target: MicrodataTarget, sensitive: tuple[str, ...], *, selected: BoolArray | None = None
) -> IntArray:
    """Return the nearest of all rows of X for the selected rows of Y (default: all), (selected,)."""
    if selected is not None and selected.all():
        return list_nearest(target, sensitive)[0][:, 0]
    queries = target.select(sensitive) if selected is None else target.select(sensitive)[selected]
    whole_table = np.zeros(len(queries), dtype=np.int64)
    return find_nearest_rows(target.original.index_classes((), sensitive), queries, whole_table)


@memoize
def list_nearest(target: MicrodataTarget, sensitive: tuple[str, ...]) -> tuple[IntArray, FloatArray]:
    """Return the ``NEAREST_COUNT`` nearest rows of X for each row of Y, and their squared distances.

    Both are (n', NEAREST_COUNT), nearest first, padded with -1 and infinity.
    """
    whole_table = np.zeros(target.rows, dtype=np.int64)
    return find_k_nearest_rows(
        target.original.index_classes((), sensitive), target.select(sensitive), whole_table, NEAREST_COUNT
    )
