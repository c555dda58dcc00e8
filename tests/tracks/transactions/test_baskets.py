"""Searches among baskets equal their definitions."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from anoncup.geometry.kernels.assignment import find_k_smallest
from anoncup.tracks.linkage.attack_rates import ABSTAIN
from anoncup.tracks.transactions.baskets import (
    find_best_columns,
    find_best_product_columns,
)


def test_best_products_equal_sums_in_row_order() -> None:
    rng = np.random.default_rng(3)
    for cells in ([1e16, 1.0, 0.1, -1e16], [1.0], [1.0, 1.0 + 1e-13], [-1.0]):
        left_matrix, right_matrix = (
            csr_array(np.where(rng.random(shape) < 0.2, rng.choice(cells, shape), 0.0))
            for shape in ((30, 40), (40, 20))
        )
        sums = np.zeros((30, 20))
        for row, column in zip(*left_matrix.nonzero(), strict=True):
            sums[row] += left_matrix[row, column] * right_matrix[[column]].toarray()[0]
        expected = np.where((sums > 0).any(axis=1), find_best_columns(sums), ABSTAIN)
        assert find_best_product_columns(left_matrix, right_matrix).tolist() == expected.tolist()
        assert find_best_product_columns(left_matrix[:, :0], right_matrix[:0]).tolist() == [ABSTAIN] * 30
        assert find_best_product_columns(left_matrix[:0], right_matrix).tolist() == []


@pytest.mark.parametrize("shape", [(20, 50), (3, 1), (2, 0), (0, 4), (5, 7)])
def test_k_smallest_equals_a_stable_argsort(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(4)
    for costs in (rng.random(shape), rng.integers(0, 3, shape) / 2, np.zeros(shape), -rng.random(shape)):
        for length in (1, 3, 7, 60):
            columns, smallest_costs = find_k_smallest(costs, length)
            assert columns.tolist() == np.argsort(costs, axis=1, kind="stable")[:, :length].tolist()
            assert smallest_costs.tolist() == np.take_along_axis(costs, columns, axis=1).tolist()
