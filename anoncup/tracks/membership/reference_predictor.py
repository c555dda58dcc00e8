"""A reference predictor of the hidden column: what anybody can impute who has no release.

It learns from rows of which the column is known, and leaves no choice open, so that everybody gets the same.
Features are an intercept, the numeric columns standardised (ddof 0) over the rows it learns from and those it
is asked about, and a column of 0 and 1 for each category; all but the intercept have an L2 penalty of 1.
"""

import numpy as np
from scipy.linalg import solve
from scipy.special import expit

from anoncup.geometry.arrays import FloatArray, IntArray
from anoncup.tracks.membership.propensity import PENALTY, design, fitted, standardised
from anoncup.tracks.membership.tables import Table

TIE = 1e-6
"""Chances, or standardised numbers, that differ by less are equal, so that rounding decides nothing."""


def predict(known: Table, hidden: Table, asked: Table) -> Table:
    """Return the hidden column of the asked rows, learned from the known rows and their hidden cells.

    A categorical column takes the category of the highest chance, a numeric one the nearest value that occurs
    among the known rows.
    """
    x = design(known, asked)
    learned, wanted = x[: known.rows], x[known.rows :]
    if hidden.schema.categorical:
        codes = likeliest_category(learned, hidden.codes[:, 0], wanted)
        return Table(hidden.schema, np.empty((asked.rows, 0)), codes[:, None])
    numbers = nearest_value(learned, hidden.numbers[:, 0], wanted)
    return Table(hidden.schema, numbers[:, None], np.empty((asked.rows, 0), dtype=np.int64))


def likeliest_category(x: FloatArray, codes: IntArray, wanted: FloatArray) -> IntArray:
    """Return for each wanted row the category with the highest chance, of equal ones the first.

    The chances are those of a logistic regression for each category against all others.
    """
    categories = np.unique(codes)
    if len(categories) == 1:
        return np.full(len(wanted), categories[0])
    weights = [fitted(x, (codes == category).astype(np.float64)) for category in categories]
    chances = expit(wanted @ np.column_stack(weights))
    likeliest: IntArray = categories[np.argmax(chances >= chances.max(axis=1, keepdims=True) - TIE, axis=1)]
    return likeliest


def nearest_value(x: FloatArray, values: FloatArray, wanted: FloatArray) -> FloatArray:
    """Return for each wanted row the value nearest to a ridge regression; of equal ones the lower."""
    levels, first = np.unique(values, return_index=True)
    target = standardised(values)
    penalty = np.full(x.shape[1], PENALTY)
    penalty[0] = 0.0
    weights = solve(x.T @ x + np.diag(penalty), x.T @ target, assume_a="pos")
    middles = (target[first][1:] + target[first][:-1]) / 2
    return levels[np.searchsorted(middles, wanted @ weights - TIE)]
