"""Distances between rows: Gower's, for tables with discrete and numeric columns."""

import numpy as np
import numpy.typing as npt

from app.scoring import kernels
from app.scoring.arrays import FloatArray, IntArray
from app.scoring.magnitude import headroom
from app.scoring.release import PreparedOriginal, Release, Target, once


def differences(release: Release) -> FloatArray:
    """|x - y| / range of X for every sensitive cell of Y and its source, (n', |S|), unclipped.

    A column constant in X: 0 where equal, else 1. Beyond float64's range: infinite.
    """
    x, y = release.aligned, release.target.values
    return once(release.kept, ("differences",), lambda: scaled_differences(x, y, ranges(release.original)))


def ranges(original: PreparedOriginal) -> tuple[IntArray, FloatArray]:
    """Each sensitive column's exponent of :func:`headroom` and its max - min under it."""

    def measure() -> tuple[IntArray, FloatArray]:
        rooms = np.array([headroom(column) for column in original.values.T], dtype=np.int64)
        scaled = np.ldexp(original.values, rooms)
        return rooms, scaled.max(axis=0) - scaled.min(axis=0)

    return once(original.kept, ("ranges",), measure)


def scaled_differences(x: FloatArray, y: FloatArray, of: tuple[IntArray, FloatArray]) -> FloatArray:
    """|x - y| / range, columns last; see :func:`differences`. The arrays broadcast."""
    rooms, widths = of
    with np.errstate(over="ignore"):
        gaps = np.abs(np.ldexp(x, rooms) - np.ldexp(y, rooms))
        shares = gaps / np.where(widths > 0, widths, 1.0)
    apart: FloatArray = np.where(widths > 0, shares, (x != y).astype(np.float64))
    return apart


def gower_rows(release: Release) -> FloatArray:
    """Gower's distance of every row of Y to its source, (n',), in [0, 1].

    Mean over all columns of 0/1 mismatch (quasi-identifiers) and |x - y| / range of X capped at 1
    (sensitive).
    """
    codes = release.original.codes[release.source]
    return _gower(codes != release.target.codes, differences(release))


def gower_block(target: Target, first: int, last: int) -> FloatArray:
    """Gower's distances of rows first..last-1 of Y to all rows of X, (last - first, n)."""
    original = target.original
    mismatches = target.codes[first:last, None, :] != original.codes
    return _gower(
        mismatches, scaled_differences(original.values, target.values[first:last, None, :], ranges(original))
    )


def gower_nearest_other(original: PreparedOriginal) -> FloatArray:
    """For every row of X Gower's distance to its nearest other row, (n,); a row alone has none: infinite."""
    rooms, widths = ranges(original)
    scaled = np.ldexp(original.values, rooms)
    units = (scaled - scaled.min(axis=0)) / np.where(widths > 0, widths, 1.0)
    order = np.lexsort(original.codes.T) if original.codes.shape[1] else np.arange(original.rows)
    nearest = np.empty(original.rows)
    nearest[order] = kernels.nearest_other(original.codes[order], np.ascontiguousarray(units[order]))
    means: FloatArray = nearest / max(original.codes.shape[1] + units.shape[1], 1)
    return means


def _gower(mismatches: npt.NDArray[np.bool_], shares: FloatArray) -> FloatArray:
    total = mismatches.sum(axis=-1) + np.minimum(shares, 1.0).sum(axis=-1)
    means: FloatArray = total / max(mismatches.shape[-1] + shares.shape[-1], 1)
    return means
