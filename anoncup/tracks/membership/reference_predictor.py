"""Reference predictor of the hidden column, which shows how well the column can be imputed without a release.

It is trained on rows with a known hidden column and is deterministic, so that everyone gets the same result.
Features are an intercept, the numeric columns standardised (ddof 0) over training and query rows together,
and an indicator of each category; all but the intercept have an L2 penalty of 1.
"""

import numpy as np
from scipy.linalg import solve
from scipy.special import expit

from anoncup.geometry.arrays import FloatArray, IntArray
from anoncup.tracks.membership.propensity import (
    PENALTY,
    build_design_matrix,
    fit_logistic_regression,
    standardise,
)
from anoncup.tracks.membership.tables import TypedTable

TIE_TOLERANCE = 1e-6
"""Probabilities and standardised numbers that differ by less are ties, so that rounding does not decide."""


def predict(training_rows: TypedTable, training_column: TypedTable, query_rows: TypedTable) -> TypedTable:
    """Return the hidden column of the query rows, learned from the training rows and their hidden cells.

    A categorical column gets the category with the highest probability, a numeric one the nearest value that
    occurs among the training rows.
    """
    features = build_design_matrix(training_rows, query_rows)
    training_features, queries = features[: training_rows.rows], features[training_rows.rows :]
    if training_column.schema.categorical:
        codes = _predict_category(training_features, training_column.codes[:, 0], queries)
        return TypedTable(training_column.schema, np.empty((query_rows.rows, 0)), codes[:, None])
    numbers = _predict_number(training_features, training_column.numbers[:, 0], queries)
    return TypedTable(
        training_column.schema, numbers[:, None], np.empty((query_rows.rows, 0), dtype=np.int64)
    )


def _predict_category(features: FloatArray, codes: IntArray, queries: FloatArray) -> IntArray:
    """Return the most probable category for each query row, by one-against-rest logistic regressions.

    Ties go to the first category.
    """
    categories = np.unique(codes)
    if len(categories) == 1:
        return np.full(len(queries), categories[0])
    weights = [
        fit_logistic_regression(features, (codes == category).astype(np.float64)) for category in categories
    ]
    probabilities = expit(queries @ np.column_stack(weights))
    likeliest: IntArray = categories[
        np.argmax(probabilities >= probabilities.max(axis=1, keepdims=True) - TIE_TOLERANCE, axis=1)
    ]
    return likeliest


def _predict_number(features: FloatArray, values: FloatArray, queries: FloatArray) -> FloatArray:
    """Return the training value nearest to a ridge regression for each query row; ties: the lower."""
    levels, first_indices = np.unique(values, return_index=True)
    target = standardise(values)
    penalty = np.full(features.shape[1], PENALTY)
    penalty[0] = 0.0
    weights = solve(features.T @ features + np.diag(penalty), features.T @ target, assume_a="pos")
    midpoints = (target[first_indices][1:] + target[first_indices][:-1]) / 2
    return levels[np.searchsorted(midpoints, queries @ weights - TIE_TOLERANCE)]
