"""Reference predictor of the hidden column, which shows how well the column can be imputed without a release.

It is trained on rows with a known hidden column and is deterministic, so that everyone gets the same result.
Features are an intercept, the numeric columns standardised (ddof 0) over training and query rows together,
and an indicator of each category; all but the intercept have an L2 penalty of 1.
"""

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from scipy.linalg import solve
from scipy.special import expit

from anoncup.geometry.arrays import FloatArray, IntArray
from anoncup.tracks.membership.decimals import find_midpoints, list_exact_decimals
from anoncup.tracks.membership.propensity import (
    PENALTY,
    build_design_matrix,
    fit_logistic_regression,
    standardise,
)
from anoncup.tracks.membership.tables import TypedTable

TIE_TOLERANCE = 1e-6
"""Probabilities and standardised numbers that differ by less are ties, so that rounding does not decide."""


_FARTHEST_SQUARE = Fraction(10) ** 300
"""No prediction is so far from the mean, as a square of standard deviations; it fits into a float64."""


def predict(
    training_rows: TypedTable,
    training_column: TypedTable,
    query_rows: TypedTable,
    candidate_column: TypedTable,
) -> TypedTable:
    """Return the hidden column of the query rows, learned from the training rows and their hidden cells.

    A categorical column gets the category with the highest probability, a numeric one the value of
    ``candidate_column`` that is nearest to the predicted number.
    """
    features = build_design_matrix(training_rows, query_rows)
    training_features, queries = features[: training_rows.rows], features[training_rows.rows :]
    if training_column.schema.categorical:
        codes = _predict_category(training_features, training_column.codes[:, 0], queries)
        return TypedTable(training_column.schema, np.empty((query_rows.rows, 0)), codes[:, None])
    values, levels = training_column.numbers[:, 0], np.unique(candidate_column.numbers)
    numbers = _predict_number(training_features, values, queries, levels)
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


def _predict_number(
    features: FloatArray, values: FloatArray, queries: FloatArray, levels: FloatArray
) -> FloatArray:
    """Return the level nearest to a ridge regression for each query row; ties: the lower."""
    penalty = np.full(features.shape[1], PENALTY)
    penalty[0] = 0.0
    weights = solve(
        features.T @ features + np.diag(penalty), features.T @ standardise(values), assume_a="pos"
    )
    midpoints = _standardise_exactly(find_midpoints(list_exact_decimals(levels)), values)
    return levels[np.searchsorted(midpoints, queries @ weights - TIE_TOLERANCE)]


def _standardise_exactly(points: Sequence[Fraction], values: FloatArray) -> list[float]:
    """Return the points on the scale on which the values have mean 0 and standard deviation 1.

    Floats would not do: the points may lie far from the values, or closer to them than a float's precision.
    """
    levels, counts = np.unique(values, return_counts=True)
    weighted_decimals = list(zip(list_exact_decimals(levels), counts.tolist(), strict=True))
    mean = sum((number * count for number, count in weighted_decimals), Fraction(0)) / len(values)
    variance = sum((count * (number - mean) ** 2 for number, count in weighted_decimals), Fraction(0)) / len(
        values
    )
    if not variance:
        return [math.copysign(math.inf, point - mean) if point != mean else 0.0 for point in points]
    squares = [min((point - mean) ** 2 / variance, _FARTHEST_SQUARE) for point in points]
    return [
        math.copysign(math.sqrt(square), point - mean) for point, square in zip(points, squares, strict=True)
    ]
