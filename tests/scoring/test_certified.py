"""Certified bounds on s_exact(r): brute force, a second implementation, and P2's own numbers."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import Bounds, LinearConstraint, linear_sum_assignment, milp

from anoncup.errors import InvalidInput
from anoncup.excessive.certified_bounds import LARGEST, certified_bounds
from anoncup.excessive.cycles import least_cycles
from anoncup.excessive.gaps import close_gaps, shortest_loop
from anoncup.excessive.paths import cheapest_choices, costs_of, fixed_points
from anoncup.geometry.arrays import FloatArray
from anoncup.geometry.kernels import warm_bounds
from tests.scoring.eisner import certified_at, mixed
from tests.support.bound_checks import check, distances, random_distances, s_exact
from tests.support.hypothesis_profiles import examples

pytestmark = pytest.mark.full

hostile = examples(150)
slower = examples(50)
P2 = np.array([[0, 4, 7, 6], [4, 0, 3, 2], [7, 3, 0, 5], [6, 2, 5, 0]], dtype=float)
"""The example of P2 §4.1."""


def chosen_by_scipy(matrix: FloatArray, count: int) -> float:
    """G(count): an assignment where n - count rows and columns go to free dummies."""
    n = len(matrix)
    padded = np.zeros((2 * n - count, 2 * n - count))
    padded[:n, :n] = matrix + np.diag(np.full(n, 1e6))
    padded[n:, n:] = 1e6
    rows, columns = linear_sum_assignment(padded)
    return float(padded[rows, columns].sum())


def solved_by_highs(matrix: FloatArray, fixed: int, *, exactly: bool = False) -> float:
    """s_exact(fixed) as an integer program over all entries; or with exactly so many fixed points."""
    n = len(matrix)
    uses = np.vstack([np.kron(np.eye(n), np.ones(n)), np.kron(np.ones(n), np.eye(n)), np.eye(n).ravel()])
    least, most = np.append(np.ones(2 * n), fixed if exactly else 0), np.append(np.ones(2 * n), fixed)
    solved = milp(
        matrix.ravel(),
        integrality=np.ones(n * n, dtype=np.int64),
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(uses, least, most),
        options={"mip_rel_gap": 0.0},
    )
    assert solved.fun is not None
    return float(solved.fun)


def test_the_papers_example() -> None:
    bounds = certified_bounds(P2)
    assert bounds.exact.all()
    assert bounds.upper.tolist() == [18, 10, 4, 4, 0]
    assert bounds.s_lower.tolist() == [11, 7, 4, 2, 0]
    assert costs_of(P2, np.array([[1, 2, 3, 0]])) == bounds.upper[0]
    assert bounds.least == 2


def test_two_tight_pairs_far_apart_leave_a_gap_that_closes() -> None:
    matrix = np.full((4, 4), 10.0)
    matrix[[0, 1, 2, 3], [1, 0, 3, 2]] = 0.1
    np.fill_diagonal(matrix, 0.0)
    bounds = certified_bounds(matrix)
    assert bounds.exact.tolist() == [True, False, True, True, True]
    assert (bounds.lower[1], bounds.upper[1]) == pytest.approx((0.3, 0.4))
    assert close_gaps(matrix, bounds, seconds=10).lower == pytest.approx(bounds.upper)


@pytest.mark.parametrize("n", [0, 1, 2])
def test_few_individuals(n: int) -> None:
    matrix = np.ones((n, n)) - np.eye(n)
    bounds = certified_bounds(matrix)
    assert bounds.lower.tolist() == {0: [0], 1: [0, 0], 2: [2, 2, 0]}[n]
    assert bounds.upper.tolist() == {0: [0], 1: [np.inf, 0], 2: [2, 2, 0]}[n]
    assert bounds.exact.tolist() == {0: [True], 1: [False, True], 2: [True] * 3}[n]
    assert certified_at(matrix, range(n + 1)).lower.tolist() == bounds.lower.tolist()
    assert close_gaps(matrix, bounds, seconds=1).upper.tolist() == bounds.upper.tolist()


@hostile
@given(distances(symmetric=True))
def test_symmetric_bounds_enclose_the_truth_and_the_next_bound(matrix: FloatArray) -> None:
    bounds, n = certified_bounds(matrix), len(matrix)
    check(matrix, bounds, s_exact(matrix))
    assert (np.diff(bounds.lower) <= 0).all()
    if n >= 2:
        assert (bounds.upper[1:] <= bounds.lower[:-1] + 1e-9).all()
        assert bounds.exact[[0, n - 2, n - 1, n]].all()
        scipys = [chosen_by_scipy(matrix, n - fixed) for fixed in range(n - 1)]
        assert bounds.lower[: n - 1] == pytest.approx(scipys, abs=1e-9)


@hostile
@given(distances(symmetric=False))
def test_asymmetric_bounds_enclose_the_truth(matrix: FloatArray) -> None:
    bounds = certified_bounds(matrix)
    check(matrix, bounds, s_exact(matrix))
    assert len(matrix) < 2 or bounds.exact[[0, -1]].all()


@slower
@given(st.booleans().flatmap(lambda symmetric: distances(symmetric=symmetric)))
def test_every_gap_of_a_few_individuals_closes(matrix: FloatArray) -> None:
    closed = close_gaps(matrix, certified_bounds(matrix), seconds=60)
    check(matrix, closed, s_exact(matrix))
    assert len(matrix) == 1 or closed.exact.all()


@slower
@given(st.booleans().flatmap(lambda symmetric: distances(symmetric=symmetric)), st.data())
def test_bounds_at_a_few_r_are_valid_and_no_weaker(matrix: FloatArray, data: st.DataObject) -> None:
    asked = data.draw(st.lists(st.integers(0, len(matrix))))
    few, every = certified_bounds(matrix, asked), certified_bounds(matrix)
    assert few.fixed.tolist() == sorted(set(asked))
    assert few.lower.tolist() == every.lower[few.fixed].tolist()
    few = certified_at(matrix, asked)
    check(matrix, few, s_exact(matrix))
    assert (few.lower >= every.lower[few.fixed] - 1e-8).all()
    if np.array_equal(matrix, matrix.T):
        assert few.lower == pytest.approx(every.lower[few.fixed], rel=1e-8, abs=1e-8)


@pytest.mark.parametrize("seed", [pytest.param(1, marks=pytest.mark.full), 2])
def test_sixty_individuals_agree_with_scipy_and_highs(seed: int) -> None:
    matrix = random_distances(60, seed)
    bounds = certified_bounds(matrix)
    assert bounds.lower[:59] == pytest.approx([chosen_by_scipy(matrix, 60 - fixed) for fixed in range(59)])
    asked = [*range(0, 61, 6), 53, 55, 57]
    closed = close_gaps(matrix, bounds, seconds=60, only=asked)
    assert closed.exact[asked].all()
    highs = [solved_by_highs(matrix, fixed) for fixed in asked]
    assert closed.upper[asked] == pytest.approx(highs, abs=1e-6)
    assert certified_at(matrix, range(0, 61, 6)).lower == pytest.approx(bounds.lower[::6])


def test_the_prices_prove_the_bound() -> None:
    matrix, counts = random_distances(40, 3), np.array([1, 7, 20, 39, 40])
    choices = cheapest_choices(matrix, counts)
    for place, count in enumerate(counts):
        rows, columns, slope = choices.rows[place], choices.columns[place], choices.slopes[count]
        reduced = matrix + np.diag(np.full(40, slope)) - rows[:, np.newaxis] - columns
        assert reduced.min() > -1e-12
        proved = rows.sum() + columns.sum() - slope * (40 - count)
        assert proved == pytest.approx(choices.totals[count])
        assert (choices.partners[place] >= 0).sum() == count


def test_closing_keeps_to_its_time_and_to_what_it_is_asked() -> None:
    matrix = random_distances(80, 4)
    bounds = certified_bounds(matrix)
    gaps = np.flatnonzero(~bounds.exact)
    assert gaps.size
    assert close_gaps(matrix, bounds, seconds=0) is bounds
    assert close_gaps(matrix, bounds, seconds=60, only=np.flatnonzero(bounds.exact)) is bounds
    hurried = close_gaps(matrix, bounds, seconds=1e-9)
    assert hurried.lower.tolist() == bounds.lower.tolist()
    one = close_gaps(matrix, bounds, seconds=60, only=[int(gaps[0])])
    assert one.exact[gaps[0]]
    assert one.lower[gaps[1:]].tolist() == bounds.lower[gaps[1:]].tolist()
    assert (one.lower >= bounds.lower).all()
    assert (one.upper <= bounds.upper).all()


@pytest.mark.parametrize("seconds", [0.003, 0.03, 0.3])
def test_whenever_closing_is_interrupted_the_bounds_hold(seconds: float) -> None:
    matrix = random_distances(60, 6)
    bounds = certified_bounds(matrix)
    true = close_gaps(matrix, bounds, seconds=60)
    assert true.exact.all()
    check(matrix, close_gaps(matrix, bounds, seconds=seconds), true.upper)


def test_the_shortest_loop_of_a_walk_is_cut_out() -> None:
    assert shortest_loop(np.array([4, 1, 7, 2, 7, 3, 1, 4])).tolist() == [7, 2, 7]
    assert shortest_loop(np.array([4, 1, 2, 4])).tolist() == [4, 1, 2, 4]


@pytest.mark.parametrize("moved", [3, 5, 7])
@pytest.mark.parametrize("matrix", [random_distances(30, 8), np.round(random_distances(20, 9), 1)], ids=len)
def test_the_least_cost_of_moving_a_few_is_found_by_an_odd_cycle(matrix: FloatArray, moved: int) -> None:
    n = len(matrix)
    choices = cheapest_choices(matrix, np.arange(1, n + 1))
    known = float(choices.totals[moved]), 2 * float(choices.totals[moved]) + 1
    floor, made = least_cycles(matrix, choices, moved, known, np.inf)
    assert floor == pytest.approx(solved_by_highs(matrix, n - moved, exactly=True), abs=1e-6)
    permutations = np.array(made)
    able = fixed_points(permutations) == n - moved
    assert costs_of(matrix, permutations)[able].min() == pytest.approx(floor, rel=1e-12)
    assert least_cycles(matrix, choices, moved, known, -np.inf) == (known[0], [])


def test_inputs_stay_untouched() -> None:
    matrix = random_distances(30, 5)
    matrix.flags.writeable = False
    bounds = certified_bounds(matrix)
    for each in (bounds.lower, bounds.upper, bounds.permutations):
        each.flags.writeable = False
    close_gaps(matrix, bounds, seconds=10)
    certified_bounds(matrix, [3])


@pytest.mark.parametrize(
    "matrix",
    [np.zeros(3), np.zeros((2, 3)), np.ones((2, 2)), np.eye(2) - 1, np.array([[0, np.inf], [1, 0]])],
)
def test_what_is_no_distance_matrix_is_refused(matrix: FloatArray) -> None:
    for bounds in (certified_bounds, lambda it: certified_bounds(it, [0])):
        with pytest.raises(InvalidInput):
            bounds(matrix)


def test_misuse_is_refused() -> None:
    with pytest.raises(InvalidInput, match=str(LARGEST)):
        certified_bounds(np.zeros((LARGEST + 1, LARGEST + 1)))
    with pytest.raises(InvalidInput, match="fixed points"):
        certified_bounds(P2, [5])
    with pytest.raises(InvalidInput, match="all r"):
        close_gaps(P2, certified_bounds(P2, [0]), seconds=1)


def test_mixing_takes_whole_cycles_up_to_the_number_allowed() -> None:
    below, above = np.array([1, 0, 3, 2, 5, 6, 4]), np.array([0, 1, 2, 3, 5, 6, 4])
    assert mixed(below, above, 1).tolist() == below.tolist()
    assert fixed_points(np.array([mixed(below, above, most) for most in (2, 3, 4)])).tolist() == [2, 2, 4]


def test_the_compiled_loops_are_warmed() -> None:
    warm_bounds()


def tc400(folder: Path) -> FloatArray:
    """TC400's distances: one less multiset Jaccard of the goods bought, by quantity."""
    names = ["customer", "receipt", "date", "time", "goods", "price", "quantity"]
    sales = pd.read_csv(folder / "Trans400.csv", names=names, dtype={"customer": str, "goods": str})
    customers = pd.read_csv(folder / "Master-Customer400.csv", header=None, dtype=str)[0]
    bought = sales.pivot_table(index="customer", columns="goods", values="quantity", aggfunc="sum")
    amounts = bought.reindex(customers).fillna(0).to_numpy(dtype=float)
    common = np.array([np.minimum(each, amounts).sum(axis=1) for each in amounts])
    totals = amounts.sum(axis=1)
    matrix: FloatArray = 1 - common / (totals[:, np.newaxis] + totals - common)
    return matrix


