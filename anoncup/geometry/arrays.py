"""Array types of the library, and two operations on arrays."""

from typing import TYPE_CHECKING, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from scipy.sparse import csr_array

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
NumericArray = TypeVar("NumericArray", IntArray, FloatArray)
TextArray = npt.NDArray[np.uint8]
BoolArray = npt.NDArray[np.bool_]
SparseCounts: TypeAlias = "csr_array[np.int64, tuple[int, int]]"
SparseWeights: TypeAlias = "csr_array[np.float64, tuple[int, int]]"
Sparse: TypeAlias = "csr_array[np.int64, tuple[int, int]] | csr_array[np.float64, tuple[int, int]]"

CACHED_ROWS = 100_000
"""Maximum number of rows for which intermediate results are cached; above it, memory is scarcer than time."""


def slice_columns(table: NumericArray, columns: list[int]) -> NumericArray:
    """Return some columns of a table; a view without copying if they are contiguous."""
    first = columns[0] if columns else 0
    is_contiguous = columns == list(range(first, first + len(columns)))
    return table[:, first : first + len(columns)] if is_contiguous else table[:, columns]


def sort_lexically(first: FloatArray | IntArray, *later_keys: FloatArray | IntArray) -> IntArray:
    """Return the row numbers (n,) sorted by the first key, ties by the later keys in turn, then by row.

    The result is that of ``np.lexsort`` with the keys reversed, but later keys are only sorted among rows
    that are equal in all earlier keys.
    """
    order = np.argsort(first)
    starts = _mark_run_starts(first[order])
    for key in (*later_keys, np.arange(len(first))):
        tied_positions = np.flatnonzero(~(starts & np.append(starts[1:], True)))
        if not len(tied_positions):
            break
        rows, run_numbers = order[tied_positions], np.cumsum(starts[tied_positions])
        values, positions = key[rows], np.arange(len(rows))
        ranks = np.empty_like(positions)
        ranks[np.argsort(values)] = positions
        # Sorting one number per row is several times faster than sorting pairs of numbers.
        tied_order = np.argsort(run_numbers * len(rows) + ranks)
        order[tied_positions], values = rows[tied_order], values[tied_order]
        starts[tied_positions] |= _mark_run_starts(values)
    return order


def _mark_run_starts(values: FloatArray | IntArray) -> BoolArray:
    """Return a mask of the first value and of all values that differ from their predecessor."""
    return np.concatenate((np.ones(min(len(values), 1), dtype=bool), values[1:] != values[:-1]))
