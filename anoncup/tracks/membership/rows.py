"""Rows of two tables of the same columns beside one another."""

from collections.abc import Iterator

import numpy as np

from anoncup.geometry.arrays import BoolArray, FloatArray
from anoncup.geometry.kernels import gower as kernels
from anoncup.geometry.kernels.gower import SMALLEST
from anoncup.geometry.stable_sums import headroom
from anoncup.tracks.membership.tables import Table

BLOCK = 2**22
"""Distances that are in memory at a time."""
DECIMALS = 12
"""Of a distance: fewer than rounding touches, more than data tell."""


def among(rows: Table, others: Table) -> BoolArray:
    """Which rows equal one of the others on all columns, (n,)."""
    cells = [np.column_stack((table.numbers, table.codes)) for table in (rows, others)]
    group_of = np.unique(np.concatenate(cells), axis=0, return_inverse=True)[1].ravel()
    return np.isin(group_of[: rows.rows], group_of[rows.rows :])


def in_order(table: Table) -> Table:
    """The rows sorted, so that no sum over them depends on the order in which they came."""
    return table.at(np.lexsort((*table.codes.T, *table.numbers.T)))


def blocks(rows: int, others: int) -> Iterator[slice]:
    """Rows one after the other, so many that their distances to the others fit a block."""
    step = max(1, BLOCK // max(others, 1))
    for first in range(0, rows, step):
        yield slice(first, min(first + step, rows))


def gower(rows: Table, others: Table, candidates: Table) -> FloatArray:
    """Gower's distance of each row to each other, (n, others), in [0, 1], to twelve decimals: equal ones are
    equal, however their sums were rounded.

    The mean over columns of 0/1 mismatch (categorical) and |x - y| / range of the candidates, at most 1
    (numeric; a column constant there: 0 where equal, else 1). Gower, "A general coefficient of similarity and
    some of its properties", 1971.
    """
    rooms = np.array([headroom(column) for column in candidates.numbers.T], dtype=np.int64)
    scaled = np.ldexp(candidates.numbers, rooms)
    widths = scaled.max(axis=0) - scaled.min(axis=0)
    with np.errstate(over="ignore"):
        values, beside = np.ldexp(rows.numbers, rooms), np.ldexp(others.numbers, rooms)
    sums = kernels.gower_rows_apart(
        rows.codes.astype(np.int32, order="C"),
        np.ascontiguousarray(values),
        others.codes.T.astype(np.int32, order="C"),
        np.ascontiguousarray(beside.T),
        np.where(widths > 0, widths, SMALLEST),
    )
    means: FloatArray = np.round(sums / len(candidates.schema.columns), DECIMALS)
    return means
