"""Whether a logistic regression tells released rows from members."""

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from anoncup.geometry.arrays import FloatArray
from anoncup.geometry.stable_sums import deviations
from anoncup.tracks.membership.rows import in_order
from anoncup.tracks.membership.tables import Table

PENALTY = 1.0
"""Of half the sum of squared weights, beside the sum of all rows' losses: what elsewhere is called C = 1."""
FLAT = 1e-9
"""Of the mean loss' gradient, where the search ends."""
NEWTON_STEPS = 2
"""Taken at the end, so near the minimum that each doubles the number of right digits."""


def propensity(members: Table, released: Table) -> float:
    """4 · pMSE in [0, 1], 0 best: four times the mean over all rows of (p - c)^2.

    p: the chance that a row is a released one, as a logistic regression fitted to these rows says; c: the
    share of released rows. Numbers are standardised over both tables (ddof 0; a constant is 0), each category
    is a column of 0 and 1; an intercept without penalty, and the L2 penalty ``PENALTY``. The loss has one
    minimum, and nothing is drawn. Snoke et al., "General and specific utility measures for synthetic data",
    2018.
    """
    tables = in_order(members), in_order(released)
    x = design(*tables)
    labels = np.repeat([0.0, 1.0], [members.rows, released.rows])
    chances = expit(x @ fitted(x, labels))
    return min(float(4 * np.mean((chances - labels.mean()) ** 2)), 1.0)


def design(members: Table, released: Table) -> FloatArray:
    """Members, then released rows: 1, standardised numbers, each category that occurs, (rows, features)."""
    numbers, codes = (
        np.concatenate((getattr(members, kind), getattr(released, kind))) for kind in ("numbers", "codes")
    )
    standard = [standardised(column) for column in numbers.T]
    kinds = [(column[:, None] == np.unique(column)).astype(np.float64) for column in codes.T]
    return np.column_stack((np.ones(len(codes)), *standard, *kinds))


def standardised(column: FloatArray) -> FloatArray:
    """Mean 0 and standard deviation 1 (ddof 0); a constant column 0."""
    centred = deviations(column)
    spread = np.sqrt(np.mean(centred * centred))
    return centred / spread if spread > 0 else centred


def fitted(x: FloatArray, labels: FloatArray) -> FloatArray:
    """The weights of the logistic regression, (features,): the intercept's first."""
    penalty = np.full(x.shape[1], PENALTY / len(x))
    penalty[0] = 0.0
    signed = x * np.where(labels > 0, -1.0, 1.0)[:, None]

    def loss(weights: FloatArray) -> tuple[float, FloatArray]:
        wrong = signed @ weights
        value = np.logaddexp(0.0, wrong).mean() + (penalty * weights * weights).sum() / 2
        return float(value), signed.T @ expit(wrong) / len(x) + penalty * weights

    def curvature(weights: FloatArray) -> FloatArray:
        chances = expit(signed @ weights)
        bent: FloatArray = (x.T * (chances * (1 - chances) / len(x))) @ x + np.diag(penalty)
        return bent

    start = np.zeros(x.shape[1])
    found: FloatArray = minimize(
        loss, start, jac=True, hess=curvature, method="trust-exact", options={"gtol": FLAT}
    ).x
    for _ in range(NEWTON_STEPS):
        found = found - np.linalg.solve(curvature(found), loss(found)[1])
    return found
