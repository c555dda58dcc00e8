"""Sample methods: from a team's members, (N rows), a release of as many rows that keeps to the schema."""

import numpy as np
from numpy.random import Generator
from scipy.special import ndtr, ndtri

from anoncup.geometry.arrays import Cells, FloatArray, IntArray
from anoncup.geometry.stable_sums import standard_deviation
from anoncup.tracks.membership.tables import Table


def copy(members: Table, *, rng: Generator) -> Table:
    """The members as they are, mixed: every measure but ``copies`` at its best, and no privacy at all."""
    return members.at(rng.permutation(members.rows))


def independent(members: Table, *, rng: Generator) -> Table:
    """Every column permuted by itself: the distribution of each stays, and nothing of what goes together."""
    numbers, codes = (rng.permuted(cells, axis=0) for cells in (members.numbers, members.codes))
    return Table(members.schema, numbers, codes)


def noise(members: Table, *, strength: float = 0.1, rng: Generator) -> Table:
    """Normal noise of ``strength`` standard deviations on numbers, kept in their range.

    With the chance ``strength`` a category is another member's, drawn for each cell; in [0, 1].
    """
    least = [column.least for column in members.schema.numeric]
    most = [column.most for column in members.schema.numeric]
    drawn = rng.standard_normal(members.numbers.shape) * strength
    spread = np.array([standard_deviation(column) for column in members.numbers.T])
    with np.errstate(over="ignore"):
        numbers = np.clip(members.numbers + drawn * spread, least, most)
    others = np.take_along_axis(members.codes, rng.integers(0, members.rows, members.codes.shape), axis=0)
    codes = np.where(rng.random(members.codes.shape) < strength, others, members.codes)
    return Table(members.schema, numbers, codes)


def copula(members: Table, *, rng: Generator) -> Table:
    """Rows drawn anew from a Gaussian copula: each column's values by rank, ranks correlated as the members'.

    Equal values are ranked by lot, categories in the order of the schema. Every value is some member's.
    Nelsen, "An Introduction to Copulas", 2006.
    """
    columns: list[FloatArray | IntArray] = [*members.numbers.T, *members.codes.T]
    scores = np.column_stack([normal_scores(column, rng) for column in columns])
    size = len(columns)
    related = np.corrcoef(scores, rowvar=False).reshape(size, size) if members.rows > 1 else np.eye(size)
    drawn = rng.multivariate_normal(
        np.zeros(size), related, size=members.rows, method="eigh", check_valid="ignore"
    )
    places = np.minimum((ndtr(drawn) * members.rows).astype(np.int64), members.rows - 1)
    numeric = members.numbers.shape[1]
    return Table(
        members.schema,
        by_rank(members.numbers, places[:, :numeric]),
        by_rank(members.codes, places[:, numeric:]),
    )


def normal_scores(column: FloatArray | IntArray, rng: Generator) -> FloatArray:
    """The normal quantile of (rank - 1/2)/N of each value, equal ones ranked by lot, (N,)."""
    ranks = np.empty(len(column))
    ranks[np.lexsort((rng.random(len(column)), column))] = np.arange(len(column))
    return np.asarray(ndtri((ranks + 0.5) / len(column)))


def by_rank(cells: Cells, places: IntArray) -> Cells:
    """The values at the places of each sorted column."""
    return np.take_along_axis(np.sort(cells, axis=0), places, axis=0)
