"""Distances between all rows of the original X, and of a release Y to the nearest other rows of X.

They are computed in blocks to limit memory. Euclidean distances are over the sensitive columns, in raw units.
"""

from collections.abc import Callable, Iterator

import numpy as np

from anoncup.geometry.arrays import FloatArray, IntArray
from anoncup.tracks.microdata.distances import compute_gower_block, gower_to_source
from anoncup.tracks.microdata.release import (
    MicrodataOriginal,
    MicrodataTarget,
    ScoredMicrodata,
    build_release,
    build_target,
)

MAX_PAIRS_PER_BLOCK = 2**20
"""Largest number of pairs of rows that are compared at a time."""

_ComputeBlock = Callable[[MicrodataTarget, int, int], FloatArray]


def gower_matrix(original: MicrodataOriginal) -> FloatArray:
    """Return Gower's distance between all rows of X, (n, n)."""
    return _build_matrix(original, compute_gower_block)


def gower_to_others(release: ScoredMicrodata) -> FloatArray:
    """Return Gower's distance of every row of Y to the nearest row of X other than its source, (n',).

    It is infinite if there is no other row.
    """
    return _min_distance_to_others(release.target, release.answer, compute_gower_block)


def euclidean_to_source(release: ScoredMicrodata) -> FloatArray:
    """Return the Euclidean distance of every row of Y to its source, (n',)."""
    return _compute_norms(release.target.values - release.original.values[release.answer])


def euclidean_matrix(original: MicrodataOriginal) -> FloatArray:
    """Return the Euclidean distance between all rows of X, (n, n)."""
    return _build_matrix(original, _compute_euclidean_block)


def euclidean_to_others(release: ScoredMicrodata) -> FloatArray:
    """Return the Euclidean distance of every row of Y to the nearest row of X other than its source, (n',).

    It is infinite if there is no other row.
    """
    return _min_distance_to_others(release.target, release.answer, _compute_euclidean_block)


def euclidean_nearest_other(original: MicrodataOriginal) -> FloatArray:
    """Return the Euclidean distance of each row of X to the nearest other one, (n,); infinite if none."""
    return _min_distance_to_others(
        _identity_target(original), np.arange(original.rows), _compute_euclidean_block
    )


def _compute_euclidean_block(target: MicrodataTarget, first: int, last: int) -> FloatArray:
    """Return Euclidean distances of rows first to last - 1 of Y to all rows of X, (last - first, n)."""
    return _compute_norms(target.values[first:last, None, :] - target.original.values)


def gower_pairs(original: MicrodataOriginal, rows: IntArray, other_rows: IntArray) -> FloatArray:
    """Return Gower's distance between ``rows[i]`` and ``other_rows[i]`` of X for every i."""
    table = original.table.iloc[other_rows].reset_index(drop=True)
    return gower_to_source(build_release(original, table, rows))


def euclidean_pairs(original: MicrodataOriginal, rows: IntArray, other_rows: IntArray) -> FloatArray:
    """Return the Euclidean distance between ``rows[i]`` and ``other_rows[i]`` of X for every i."""
    return _compute_norms(original.values[other_rows] - original.values[rows])


def _compute_norms(differences: FloatArray) -> FloatArray:
    """Return Euclidean norms along the last axis."""
    norms: FloatArray = np.sqrt((differences**2).sum(axis=-1))
    return norms


def _build_matrix(original: MicrodataOriginal, compute_block: _ComputeBlock) -> FloatArray:
    distances = np.empty((original.rows, original.rows))
    for rows, block_distances in _iter_blocks(_identity_target(original), compute_block):
        distances[rows] = block_distances
    return distances


def _min_distance_to_others(
    target: MicrodataTarget, source: IntArray, compute_block: _ComputeBlock
) -> FloatArray:
    distances = np.empty(target.rows)
    for rows, block_distances in _iter_blocks(target, compute_block):
        block_distances[np.arange(len(rows)), source[rows]] = np.inf
        distances[rows] = block_distances.min(axis=1)
    return distances


def _iter_blocks(
    target: MicrodataTarget, compute_block: _ComputeBlock
) -> Iterator[tuple[IntArray, FloatArray]]:
    step = max(MAX_PAIRS_PER_BLOCK // target.original.rows, 1)
    for first in range(0, target.rows, step):
        last = min(first + step, target.rows)
        yield np.arange(first, last), compute_block(target, first, last)


def _identity_target(original: MicrodataOriginal) -> MicrodataTarget:
    return build_target(original, original.table)
