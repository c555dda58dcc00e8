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
"""Up to this many rows, intermediate results are cached; with more rows, memory is scarcer than time."""


def select_columns(table: NumericArray, columns: list[int]) -> NumericArray:
    """Return the given columns, as a view without copying if they are contiguous."""
    first = columns[0] if columns else 0
    is_contiguous = columns == list(range(first, first + len(columns)))
    return table[:, first : first + len(columns)] if is_contiguous else table[:, columns]


def lexical_order(first: FloatArray | IntArray, *later_keys: FloatArray | IntArray) -> IntArray:
    """Sort rows by the first key, ties by the later keys in turn, then by row; return row numbers (n,).

    Equivalent to ``np.lexsort`` of the reversed keys, but a later key is only sorted among the rows that all
    earlier keys leave equal.
    """
    order = np.argsort(first)
    starts = _starts_of_runs(first[order])
    for key in (*later_keys, np.arange(len(first))):
        tied_positions = np.flatnonzero(~(starts & np.append(starts[1:], True)))
        if not len(tied_positions):
            break
        rows, run_numbers = order[tied_positions], np.cumsum(starts[tied_positions])
        values, positions = key[rows], np.arange(len(rows))
        ranks = np.empty_like(positions)
        ranks[np.argsort(values)] = positions
        # Sorting one number per row is several times faster than sorting pairs of them.
        tied_order = np.argsort(run_numbers * len(rows) + ranks)
        order[tied_positions], values = rows[tied_order], values[tied_order]
        starts[tied_positions] |= _starts_of_runs(values)
    return order


def _starts_of_runs(values: FloatArray | IntArray) -> BoolArray:
    """Return a mask of the values that differ from their predecessor; the first value counts as different."""
    return np.concatenate((np.ones(min(len(values), 1), dtype=bool), values[1:] != values[:-1]))
