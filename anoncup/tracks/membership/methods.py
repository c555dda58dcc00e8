"""Sample methods, which make a release from a team's members, with as many rows and the same schema."""

import numpy as np
from numpy.random import Generator
from scipy.special import ndtr, ndtri

from anoncup.geometry.arrays import FloatArray, IntArray, NumericArray
from anoncup.geometry.statistics import standard_deviation
from anoncup.tables.csv_text import limit_numbers
from anoncup.tracks.membership.tables import TypedTable


def copy(members: TypedTable, *, rng: Generator) -> TypedTable:
    """Return the members in random order, without privacy; all measures but ``copies`` are at their best."""
    return members.select_rows(rng.permutation(members.rows))


def independent(members: TypedTable, *, rng: Generator) -> TypedTable:
    """Permute every column independently, which keeps marginals and destroys associations."""
    numbers, codes = (rng.permuted(cells, axis=0) for cells in (members.numbers, members.codes))
    return TypedTable(members.schema, numbers, codes)


def noise(members: TypedTable, *, strength: float = 0.1, rng: Generator) -> TypedTable:
    """Add normal noise of ``strength`` standard deviations to numbers, clipped to their range.

    Each category is replaced by that of a random member with the probability ``strength``, in [0, 1].
    """
    minimums = [column.minimum for column in members.schema.numeric]
    maximums = [column.maximum for column in members.schema.numeric]
    standard_noise = rng.standard_normal(members.numbers.shape) * strength
    deviations = np.array([standard_deviation(column) for column in members.numbers.T])
    numbers = np.clip(limit_numbers(members.numbers + standard_noise * deviations), minimums, maximums)
    replacement_codes = np.take_along_axis(
        members.codes, rng.integers(0, members.rows, members.codes.shape), axis=0
    )
    codes = np.where(rng.random(members.codes.shape) < strength, replacement_codes, members.codes)
    return TypedTable(members.schema, numbers, codes)


def copula(members: TypedTable, *, rng: Generator) -> TypedTable:
    """Sample rows from a Gaussian copula: the members' values by rank, with the correlations of their ranks.

    Ties are ranked at random, and categories in the order of the schema. Every sampled value occurs among the
    members. Nelsen, "An Introduction to Copulas", 2006.
    """
    columns: list[FloatArray | IntArray] = [*members.numbers.T, *members.codes.T]
    scores = np.column_stack([normal_scores(column, rng) for column in columns])
    column_count = len(columns)
    correlation = (
        np.corrcoef(scores, rowvar=False).reshape(column_count, column_count)
        if members.rows > 1
        else np.eye(column_count)
    )
    samples = rng.multivariate_normal(
        np.zeros(column_count), correlation, size=members.rows, method="eigh", check_valid="ignore"
    )
    ranks = np.minimum((ndtr(samples) * members.rows).astype(np.int64), members.rows - 1)
    numeric_count = members.numbers.shape[1]
    return TypedTable(
        members.schema,
        _take_by_rank(members.numbers, ranks[:, :numeric_count]),
        _take_by_rank(members.codes, ranks[:, numeric_count:]),
    )


def normal_scores(column: FloatArray | IntArray, rng: Generator) -> FloatArray:
    """Return the normal quantile of (rank - 1/2)/N of each value, ties ranked at random, (N,)."""
    ranks = np.empty(len(column))
    ranks[np.lexsort((rng.random(len(column)), column))] = np.arange(len(column))
    return np.asarray(ndtri((ranks + 0.5) / len(column)))


def _take_by_rank(cells: NumericArray, ranks: IntArray) -> NumericArray:
    """Return the values at the given ranks of each column."""
    return np.take_along_axis(np.sort(cells, axis=0), ranks, axis=0)