def test_the_numbers_of_tc400(reference_data: Path) -> None:
    matrix = tc400(reference_data)
    bounds = certified_bounds(matrix)
    assert bounds.least == pytest.approx(0.7133620690, abs=1e-10)
    assert bounds.upper[0] == pytest.approx(356.39559585829, abs=1e-10)
    lower = [0.6435287602, 0.7634816754, 0.8291073208, 0.8723424982, 0.8748393112]
    assert bounds.s_lower[[99, 47, 19, 1, 0]] / 400 == pytest.approx(lower, abs=1e-10)
    exact = [0.8909889896, 0.8439939045, 0.6547335023, 0.4234119550, 0.2030032154]
    assert bounds.exact[[0, 19, 99, 200, 300]].all()
    assert bounds.upper[[0, 19, 99, 200, 300]] / 400 == pytest.approx(exact, abs=1e-10)
    relaxed = [0.8884889896, 0.7766926602, 0.6524094760]
    assert bounds.lower[[1, 47, 100]] / 400 == pytest.approx(relaxed, abs=1e-10)
    few = certified_at(matrix, [1, 47, 100, 300])
    assert few.lower == pytest.approx(bounds.lower[few.fixed], abs=1e-9)
    closed = close_gaps(matrix, bounds, seconds=120)
    assert closed.exact.all()
    apart = matrix + np.diag(np.full(400, np.inf))
    around = min(float((apart[i][:, np.newaxis] + apart[i] + apart).min()) for i in range(400))
    assert closed.upper[397] == pytest.approx(around, rel=1e-12)
    assert costs_of(matrix, closed.permutations) == pytest.approx(closed.upper, rel=1e-12)
    assert (closed.lower >= bounds.lower).all()
