"""Distances between all rows of a microdata table, or from a release to everybody else's original.

In blocks, so that only what is asked for is ever held; Euclidean distances are over the sensitive columns, in
raw units, and at most the largest float.
"""

from collections.abc import Callable, Iterator

import numpy as np

from anoncup.geometry.arrays import FloatArray, IntArray
from anoncup.geometry.stable_sums import LARGEST, headroom
from anoncup.tracks.microdata.distances import gower_block, gower_rows
from anoncup.tracks.microdata.release import PreparedOriginal, Release, Target, release_of, target_of

BLOCK = 2**20
"""Pairs of rows that are compared at a time."""

Block = Callable[[Target, int, int], FloatArray]


def gower_matrix(original: PreparedOriginal) -> FloatArray:
    """Gower's distance between every two rows of X, (n, n)."""
    return _matrix(original, gower_block)


def gower_to_others(release: Release) -> FloatArray:
    """Gower's distance of every row of Y to the nearest row of X but its source, (n',); none: infinite."""
    return _to_others(release.target, release.source, gower_block)


def euclidean_rows(release: Release) -> FloatArray:
    """Euclidean distance of every row of Y to its source, (n',)."""
    with np.errstate(over="ignore"):
        return _lengths(release.target.values - release.aligned)


def euclidean_matrix(original: PreparedOriginal) -> FloatArray:
    """Euclidean distance between every two rows of X, (n, n)."""
    return _matrix(original, euclidean_block)


def euclidean_to_others(release: Release) -> FloatArray:
    """Euclidean distance of every row of Y to the nearest row of X but its own source, (n',)."""
    return _to_others(release.target, release.source, euclidean_block)


def euclidean_nearest_other(original: PreparedOriginal) -> FloatArray:
    """Euclidean distance of every row of X to the nearest other one, (n,); one row alone: infinite."""
    return _to_others(_as_target(original), np.arange(original.rows), euclidean_block)


def euclidean_block(target: Target, first: int, last: int) -> FloatArray:
    """Euclidean distances of rows first..last-1 of Y to all rows of X, (last - first, n)."""
    with np.errstate(over="ignore"):
        return _lengths(target.values[first:last, None, :] - target.original.values)


def gower_pairs(original: PreparedOriginal, rows: IntArray, others: IntArray) -> FloatArray:
    """Gower's distances of the rows of X in ``rows`` and in ``others``, one by one."""
    table = original.table.iloc[others].reset_index(drop=True)
    return gower_rows(release_of(original, table, rows))


def euclidean_pairs(original: PreparedOriginal, rows: IntArray, others: IntArray) -> FloatArray:
    """Euclidean distances of the rows of X in ``rows`` and in ``others``, one by one."""
    with np.errstate(over="ignore"):
        return _lengths(original.values[others] - original.values[rows])


def _lengths(gaps: FloatArray) -> FloatArray:
    """Lengths of the vectors along the last axis; the differences may have overflowed."""
    gaps = np.clip(gaps, -LARGEST, LARGEST)
    room = headroom(gaps)
    with np.errstate(over="ignore"):
        lengths = np.ldexp(np.sqrt((np.ldexp(gaps, room) ** 2).sum(axis=-1)), -room)
    found: FloatArray = np.minimum(lengths, LARGEST)
    return found


def _matrix(original: PreparedOriginal, block: Block) -> FloatArray:
    found = np.empty((original.rows, original.rows))
    for rows, part in _blocks(_as_target(original), block):
        found[rows] = part
    return found


def _to_others(target: Target, own: IntArray, block: Block) -> FloatArray:
    found = np.empty(target.rows)
    for rows, part in _blocks(target, block):
        part[np.arange(len(rows)), own[rows]] = np.inf
        found[rows] = part.min(axis=1)
    return found


def _blocks(target: Target, block: Block) -> Iterator[tuple[IntArray, FloatArray]]:
    step = max(BLOCK // target.original.rows, 1)
    for first in range(0, target.rows, step):
        last = min(first + step, target.rows)
        yield np.arange(first, last), block(target, first, last)


def _as_target(original: PreparedOriginal) -> Target:
    return target_of(original, original.table)
