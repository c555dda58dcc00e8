"""The nearest other customers by their baskets, as lists."""

import numpy as np

from anoncup.geometry.arrays import FloatArray, IntArray
from anoncup.geometry.assignment import Lists
from anoncup.geometry.kernels.knn_baskets import nearest_baskets
from anoncup.tracks.transactions.baskets import Kind, totals, wide
from anoncup.tracks.transactions.release import PreparedTransactions


def basket_others(original: PreparedTransactions, rows: IntArray, length: int, kind: Kind) -> Lists:
    """By one less the Jaccard coefficient, of the customers of M in ``rows``; all who share nothing are 1
    apart."""
    baskets = original.baskets if kind == "jaccard_quantity" else original.baskets.sign()
    buyers, total = baskets.tocsc(), totals(baskets)
    found, costs = np.full((len(rows), length + 1), -1), np.ones((len(rows), length + 1))
    nearest_baskets(
        rows, wide(baskets.indptr), wide(baskets.indices), baskets.data,
        wide(buyers.indptr), wide(buyers.indices), buyers.data, total, found, costs,
    )  # fmt: skip
    _list_empty(found, costs, np.flatnonzero(total == 0), rows)
    nobody_left = (found >= 0).sum(axis=1) == original.rows - 1
    costs[nobody_left[:, np.newaxis] & (found < 0)] = np.inf
    return Lists(found[:, :-1], costs[:, :-1], costs[:, -1])


def _list_empty(found: IntArray, costs: FloatArray, empty: IntArray, rows: IntArray) -> None:
    """Empty baskets are alike: each lists those that follow it, so that all are listed equally often."""
    lines = np.flatnonzero(np.isin(rows, empty))
    width = min(found.shape[1], len(empty) - 1)
    if len(lines) and width:
        following = np.searchsorted(empty, rows[lines])[:, np.newaxis] + np.arange(1, width + 1)
        found[lines, :width], costs[lines, :width] = empty[following % len(empty)], 0.0
