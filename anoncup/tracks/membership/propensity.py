"""Measure how well a logistic regression distinguishes released rows from members (propensity score)."""

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from anoncup.geometry.arrays import FloatArray
from anoncup.geometry.statistics import center
from anoncup.tracks.membership.tables import TypedTable, sort_rows

PENALTY = 1.0
"""L2 penalty: factor of half the sum of squared weights, added to the summed loss (C = 1 in scikit-learn)."""
_GRADIENT_TOLERANCE = 1e-9
"""The optimizer stops when the gradient of the mean loss is below this."""
_NEWTON_STEPS = 2
"""Newton steps after the optimizer; so close to the minimum, each doubles the number of correct digits."""


def propensity(members: TypedTable, release_table: TypedTable) -> float:
    """Return 4 · pMSE, in [0, 1], 0 best: four times the mean over all rows of (p - c)^2.

    p is the probability that a row is a released one, according to a logistic regression fitted to these
    rows; c is the share of released rows. Numbers are standardised over both tables (ddof 0; a constant is
    0), and each category is an indicator column. The intercept is not penalised; all else has the L2 penalty
    ``PENALTY``. The loss has one minimum, and no random numbers are used. Snoke et al., "General and specific
    utility measures for synthetic data", 2018.
    """
    tables = sort_rows(members), sort_rows(release_table)
    features = build_design_matrix(*tables)
    labels = np.repeat([0.0, 1.0], [members.rows, release_table.rows])
    probabilities = expit(features @ fit_logistic_regression(features, labels))
    return min(float(4 * np.mean((probabilities - labels.mean()) ** 2)), 1.0)


def build_design_matrix(members: TypedTable, release_table: TypedTable) -> FloatArray:
    """Return features of members, then of released rows, (rows, features).

    The features are 1, the standardised numbers and an indicator of each category that occurs.
    """
    numbers, codes = (
        np.concatenate((getattr(members, field_name), getattr(release_table, field_name)))
        for field_name in ("numbers", "codes")
    )
    standardised_columns = [standardise(column) for column in numbers.T]
    indicators = [(column[:, None] == np.unique(column)).astype(np.float64) for column in codes.T]
    return np.column_stack((np.ones(len(codes)), *standardised_columns, *indicators))


def standardise(column: FloatArray) -> FloatArray:
    """Scale to mean 0 and standard deviation 1 (ddof 0); a constant column becomes 0."""
    centred = center(column)
    deviation = np.sqrt(np.mean(centred * centred))
    return centred / deviation if deviation > 0 else centred


def fit_logistic_regression(features: FloatArray, labels: FloatArray) -> FloatArray:
    """Return the weights of the logistic regression, (features,), intercept first."""
    penalty = np.full(features.shape[1], PENALTY / len(features))
    penalty[0] = 0.0
    signed_features = features * np.where(labels > 0, -1.0, 1.0)[:, None]

    def compute_loss(weights: FloatArray) -> tuple[float, FloatArray]:
        margins = signed_features @ weights
        value = np.logaddexp(0.0, margins).mean() + (penalty * weights * weights).sum() / 2
        return float(value), signed_features.T @ expit(margins) / len(features) + penalty * weights

    def compute_hessian(weights: FloatArray) -> FloatArray:
        probabilities = expit(signed_features @ weights)
        hessian: FloatArray = (
            features.T * (probabilities * (1 - probabilities) / len(features))
        ) @ features + np.diag(penalty)
        return hessian

    initial = np.zeros(features.shape[1])
    solution: FloatArray = minimize(
        compute_loss,
        initial,
        jac=True,
        hess=compute_hessian,
        method="trust-exact",
        options={"gtol": _GRADIENT_TOLERANCE},
    ).x
    for _ in range(_NEWTON_STEPS):
        solution = solution - np.linalg.solve(compute_hessian(solution), compute_loss(solution)[1])
    return solution
