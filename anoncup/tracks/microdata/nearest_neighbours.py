"""The nearest others of an original's individuals, as lists: what bounds need in the place of all
distances."""

from collections.abc import Callable, Iterator

import numpy as np

from anoncup.geometry.arrays import FloatArray, IntArray
from anoncup.geometry.assignment import Lists, shortlists
from anoncup.geometry.nearest_neighbours import build_index, several_nearest
from anoncup.tracks.memo import once
from anoncup.tracks.microdata.distances import gower_nearest, gower_sums, unit_values, whole_gower_index
from anoncup.tracks.microdata.pairwise_distances import BLOCK, euclidean_pairs
from anoncup.tracks.microdata.release import PreparedOriginal, Target, target_of

LONGEST = 1000
"""Others that are searched for in trees; all distances are sorted sooner than more of them are found
there."""


def gower_others(original: PreparedOriginal, rows: IntArray, length: int) -> Lists:
    """By Gower's distance, of the rows of X in ``rows``."""
    columns = max(_columns(original), 1)
    if length > LONGEST:
        return _sorted(
            rows, length, lambda some: gower_sums(_as_target(original), some) / columns, original.rows
        )
    found, sums = gower_nearest(_as_target(original), whole_gower_index(original), rows, length + 2)
    return others_among(rows, found, sums / columns)


def euclidean_others(original: PreparedOriginal, rows: IntArray, length: int) -> Lists:
    """By Euclidean distance over the sensitive columns, of the rows of X in ``rows``."""
    if length > LONGEST:
        return _sorted(rows, length, lambda some: _lengths_to_all(original, some), original.rows)
    x, _ = unit_values(_as_target(original), original.columns.sensitive)
    index = once(original.kept, ("everybody by Euclid",), lambda: build_index(x, original.grouping(())))
    found, _ = several_nearest(index, x[rows], np.zeros(len(rows), dtype=np.int64), length + 2)
    some = np.maximum(found, 0)
    costs = euclidean_pairs(original, np.repeat(rows, found.shape[1]), some.ravel()).reshape(found.shape)
    return others_among(rows, found, np.where(found < 0, np.inf, costs))


def _lengths_to_all(original: PreparedOriginal, rows: IntArray) -> FloatArray:
    every = np.tile(np.arange(original.rows), len(rows))
    return euclidean_pairs(original, np.repeat(rows, original.rows), every).reshape(len(rows), -1)


def others_among(rows: IntArray, found: IntArray, costs: FloatArray) -> Lists:
    """Lists of all but the last two found, nearest first, and without oneself (not found among many as
    near)."""
    own = found == rows[:, np.newaxis]
    own[~own.any(axis=1), -1] = True
    width = found.shape[1] - 1
    columns, costs = found[~own].reshape(-1, width), costs[~own].reshape(-1, width)
    return Lists(columns[:, :-1], costs[:, :-1], costs[:, -1])


def _sorted(rows: IntArray, length: int, to_all: Callable[[IntArray], FloatArray], n: int) -> Lists:
    """Lists from all distances, ``to_all(some)`` (some, n), of a block of rows at a time."""
    return shortlists((_to_others(some, to_all) for some in _blocks(rows, n)), min(length, n - 1))


def _blocks(rows: IntArray, n: int) -> Iterator[IntArray]:
    step = max(BLOCK // n, 1)
    yield from (rows[first : first + step] for first in range(0, len(rows), step))


def _to_others(rows: IntArray, to_all: Callable[[IntArray], FloatArray]) -> FloatArray:
    costs = to_all(rows)
    costs[np.arange(len(rows)), rows] = np.inf
    return costs


def _as_target(original: PreparedOriginal) -> Target:
    return once(original.kept, ("as a target",), lambda: target_of(original, original.table))


def _columns(original: PreparedOriginal) -> int:
    return len(original.columns.quasi_identifiers) + len(original.columns.sensitive)
