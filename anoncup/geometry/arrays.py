"""Array types of the library."""

from typing import TYPE_CHECKING, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from scipy.sparse import csr_array

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
NumericArray = TypeVar("NumericArray", IntArray, FloatArray)
BoolArray = npt.NDArray[np.bool_]
SparseCounts: TypeAlias = "csr_array[np.int64, tuple[int, int]]"
SparseWeights: TypeAlias = "csr_array[np.float64, tuple[int, int]]"
Sparse: TypeAlias = "csr_array[np.int64, tuple[int, int]] | csr_array[np.float64, tuple[int, int]]"
