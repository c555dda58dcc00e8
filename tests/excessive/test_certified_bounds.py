"""Certified bounds on s_exact(r) against brute force, a second implementation and the numbers of P2."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.optimize import Bounds, LinearConstraint, linear_sum_assignment, milp

from anoncup.errors import InvalidInput
from anoncup.excessive.certified_bounds import MAX_DENSE_BOUNDS, certified_bounds
from anoncup.excessive.cheapest_choices import compute_cheapest_choices, count_fixed_points, permutation_costs
from anoncup.excessive.gaps import bound_by_odd_cycles, close_gaps, find_shortest_loop
from anoncup.geometry.arrays import FloatArray
from tests.support.bound_checks import (
    build_random_distances,
    check_bounds,
    compute_exact_s,
    distance_matrices,
)
from tests.support.eisner_bounds import compute_bounds_at
from tests.support.hypothesis_profiles import limit_examples
from tests.support.reference_data import get_reference_folder, needs_reference_data

pytestmark = pytest.mark.full

hostile_examples = limit_examples(150)
fewer_examples = limit_examples(50)
PAPER_MATRIX = np.array([[0, 4, 7, 6], [4, 0, 3, 2], [7, 3, 0, 5], [6, 2, 5, 0]], dtype=float)
"""Example of P2 §4.1."""


def solve_with_scipy(matrix: FloatArray, count: int) -> float:
    """Return G(count) from an assignment where n - count rows and columns go to free dummies."""
    n = len(matrix)
    padded_matrix = np.zeros((2 * n - count, 2 * n - count))
    padded_matrix[:n, :n] = matrix + np.diag(np.full(n, 1e6))
    padded_matrix[n:, n:] = 1e6
    rows, columns = linear_sum_assignment(padded_matrix)
    return float(padded_matrix[rows, columns].sum())


def solve_with_highs(matrix: FloatArray, fixed: int, *, is_exact: bool = False) -> float:
    """Return s_exact(fixed) from an integer program over all entries.

    With ``is_exact``, the permutation has exactly ``fixed`` fixed points instead of at most.
    """
    n = len(matrix)
    constraint_rows = np.vstack(
        [np.kron(np.eye(n), np.ones(n)), np.kron(np.ones(n), np.eye(n)), np.eye(n).ravel()]
    )
    lower_limits = np.append(np.ones(2 * n), fixed if is_exact else 0)
    upper_limits = np.append(np.ones(2 * n), fixed)
    solution = milp(
        matrix.ravel(),
        integrality=np.ones(n * n, dtype=np.int64),
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(constraint_rows, lower_limits, upper_limits),
        options={"mip_rel_gap": 0.0},
    )
    assert solution.fun is not None
    return float(solution.fun)


def test_bounds_of_the_papers_example() -> None:
    bounds = certified_bounds(PAPER_MATRIX)
    assert bounds.is_exact.all()
    assert bounds.upper.tolist() == [18, 10, 4, 4, 0]
    assert bounds.s_lower.tolist() == [11, 7, 4, 2, 0]
    assert permutation_costs(PAPER_MATRIX, np.array([[1, 2, 3, 0]])) == bounds.upper[0]
    assert bounds.min_distance == 2


def test_close_gaps_closes_the_gap_of_two_distant_pairs() -> None:
    matrix = np.full((4, 4), 10.0)
    matrix[[0, 1, 2, 3], [1, 0, 3, 2]] = 0.1
    np.fill_diagonal(matrix, 0.0)
    bounds = certified_bounds(matrix)
    assert bounds.is_exact.tolist() == [True, False, True, True, True]
    assert (bounds.lower[1], bounds.upper[1]) == pytest.approx((0.3, 0.4))
    assert close_gaps(matrix, bounds, seconds=10).lower == pytest.approx(bounds.upper)


@pytest.mark.parametrize("n", [0, 1, 2])
def test_bounds_for_up_to_two_individuals(n: int) -> None:
    matrix = np.ones((n, n)) - np.eye(n)
    bounds = certified_bounds(matrix)
    assert bounds.lower.tolist() == {0: [0], 1: [0, 0], 2: [2, 2, 0]}[n]
    assert bounds.upper.tolist() == {0: [0], 1: [np.inf, 0], 2: [2, 2, 0]}[n]
    assert bounds.is_exact.tolist() == {0: [True], 1: [False, True], 2: [True] * 3}[n]
    assert compute_bounds_at(matrix, range(n + 1)).lower.tolist() == bounds.lower.tolist()
    assert close_gaps(matrix, bounds, seconds=1).upper.tolist() == bounds.upper.tolist()


@hostile_examples
@given(distance_matrices(symmetric=True))
def test_symmetric_bounds_enclose_the_exact_values(matrix: FloatArray) -> None:
    bounds, n = certified_bounds(matrix), len(matrix)
    check_bounds(matrix, bounds, compute_exact_s(matrix))
    assert (np.diff(bounds.lower) <= 0).all()
    if n >= 2:
        assert (bounds.upper[1:] <= bounds.lower[:-1] + 1e-9).all()
        assert bounds.is_exact[[0, n - 2, n - 1, n]].all()
        scipy_totals = [solve_with_scipy(matrix, n - fixed) for fixed in range(n - 1)]
        assert bounds.lower[: n - 1] == pytest.approx(scipy_totals, abs=1e-9)


@hostile_examples
@given(distance_matrices(symmetric=False))
def test_asymmetric_bounds_enclose_the_exact_values(matrix: FloatArray) -> None:
    bounds = certified_bounds(matrix)
    check_bounds(matrix, bounds, compute_exact_s(matrix))
    assert len(matrix) < 2 or bounds.is_exact[[0, -1]].all()


@fewer_examples
@given(st.booleans().flatmap(lambda symmetric: distance_matrices(symmetric=symmetric)))
@example(np.array([[0.0, 0.5, 1.0], [1.0, 0.0, 1.0], [0.5, 1.0, 0.0]]))
def test_all_gaps_of_small_matrices_can_be_closed(matrix: FloatArray) -> None:
    closed_bounds = close_gaps(matrix, certified_bounds(matrix), seconds=60)
    check_bounds(matrix, closed_bounds, compute_exact_s(matrix))
    assert len(matrix) == 1 or closed_bounds.is_exact.all()


@fewer_examples
@given(st.booleans().flatmap(lambda symmetric: distance_matrices(symmetric=symmetric)), st.data())
def test_bounds_at_selected_counts_are_valid_and_no_weaker(matrix: FloatArray, data: st.DataObject) -> None:
    counts = data.draw(st.lists(st.integers(0, len(matrix))))
    selected_bounds, all_bounds = certified_bounds(matrix, counts), certified_bounds(matrix)
    assert selected_bounds.fixed.tolist() == sorted(set(counts))
    assert selected_bounds.lower.tolist() == all_bounds.lower[selected_bounds.fixed].tolist()
    selected_bounds = compute_bounds_at(matrix, counts)
    check_bounds(matrix, selected_bounds, compute_exact_s(matrix))
    assert (selected_bounds.lower >= all_bounds.lower[selected_bounds.fixed] - 1e-8).all()
    if np.array_equal(matrix, matrix.T):
        assert selected_bounds.lower == pytest.approx(
            all_bounds.lower[selected_bounds.fixed], rel=1e-8, abs=1e-8
        )


@pytest.mark.parametrize("seed", [pytest.param(1, marks=pytest.mark.full), 2])
def test_bounds_agree_with_scipy_and_highs(seed: int) -> None:
    matrix = build_random_distances(60, seed)
    bounds = certified_bounds(matrix)
    assert bounds.lower[:59] == pytest.approx([solve_with_scipy(matrix, 60 - fixed) for fixed in range(59)])
    counts = [*range(0, 61, 6), 53, 55, 57]
    closed_bounds = close_gaps(matrix, bounds, seconds=60, only=counts)
    assert closed_bounds.is_exact[counts].all()
    highs_totals = [solve_with_highs(matrix, fixed) for fixed in counts]
    assert closed_bounds.upper[counts] == pytest.approx(highs_totals, abs=1e-6)
    assert compute_bounds_at(matrix, range(0, 61, 6)).lower == pytest.approx(bounds.lower[::6])


def test_dual_prices_prove_the_bound() -> None:
    matrix, counts = build_random_distances(40, 3), np.array([1, 7, 20, 39, 40])
    choices = compute_cheapest_choices(matrix, counts)
    for index, count in enumerate(counts):
        rows, columns, slope = choices.row_prices[index], choices.column_prices[index], choices.slopes[count]
        reduced_costs = matrix + np.diag(np.full(40, slope)) - rows[:, np.newaxis] - columns
        assert reduced_costs.min() > -1e-12
        lower_bound = rows.sum() + columns.sum() - slope * (40 - count)
        assert lower_bound == pytest.approx(choices.totals[count])
        assert (choices.partners[index] >= 0).sum() == count


def test_close_gaps_respects_time_limit_and_selection() -> None:
    matrix = build_random_distances(80, 4)
    bounds = certified_bounds(matrix)
    gaps = np.flatnonzero(~bounds.is_exact)
    assert gaps.size
    assert close_gaps(matrix, bounds, seconds=0) is bounds
    assert close_gaps(matrix, bounds, seconds=60, only=np.flatnonzero(bounds.is_exact)) is bounds
    interrupted_bounds = close_gaps(matrix, bounds, seconds=1e-9)
    assert interrupted_bounds.lower.tolist() == bounds.lower.tolist()
    partly_closed_bounds = close_gaps(matrix, bounds, seconds=60, only=[int(gaps[0])])
    assert partly_closed_bounds.is_exact[gaps[0]]
    assert partly_closed_bounds.lower[gaps[1:]].tolist() == bounds.lower[gaps[1:]].tolist()
    assert (partly_closed_bounds.lower >= bounds.lower).all()
    assert (partly_closed_bounds.upper <= bounds.upper).all()


@pytest.mark.parametrize("seconds", [0.003, 0.03, 0.3])
def test_interrupted_close_gaps_returns_valid_bounds(seconds: float) -> None:
    matrix = build_random_distances(60, 6)
    bounds = certified_bounds(matrix)
    closed_bounds = close_gaps(matrix, bounds, seconds=60)
    assert closed_bounds.is_exact.all()
    check_bounds(matrix, close_gaps(matrix, bounds, seconds=seconds), closed_bounds.upper)


def test_shortest_loop_returns_the_shortest_cycle_of_a_walk() -> None:
    assert find_shortest_loop(np.array([4, 1, 7, 2, 7, 3, 1, 4])).tolist() == [7, 2, 7]
    assert find_shortest_loop(np.array([4, 1, 2, 4])).tolist() == [4, 1, 2, 4]


@pytest.mark.parametrize("moved_count", [3, 5, 7])
@pytest.mark.parametrize(
    "matrix", [build_random_distances(30, 8), np.round(build_random_distances(20, 9), 1)], ids=len
)
def test_odd_cycles_find_the_least_cost_of_moving_a_few(matrix: FloatArray, moved_count: int) -> None:
    n = len(matrix)
    choices = compute_cheapest_choices(matrix, np.arange(1, n + 1))
    known_bounds = float(choices.totals[moved_count]), 2 * float(choices.totals[moved_count]) + 1
    floor, cycles = bound_by_odd_cycles(matrix, choices, moved_count, known_bounds, np.inf)
    assert floor == pytest.approx(solve_with_highs(matrix, n - moved_count, is_exact=True), abs=1e-6)
    permutations = np.array(cycles)
    has_right_count = count_fixed_points(permutations) == n - moved_count
    assert permutation_costs(matrix, permutations)[has_right_count].min() == pytest.approx(floor, rel=1e-12)
    assert bound_by_odd_cycles(matrix, choices, moved_count, known_bounds, -np.inf) == (known_bounds[0], [])


def test_bounds_leave_their_inputs_unchanged() -> None:
    matrix = build_random_distances(30, 5)
    matrix.flags.writeable = False
    bounds = certified_bounds(matrix)
    for array in (bounds.lower, bounds.upper, bounds.permutations):
        array.flags.writeable = False
    close_gaps(matrix, bounds, seconds=10)
    certified_bounds(matrix, [3])


@pytest.mark.parametrize(
    "matrix",
    [np.zeros(3), np.zeros((2, 3)), np.ones((2, 2)), np.eye(2) - 1, np.array([[0, np.inf], [1, 0]])],
)
def test_invalid_distance_matrices_are_refused(matrix: FloatArray) -> None:
    for compute_bounds in (certified_bounds, lambda candidate: certified_bounds(candidate, [0])):
        with pytest.raises(InvalidInput):
            compute_bounds(matrix)


def test_invalid_arguments_are_refused() -> None:
    with pytest.raises(InvalidInput, match=str(MAX_DENSE_BOUNDS)):
        certified_bounds(np.zeros((MAX_DENSE_BOUNDS + 1, MAX_DENSE_BOUNDS + 1)))
    with pytest.raises(InvalidInput, match="fixed points"):
        certified_bounds(PAPER_MATRIX, [5])
    with pytest.raises(InvalidInput, match="all r"):
        close_gaps(PAPER_MATRIX, certified_bounds(PAPER_MATRIX, [0]), seconds=1)


def read_tc400_distances(folder: Path) -> FloatArray:
    """Return the distances of TC400: one minus the multiset Jaccard similarity of the goods bought."""
    names = ["customer", "receipt", "date", "time", "goods", "price", "quantity"]
    sales = pd.read_csv(folder / "Trans400.csv", names=names, dtype={"customer": str, "goods": str})
    customers = pd.read_csv(folder / "Master-Customer400.csv", header=None, dtype=str)[0]
    purchases = sales.pivot_table(index="customer", columns="goods", values="quantity", aggfunc="sum")
    amounts = purchases.reindex(customers).fillna(0).to_numpy(dtype=float)
    shared_amounts = np.array([np.minimum(row, amounts).sum(axis=1) for row in amounts])
    totals = amounts.sum(axis=1)
    matrix: FloatArray = 1 - shared_amounts / (totals[:, np.newaxis] + totals - shared_amounts)
    return matrix


@needs_reference_data
def test_bounds_of_tc400_equal_the_papers() -> None:
    matrix = read_tc400_distances(get_reference_folder())
    bounds = certified_bounds(matrix)
    assert bounds.min_distance == pytest.approx(0.7133620690, abs=1e-10)
    assert bounds.upper[0] == pytest.approx(356.39559585829, abs=1e-10)
    expected_s_lower = [0.6435287602, 0.7634816754, 0.8291073208, 0.8723424982, 0.8748393112]
    assert bounds.s_lower[[99, 47, 19, 1, 0]] / 400 == pytest.approx(expected_s_lower, abs=1e-10)
    expected_exact = [0.8909889896, 0.8439939045, 0.6547335023, 0.4234119550, 0.2030032154]
    assert bounds.is_exact[[0, 19, 99, 200, 300]].all()
    assert bounds.upper[[0, 19, 99, 200, 300]] / 400 == pytest.approx(expected_exact, abs=1e-10)
    expected_relaxed = [0.8884889896, 0.7766926602, 0.6524094760]
    assert bounds.lower[[1, 47, 100]] / 400 == pytest.approx(expected_relaxed, abs=1e-10)
    selected_bounds = compute_bounds_at(matrix, [1, 47, 100, 300])
    assert selected_bounds.lower == pytest.approx(bounds.lower[selected_bounds.fixed], abs=1e-9)
    closed_bounds = close_gaps(matrix, bounds, seconds=120)
    assert closed_bounds.is_exact.all()
    without_loops = matrix + np.diag(np.full(400, np.inf))
    best_triangle = min(
        float((without_loops[i][:, np.newaxis] + without_loops[i] + without_loops).min()) for i in range(400)
    )
    assert closed_bounds.upper[397] == pytest.approx(best_triangle, rel=1e-12)
    assert permutation_costs(matrix, closed_bounds.permutations) == pytest.approx(
        closed_bounds.upper, rel=1e-12
    )
    assert (closed_bounds.lower >= bounds.lower).all()
