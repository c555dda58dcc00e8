"""Compare the rows of two tables with the same columns."""

from collections.abc import Iterator

import numpy as np

from anoncup.geometry.arrays import BoolArray, FloatArray
from anoncup.geometry.kernels.gower import gower_sums
from anoncup.tracks.membership.tables import TypedTable

MAX_DISTANCES_PER_BLOCK = 2**22
"""Largest number of distances held in memory at a time."""
_DISTANCE_DECIMALS = 12
"""Distances are rounded to this many decimals: coarser than rounding errors, finer than data."""


def find_equal_rows(query_table: TypedTable, other_table: TypedTable) -> BoolArray:
    """Return whether each row equals a row of the other table on all columns, (n,)."""
    cells = [np.column_stack((table.numbers, table.codes)) for table in (query_table, other_table)]
    group_of = np.unique(np.concatenate(cells), axis=0, return_inverse=True)[1].ravel()
    return np.isin(group_of[: query_table.rows], group_of[query_table.rows :])


def sort_rows(table: TypedTable) -> TypedTable:
    """Return the table with sorted rows, so that sums over them do not depend on their original order."""
    return table.select_rows(np.lexsort((*table.codes.T, *table.numbers.T)))


def iter_blocks(row_count: int, other_count: int) -> Iterator[slice]:
    """Yield slices of rows whose distances to the other rows fit into memory."""
    step = max(1, MAX_DISTANCES_PER_BLOCK // max(other_count, 1))
    for first in range(0, row_count, step):
        yield slice(first, min(first + step, row_count))


def gower_distances(query_table: TypedTable, other_table: TypedTable, candidates: TypedTable) -> FloatArray:
    """Return Gower's distance of each row to each row of the other table, (n, other rows), in [0, 1].

    The distance is the mean over the columns. A categorical column contributes 0 if the values are equal,
    else 1. A numeric column contributes |x - y| / range of the candidates, at most 1; if it is constant among
    the candidates, 0 for equal numbers and else 1. The result is rounded to twelve decimals, so that equal
    distances stay equal in any order of summation. Gower, "A general coefficient of similarity and some of
    its properties", 1971.
    """
    sums = gower_sums(
        codes=query_table.codes,
        values=query_table.numbers,
        other_codes=other_table.codes,
        other_values=other_table.numbers,
        widths=np.ptp(candidates.numbers, axis=0),
    )
    means: FloatArray = np.round(sums / len(candidates.schema.columns), _DISTANCE_DECIMALS)
    return means
