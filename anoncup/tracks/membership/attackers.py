"""Attackers that score the membership of each candidate from public tables.

Each returns a score in [0, 1] for every candidate, (2N,), in the candidates' order; higher means more
certain.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logsumexp

from anoncup.geometry.arrays import FloatArray
from anoncup.geometry.statistics import standard_deviation
from anoncup.tracks.membership.tables import TypedTable, find_equal_rows, gower_distances, iter_blocks

_ScaledColumn = tuple[FloatArray, FloatArray, float]
"""The values of one column in two tables, and the unit that they are measured in."""


@dataclass(frozen=True, slots=True)
class MembershipAttackInput:
    """The public tables that attackers get, without the members. All have the same columns."""

    candidates: TypedTable
    release_table: TypedTable
    background: TypedTable | None = None


def exact_copy(target: MembershipAttackInput) -> FloatArray:
    """Return 1 for candidates that equal a released row in all columns, else 0."""
    return find_equal_rows(target.candidates, target.release_table).astype(np.float64)


def closest(target: MembershipAttackInput) -> FloatArray:
    """Return 1 minus Gower's distance to the closest released row.

    Chen et al., "GAN-Leaks", 2020, section 4.
    """
    candidates, release_table = target.candidates, target.release_table
    scores = np.empty(candidates.rows)
    for block in iter_blocks(candidates.rows, release_table.rows):
        scores[block] = 1 - gower_distances(candidates.select_rows(block), release_table, candidates).min(
            axis=1
        )
    return scores


def closest_ratio(target: MembershipAttackInput) -> FloatArray:
    """Return b / (a + b) for two Gower distances.

    a is the distance of the candidate to the closest released row, b the distance of that row to its second
    closest candidate. The score is 1 for a copy that resembles nobody else. It is 1/2 if a = b, even if both
    are 0, because the row resembles another candidate just as much. If several released rows are equally
    close, the largest b counts.
    """
    candidates, release_table = target.candidates, target.release_table
    second_distances = _compute_second_closest_distances(release_table, candidates)
    scores = np.empty(candidates.rows)
    for block in iter_blocks(candidates.rows, release_table.rows):
        distances = gower_distances(candidates.select_rows(block), release_table, candidates)
        nearest_distances = distances.min(axis=1)
        candidate_second_distances = np.where(
            distances == nearest_distances[:, None], second_distances, -1.0
        ).max(axis=1)
        total = nearest_distances + candidate_second_distances
        scores[block] = np.where(total > 0, candidate_second_distances / np.where(total > 0, total, 1.0), 0.5)
    return scores


def _compute_second_closest_distances(release_table: TypedTable, candidates: TypedTable) -> FloatArray:
    """Return Gower's distance of each released row to its second closest candidate, (n,)."""
    distances = np.empty(release_table.rows)
    for block in iter_blocks(release_table.rows, candidates.rows):
        distances[block] = np.partition(
            gower_distances(release_table.select_rows(block), candidates, candidates), 1, axis=1
        )[:, 1]
    return distances


def density(target: MembershipAttackInput) -> FloatArray:
    """Return r / (r + c), where r and c are the densities of released rows and of candidates at a candidate.

    The score rises with the log ratio log(r / c). Densities use Gaussian kernels on the numeric columns, in
    units of the candidates' standard deviations (ddof 0), with the same bandwidth for both: Scott's
    (2N)^(-1/(d + 4)) for d columns (Scott, "Multivariate Density Estimation", 1992). Columns that are
    constant among the candidates are ignored; without other columns all scores are 1/2. After van Breugel et
    al., "Membership inference attacks against synthetic data through overfitting detection", 2023.
    """
    columns = _find_varying_columns(target)
    candidate_count, release_count = target.candidates.rows, target.release_table.rows
    if not columns:
        return np.full(candidate_count, 0.5)
    bandwidth = candidate_count ** (-1 / (len(columns) + 4))
    release_columns = [
        (candidate_values, release_values, unit * bandwidth)
        for candidate_values, release_values, unit in columns
    ]
    candidate_columns = [
        (candidate_values, candidate_values, unit * bandwidth) for candidate_values, _, unit in columns
    ]
    release_log_density = _compute_log_density(release_columns, candidate_count, release_count)
    candidate_log_density = _compute_log_density(candidate_columns, candidate_count, candidate_count)
    return np.asarray(expit(release_log_density - candidate_log_density))


def _find_varying_columns(target: MembershipAttackInput) -> list[_ScaledColumn]:
    """Return the numeric columns that vary among the candidates, with their standard deviations."""
    columns = []
    for candidate_column, release_column in zip(
        target.candidates.numbers.T, target.release_table.numbers.T, strict=True
    ):
        if candidate_column.min() < candidate_column.max():
            columns.append((candidate_column, release_column, standard_deviation(candidate_column)))
    return columns


def _compute_log_density(columns: Sequence[_ScaledColumn], row_count: int, other_count: int) -> FloatArray:
    """Return the log density of the other rows at each row, (rows,), up to a constant.

    The density is a mean of Gaussian kernels. ``columns`` hold the values of the rows, those of the other
    rows, and the bandwidth.
    """
    log_densities = np.empty(row_count)
    for block in iter_blocks(row_count, other_count):
        squares = np.zeros((block.stop - block.start, other_count))
        for row_values, other_values, width in columns:
            squares += ((row_values[block, None] - other_values) / width) ** 2
        log_densities[block] = logsumexp(-squares / 2, axis=1) - np.log(other_count)
    return log_densities
