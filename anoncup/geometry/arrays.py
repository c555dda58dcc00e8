"""The array types the rules are written in."""

from typing import TYPE_CHECKING, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from scipy.sparse import csr_array

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
Cells = TypeVar("Cells", IntArray, FloatArray)
TextArray = npt.NDArray[np.uint8]
BoolArray = npt.NDArray[np.bool_]
SparseCounts: TypeAlias = "csr_array[np.int64, tuple[int, int]]"
SparseWeights: TypeAlias = "csr_array[np.float64, tuple[int, int]]"
Sparse: TypeAlias = "csr_array[np.int64, tuple[int, int]] | csr_array[np.float64, tuple[int, int]]"

FEW = 100_000
"""Rows of which everything is kept that is asked for twice; of more, memory is scarcer than time."""


def columns_at(cells: Cells, places: list[int]) -> Cells:
    """The columns at the places; where these follow one another, nothing is copied."""
    first = places[0] if places else 0
    follow = places == list(range(first, first + len(places)))
    return cells[:, first : first + len(places)] if follow else cells[:, places]


def ordered(first: FloatArray | IntArray, *others: FloatArray | IntArray) -> IntArray:
    """Rows in ascending order of the first key, equal ones by the next, and so on, then by row, (n,).

    As ``np.lexsort`` of the keys in reverse; but a key orders only the rows that all keys before leave equal.
    """
    order = np.argsort(first)
    starts = _changes(first[order])
    for key in (*others, np.arange(len(first))):
        tied = np.flatnonzero(~(starts & np.append(starts[1:], True)))
        if not len(tied):
            break
        rows, run = order[tied], np.cumsum(starts[tied])
        values, places = key[rows], np.arange(len(rows))
        ranks = np.empty_like(places)
        ranks[np.argsort(values)] = places
        again = np.argsort(run * len(rows) + ranks)  # numbers sort several times faster than pairs of them
        order[tied], values = rows[again], values[again]
        starts[tied] |= _changes(values)
    return order


def _changes(values: FloatArray | IntArray) -> BoolArray:
    """Where a value differs from the one before; the first does."""
    return np.concatenate((np.ones(min(len(values), 1), dtype=bool), values[1:] != values[:-1]))
