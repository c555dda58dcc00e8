"""List the nearest other customers of the original table M by the Jaccard coefficients J of their baskets."""

import numpy as np

from anoncup.geometry.arrays import FloatArray, IntArray
from anoncup.geometry.assignment import CandidateLists
from anoncup.geometry.kernels.knn_baskets import nearest_baskets
from anoncup.tracks.transactions.baskets import JaccardKind, convert_to_int64, sum_rows
from anoncup.tracks.transactions.release import TransactionOriginal


def list_nearest_baskets(
    original: TransactionOriginal, rows: IntArray, length: int, kind: JaccardKind
) -> CandidateLists:
    """List the nearest others of the given customers of M by the Jaccard distance 1 - J.

    The distance of customers without common goods is 1, except between empty baskets, where it is 0.
    """
    baskets = original.baskets if kind == "jaccard_quantity" else original.baskets.sign()
    buyers, basket_sizes = baskets.tocsc(), sum_rows(baskets)
    neighbours, costs = np.full((len(rows), length + 1), -1), np.ones((len(rows), length + 1))
    nearest_baskets(
        rows, convert_to_int64(baskets.indptr), convert_to_int64(baskets.indices), baskets.data,
        convert_to_int64(buyers.indptr), convert_to_int64(buyers.indices), buyers.data, basket_sizes,
        neighbours, costs,
    )  # fmt: skip
    _link_empty_baskets(neighbours, costs, np.flatnonzero(basket_sizes == 0), rows)
    lists_all_others = (neighbours >= 0).sum(axis=1) == original.rows - 1
    costs[lists_all_others[:, np.newaxis] & (neighbours < 0)] = np.inf
    return CandidateLists(neighbours[:, :-1], costs[:, :-1], costs[:, -1])


def _link_empty_baskets(
    neighbours: IntArray, costs: FloatArray, empty_rows: IntArray, rows: IntArray
) -> None:
    """List the next empty baskets, at distance 0, for each empty one; all are listed equally often."""
    positions = np.flatnonzero(np.isin(rows, empty_rows))
    width = min(neighbours.shape[1], len(empty_rows) - 1)
    if len(positions) and width:
        following = np.searchsorted(empty_rows, rows[positions])[:, np.newaxis] + np.arange(1, width + 1)
        neighbours[positions, :width], costs[positions, :width] = empty_rows[following % len(empty_rows)], 0.0
