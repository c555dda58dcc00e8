"""Distances between all rows of a microdata table, or from a release to the nearest other originals.

They are computed in blocks to limit memory. Euclidean distances are over the sensitive columns, in raw units,
and limited to the largest float.
"""

from collections.abc import Callable, Iterator

import numpy as np

from anoncup.geometry.arrays import FloatArray, IntArray
from anoncup.geometry.stable_sums import LARGEST, headroom
from anoncup.tracks.microdata.distances import gower_block, gower_rows
from anoncup.tracks.microdata.release import (
    MicrodataRelease,
    MicrodataTarget,
    PreparedMicrodata,
    release_of,
    target_of,
)

MAX_PAIRS_PER_BLOCK = 2**20
"""Number of pairs of rows compared at a time."""

_DistanceBlock = Callable[[MicrodataTarget, int, int], FloatArray]


def gower_matrix(original: PreparedMicrodata) -> FloatArray:
    """Return Gower's distance between all rows of X, (n, n)."""
    return _build_matrix(original, gower_block)


def gower_to_others(release: MicrodataRelease) -> FloatArray:
    """Return Gower's distance of every row of Y to the nearest row of X but its source, (n',).

    It is infinite if there is no other row.
    """
    return _min_distance_to_others(release.target, release.source, gower_block)


def euclidean_rows(release: MicrodataRelease) -> FloatArray:
    """Return the Euclidean distance of every row of Y to its source, (n',)."""
    with np.errstate(over="ignore"):
        return _vector_lengths(release.target.values - release.source_values)


def euclidean_matrix(original: PreparedMicrodata) -> FloatArray:
    """Return the Euclidean distance between all rows of X, (n, n)."""
    return _build_matrix(original, _euclidean_block)


def euclidean_to_others(release: MicrodataRelease) -> FloatArray:
    """Return the Euclidean distance of every row of Y to the nearest row of X but its source, (n',).

    It is infinite if there is no other row.
    """
    return _min_distance_to_others(release.target, release.source, _euclidean_block)


def euclidean_nearest_other(original: PreparedMicrodata) -> FloatArray:
    """Return the Euclidean distance of every row of X to the nearest other one, (n,); none: infinite."""
    return _min_distance_to_others(_identity_target(original), np.arange(original.rows), _euclidean_block)


def _euclidean_block(target: MicrodataTarget, first: int, last: int) -> FloatArray:
    """Return Euclidean distances of rows first..last-1 of Y to all rows of X, (last - first, n)."""
    with np.errstate(over="ignore"):
        return _vector_lengths(target.values[first:last, None, :] - target.original.values)


def gower_pairs(original: PreparedMicrodata, rows: IntArray, other_rows: IntArray) -> FloatArray:
    """Return Gower's distances of the rows of X in ``rows`` and ``other_rows``, pair by pair."""
    table = original.table.iloc[other_rows].reset_index(drop=True)
    return gower_rows(release_of(original, table, rows))


def euclidean_pairs(original: PreparedMicrodata, rows: IntArray, other_rows: IntArray) -> FloatArray:
    """Return Euclidean distances of the rows of X in ``rows`` and ``other_rows``, pair by pair."""
    with np.errstate(over="ignore"):
        return _vector_lengths(original.values[other_rows] - original.values[rows])


def _vector_lengths(gaps: FloatArray) -> FloatArray:
    """Return the lengths of the vectors along the last axis; the differences may have overflowed."""
    gaps = np.clip(gaps, -LARGEST, LARGEST)
    exponent = headroom(gaps)
    with np.errstate(over="ignore"):
        lengths = np.ldexp(np.sqrt((np.ldexp(gaps, exponent) ** 2).sum(axis=-1)), -exponent)
    result: FloatArray = np.minimum(lengths, LARGEST)
    return result


def _build_matrix(original: PreparedMicrodata, compute_block: _DistanceBlock) -> FloatArray:
    distances = np.empty((original.rows, original.rows))
    for rows, block_distances in _iter_blocks(_identity_target(original), compute_block):
        distances[rows] = block_distances
    return distances


def _min_distance_to_others(
    target: MicrodataTarget, source: IntArray, compute_block: _DistanceBlock
) -> FloatArray:
    distances = np.empty(target.rows)
    for rows, block_distances in _iter_blocks(target, compute_block):
        block_distances[np.arange(len(rows)), source[rows]] = np.inf
        distances[rows] = block_distances.min(axis=1)
    return distances


def _iter_blocks(
    target: MicrodataTarget, compute_block: _DistanceBlock
) -> Iterator[tuple[IntArray, FloatArray]]:
    step = max(MAX_PAIRS_PER_BLOCK // target.original.rows, 1)
    for first in range(0, target.rows, step):
        last = min(first + step, target.rows)
        yield np.arange(first, last), compute_block(target, first, last)


def _identity_target(original: PreparedMicrodata) -> MicrodataTarget:
    return target_of(original, original.table)
