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
