"""Attackers that score the membership of each candidate from public tables.

Each returns a score in [0, 1] for every candidate, (2N,), in the candidates' order; higher means more
certain.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logsumexp

from anoncup.geometry.arrays import FloatArray
from anoncup.geometry.stable_sums import headroom, standard_deviation
from anoncup.tracks.membership.rows import find_equal_rows, gower_distances, iter_blocks
from anoncup.tracks.membership.tables import TypedTable

_ScaledColumn = tuple[FloatArray, FloatArray, float]
"""A column of some rows and of other rows, and its unit."""


@dataclass(frozen=True, slots=True)
class MembershipAttackInput:
    """The public tables that attackers get, without the members. All have the same columns."""

    candidates: TypedTable
    release_table: TypedTable
    background: TypedTable | None = None


def exact_copy(target: MembershipAttackInput) -> FloatArray:
    """1 where a candidate equals a released row on all columns, else 0."""
    return find_equal_rows(target.candidates, target.release_table).astype(np.float64)


def closest(target: MembershipAttackInput) -> FloatArray:
    """1 minus Gower's distance to the closest released row (Chen et al., "GAN-Leaks", 2020, section 4)."""
    candidates, released = target.candidates, target.release_table
    scores = np.empty(candidates.rows)
    for block in iter_blocks(candidates.rows, released.rows):
        scores[block] = 1 - gower_distances(_select_rows(candidates, block), released, candidates).min(axis=1)
    return scores


def closest_ratio(target: MembershipAttackInput) -> FloatArray:
    """b / (a + b) of two Gower distances.

    a: from the candidate to the closest released row; b: from there to its second closest candidate. 1 for a
    copy that resembles nobody else; 1/2 where a = b, also for 0: then the row resembles another candidate
    just as much. Of several closest released rows, the one with the largest b counts.
    """
    candidates, released = target.candidates, target.release_table
    seconds = _second_closest_distances(released, candidates)
    scores = np.empty(candidates.rows)
    for block in iter_blocks(candidates.rows, released.rows):
        distances = gower_distances(_select_rows(candidates, block), released, candidates)
        nearest = distances.min(axis=1)
        second = np.where(distances == nearest[:, None], seconds, -1.0).max(axis=1)
        total = nearest + second
        scores[block] = np.where(total > 0, second / np.where(total > 0, total, 1.0), 0.5)
    return scores


def _second_closest_distances(released: TypedTable, candidates: TypedTable) -> FloatArray:
    """Return Gower's distance of each released row to its second closest of at least two candidates, (n,)."""
    distances = np.empty(released.rows)
    for block in iter_blocks(released.rows, candidates.rows):
        distances[block] = np.partition(
            gower_distances(_select_rows(released, block), candidates, candidates), 1, axis=1
        )[:, 1]
    return distances


def density(target: MembershipAttackInput) -> FloatArray:
    """r / (r + c), which rises with log(r / c): densities of released rows and of candidates at a candidate.

    Gaussian kernels on numeric columns in units of the candidates' standard deviations (ddof 0), with one
    width h for both: Scott's (2N)^(-1/(d + 4)) for d columns (Scott, "Multivariate Density Estimation",
    1992). Columns that are constant among the candidates are ignored; without other columns all scores are
    1/2. After van Breugel et al., "Membership inference attacks against synthetic data through overfitting
    detection", 2023.
    """
    columns = _find_varying_columns(target)
    candidate_count, release_count = target.candidates.rows, target.release_table.rows
    if not columns:
        return np.full(candidate_count, 0.5)
    width = candidate_count ** (-1 / (len(columns) + 4))
    released = _log_density([(x, y, unit * width) for x, y, unit in columns], candidate_count, release_count)
    return np.asarray(
        expit(
            released
            - _log_density([(x, x, unit * width) for x, _, unit in columns], candidate_count, candidate_count)
        )
    )


def _find_varying_columns(target: MembershipAttackInput) -> list[_ScaledColumn]:
    """Return the numeric columns that vary among candidates, with their standard deviation.

    Each is scaled by a power of two, so that the range of the candidates is about 1.
    """
    columns = []
    for x, y in zip(target.candidates.numbers.T, target.release_table.numbers.T, strict=True):
        scale_exponent = headroom(x)
        scaled = np.ldexp(x, scale_exponent)
        exponent = scale_exponent - int(np.frexp(scaled.max() - scaled.min())[1])
        with np.errstate(over="ignore"):
            candidate_values, release_values = np.ldexp(x, exponent), np.ldexp(y, exponent)
        if candidate_values.min() < candidate_values.max():
            columns.append((candidate_values, release_values, standard_deviation(candidate_values)))
    return columns


def _log_density(columns: Sequence[_ScaledColumn], row_count: int, other_count: int) -> FloatArray:
    """Return the log of the mean Gaussian kernel of the other rows at each row, (rows,), up to a constant.

    ``columns``: values of the rows, values of the other rows, and the width of the kernel. Minus infinity
    beyond float64's range.
    """
    log_densities = np.empty(row_count)
    for block in iter_blocks(row_count, other_count):
        squares = np.zeros((block.stop - block.start, other_count))
        with np.errstate(over="ignore"):
            for row_values, other_values, width in columns:
                squares += ((row_values[block, None] - other_values) / width) ** 2
        log_densities[block] = logsumexp(-squares / 2, axis=1) - np.log(other_count)
    return log_densities


def _select_rows(table: TypedTable, rows: slice) -> TypedTable:
    return TypedTable(table.schema, table.numbers[rows], table.codes[rows])
