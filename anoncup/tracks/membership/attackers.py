"""Attackers that score how surely each candidate is a member, from what everybody sees.

Each gives a score in [0, 1] for every candidate, (2N,), in the candidates' order; higher is surer.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logsumexp

from anoncup.geometry.arrays import FloatArray
from anoncup.geometry.stable_sums import headroom, standard_deviation
from anoncup.tracks.membership.rows import among, blocks, gower
from anoncup.tracks.membership.tables import Table

Units = tuple[FloatArray, FloatArray, float]
"""A column of some rows, of others, and what is 1 in it."""


@dataclass(frozen=True, slots=True)
class Target:
    """What an attacker sees: nothing here says who is a member. All three have the same columns."""

    candidates: Table
    released: Table
    background: Table | None = None


def exact_copy(target: Target) -> FloatArray:
    """1 where a candidate equals a released row on all columns, else 0."""
    return among(target.candidates, target.released).astype(np.float64)


def closest(target: Target) -> FloatArray:
    """1 minus Gower's distance to the closest released row (Chen et al., "GAN-Leaks", 2020, section 4)."""
    candidates, released = target.candidates, target.released
    scores = np.empty(candidates.rows)
    for some in blocks(candidates.rows, released.rows):
        scores[some] = 1 - gower(_part(candidates, some), released, candidates).min(axis=1)
    return scores


def closest_ratio(target: Target) -> FloatArray:
    """b / (a + b): a to the closest released row, b from there to its second closest candidate, by Gower.

    1 for a copy that is like nobody else, 1/2 where a = b, both 0 included: then the row is as like another
    candidate. Of several closest released rows the one with the largest b counts.
    """
    candidates, released = target.candidates, target.released
    seconds = second_closest(released, candidates)
    scores = np.empty(candidates.rows)
    for some in blocks(candidates.rows, released.rows):
        apart = gower(_part(candidates, some), released, candidates)
        nearest = apart.min(axis=1)
        second = np.where(apart == nearest[:, None], seconds, -1.0).max(axis=1)
        both = nearest + second
        scores[some] = np.where(both > 0, second / np.where(both > 0, both, 1.0), 0.5)
    return scores


def second_closest(released: Table, candidates: Table) -> FloatArray:
    """Gower's distance of each released row to its second closest candidate, (n,); there are two at least."""
    found = np.empty(released.rows)
    for some in blocks(released.rows, candidates.rows):
        found[some] = np.partition(gower(_part(released, some), candidates, candidates), 1, axis=1)[:, 1]
    return found


def density(target: Target) -> FloatArray:
    """r / (r + c), which rises with log(r / c): densities of released rows and of candidates at a candidate.

    Gaussian kernels on numeric columns in units of the candidates' standard deviations (ddof 0), one width h
    for both: Scott's (2N)^(-1/(d + 4)) for d columns (Scott, "Multivariate Density Estimation", 1992).
    Columns constant among the candidates count for nothing; without any other all scores are 1/2. After van
    Breugel et al., "Membership inference attacks against synthetic data through overfitting detection", 2023.
    """
    columns = _varied(target)
    rows, others = target.candidates.rows, target.released.rows
    if not columns:
        return np.full(rows, 0.5)
    width = rows ** (-1 / (len(columns) + 4))
    released = _log_density([(x, y, unit * width) for x, y, unit in columns], rows, others)
    return np.asarray(
        expit(released - _log_density([(x, x, unit * width) for x, _, unit in columns], rows, rows))
    )


def _varied(target: Target) -> list[Units]:
    """Numeric columns of candidates and of released rows that vary among candidates, with their deviation.

    Each under a power of two, so that the candidates' range is about 1.
    """
    found = []
    for x, y in zip(target.candidates.numbers.T, target.released.numbers.T, strict=True):
        room = headroom(x)
        scaled = np.ldexp(x, room)
        exponent = room - int(np.frexp(scaled.max() - scaled.min())[1])
        with np.errstate(over="ignore"):
            here, there = np.ldexp(x, exponent), np.ldexp(y, exponent)
        if here.min() < here.max():
            found.append((here, there, standard_deviation(here)))
    return found


def _log_density(columns: Sequence[Units], rows: int, others: int) -> FloatArray:
    """The log of the mean Gaussian kernel of the others at each row, (rows,), but for a constant.

    ``columns``: of the rows, of the others, and the kernel's width. Minus infinity beyond float64's range.
    """
    found = np.empty(rows)
    for some in blocks(rows, others):
        squares = np.zeros((some.stop - some.start, others))
        with np.errstate(over="ignore"):
            for here, there, width in columns:
                squares += ((here[some, None] - there) / width) ** 2
        found[some] = logsumexp(-squares / 2, axis=1) - np.log(others)
    return found


def _part(table: Table, rows: slice) -> Table:
    return Table(table.schema, table.numbers[rows], table.codes[rows])
