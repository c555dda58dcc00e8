"""Attackers that score the membership of each candidate from public tables.

Each returns a score in [0, 1] for every candidate, (2N,), in the candidates' order; higher means more
certain.
"""

from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist
from scipy.special import expit, logsumexp

from anoncup.geometry.arrays import FloatArray
from anoncup.geometry.statistics import standard_deviation
from anoncup.tracks.membership.tables import (
    MembershipOriginal,
    TypedTable,
    find_equal_rows,
    gower_distances,
    iter_blocks,
)


@dataclass(frozen=True, slots=True)
class MembershipTarget:
    """A release as other teams see it."""

    original: MembershipOriginal
    release_table: TypedTable
    """The released table with all columns, also the hidden one, which the candidates do not have."""

    @property
    def rows(self) -> int:
        """The number of released rows."""
        return self.release_table.rows

    @property
    def candidates(self) -> TypedTable:
        """The candidates of ``original``."""
        return self.original.candidates

    @property
    def public_table(self) -> TypedTable:
        """The released table, restricted to the columns of the candidates."""
        return self.release_table.select_columns(*self.candidates.schema.names)


def exact_copy(target: MembershipTarget) -> FloatArray:
    """Return 1 for candidates that equal a released row in all columns, else 0."""
    return find_equal_rows(target.candidates, target.public_table).astype(np.float64)


def closest(target: MembershipTarget) -> FloatArray:
    """Return 1 minus Gower's distance to the closest released row.

    Chen et al., "GAN-Leaks", 2020, section 4.
    """
    candidates, release_table = target.candidates, target.public_table
    scores = np.empty(candidates.rows)
    for block in iter_blocks(candidates.rows, release_table.rows):
        scores[block] = 1 - gower_distances(candidates.select_rows(block), release_table, candidates).min(
            axis=1
        )
    return scores


def closest_ratio(target: MembershipTarget) -> FloatArray:
    """Return b / (a + b) for two Gower distances.

    a is the distance of the candidate to the closest released row, b the distance of that row to its second
    closest candidate. The score is 1 for a copy that resembles nobody else. It is 1/2 if a = b, even if both
    are 0, because the row resembles another candidate just as much. If several released rows are equally
    close, the largest b counts.
    """
    candidates, release_table = target.candidates, target.public_table
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


def density(target: MembershipTarget) -> FloatArray:
    """Return r / (r + c), where r and c are the densities of released rows and of candidates at a candidate.

    The score rises with the log ratio log(r / c). Densities use Gaussian kernels on the numeric columns, in
    units of the candidates' standard deviations (ddof 0), with the same bandwidth for both: Scott's
    (2N)^(-1/(d + 4)) for d columns (Scott, "Multivariate Density Estimation", 1992). Columns that are
    constant among the candidates are ignored; without other columns all scores are 1/2. After van Breugel et
    al., "Membership inference attacks against synthetic data through overfitting detection", 2023.
    """
    candidates, released = target.candidates.numbers, target.public_table.numbers
    varies = np.ptp(candidates, axis=0) > 0
    if not varies.any():
        return np.full(len(candidates), 0.5)
    bandwidth = len(candidates) ** (-1 / (int(varies.sum()) + 4))
    units = bandwidth * np.array([standard_deviation(column) for column in candidates[:, varies].T])
    origin = candidates[:, varies].min(axis=0)
    candidates, released = ((cells[:, varies] - origin) / units for cells in (candidates, released))
    log_ratio = _compute_log_density(candidates, released) - _compute_log_density(candidates, candidates)
    return np.asarray(expit(log_ratio))


def _compute_log_density(rows: FloatArray, other_rows: FloatArray) -> FloatArray:
    """Return the log density of the other rows at each row, (rows,), up to a constant.

    The density is a mean of Gaussian kernels with the bandwidth 1.
    """
    log_densities = np.empty(len(rows))
    for block in iter_blocks(len(rows), len(other_rows)):
        squares = cdist(rows[block], other_rows, "sqeuclidean")
        log_densities[block] = logsumexp(-squares / 2, axis=1) - np.log(len(other_rows))
    return log_densities
