"""The attackers ``aya``, ``gower`` and the one-to-one attackers equal a reference and keep their laws."""

from collections.abc import Callable
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anoncup.geometry import assignment
from anoncup.geometry.arrays import FloatArray, IntArray
from anoncup.geometry.assignment import candidates_from_blocks, match_dense, match_sparse
from anoncup.tracks.linkage.attack_rates import AnnotatedGuess, rate_guess
from anoncup.tracks.microdata.attackers.assignment import euc2_assignment, gower_assignment
from anoncup.tracks.microdata.attackers.euclidean import aya, euc2
from anoncup.tracks.microdata.attackers.gower import gower
from anoncup.tracks.microdata.distances import compute_gower_sums, search_by_gower
from anoncup.tracks.microdata.example import generate_households, get_household_columns
from anoncup.tracks.microdata.registry import METHODS
from anoncup.tracks.microdata.release import (
    MicrodataOriginal,
    MicrodataTarget,
    ScoredMicrodata,
    build_release,
    build_target,
)
from tests.support import microdata_reference_attackers as reference
from tests.support.hypothesis_profiles import limit_examples
from tests.support.microdata_cases import MicrodataCase, build_case, cases

pytestmark = pytest.mark.full

Attack = Callable[..., IntArray | AnnotatedGuess]
hostile_examples = limit_examples(80)
small_cases = cases().filter(lambda case: len(case.xs) <= 6)
SPARSE_OPTIONS = {"dense_limit": 0}
dense_limits = st.sampled_from([0, 1000])


def extract_guess(answer: IntArray | AnnotatedGuess) -> list[int]:
    guess: list[int] = (answer.guess if isinstance(answer, AnnotatedGuess) else answer).tolist()
    return guess


def get_tables(
    case: MicrodataCase,
) -> tuple[list[tuple[str, ...]], list[list[float]], list[tuple[str, ...]], list[list[float]]]:
    return case.xq, case.xs, case.yq, case.ys


@hostile_examples
@given(cases())
def test_aya_equals_the_reference(case: MicrodataCase) -> None:
    tables, target = get_tables(case), case.release.target
    quasi_columns, sensitive_columns = range(len(case.xq[0])), range(len(case.xs[0]))
    assert aya(target).tolist() == reference.aya(tables, quasi_columns, sensitive_columns)
    subset = aya(target, quasi_identifiers=("q0",), sensitive=("s0",))
    assert subset.tolist() == reference.aya(tables, [0], [0])
    assert aya(target, quasi_identifiers=()).tolist() == reference.aya(tables, [], sensitive_columns)


def test_aya_finds_partners_under_the_cheating_permutation() -> None:
    table, roles = generate_households(400), get_household_columns()
    rng = np.random.default_rng(3)
    anonymized, source = METHODS["cheating_permutation"].apply(table, roles, rng=rng)
    target = build_release(MicrodataOriginal(table, roles), anonymized, source).target
    assert (aya(target) != euc2(target))[target.original.group_by(roles.quasi_identifiers).sizes[
        target.match_classes(roles.quasi_identifiers)] > 1].all()  # fmt: skip


@hostile_examples
@given(cases())
def test_gower_equals_the_reference(case: MicrodataCase) -> None:
    assert gower(case.release.target).tolist() == reference.gower(get_tables(case))


@pytest.mark.parametrize("method", ["add_noise", "k_anonymize", "swap_within_classes", "microaggregate"])
@pytest.mark.parametrize("columns", [13, 2, 0])
def test_gower_equals_an_exhaustive_search(method: str, columns: int) -> None:
    check_nearest_rows(build_household_release(method, 300, columns).target)


@pytest.mark.parametrize(("category_count", "columns"), [(700, 1), (600, 3), (3, 260), (600, 260), (1, 300)])
def test_gower_equals_an_exhaustive_search_for_large_counts(category_count: int, columns: int) -> None:
    rng, rows = np.random.default_rng(4), 600
    xq = rng.integers(0, category_count, (rows, columns)).astype(str)
    yq = np.where(rng.random(xq.shape) < 0.5, xq, rng.integers(0, category_count + 1, xq.shape).astype(str))
    xs = rng.integers(0, 9, (rows, 2)).astype(float)
    ys = xs + rng.random((rows, 2))
    tables = [tuple(map(tuple, table.tolist())) for table in (xq, xs, yq, ys)]
    check_nearest_rows(build_case(tuple(tables), list(range(rows))).release.target)  # type: ignore[arg-type]


def check_nearest_rows(target: MicrodataTarget) -> None:
    """Check that the nearest row and the nearest seven rows are those of a search through all sums."""
    all_rows = np.arange(target.rows)
    sums = compute_gower_sums(target, all_rows)
    is_near = sums <= sums.min(axis=1, keepdims=True) * (1 + 1e-12)
    assert gower(target).tolist() == is_near.argmax(axis=1).tolist()
    rows, distances = search_by_gower(target, all_rows, count=7)
    assert (rows == np.argsort(sums, axis=1, kind="stable")[:, :7]).all()
    assert (distances == np.sort(sums, axis=1)[:, :7]).all()


def build_household_release(method: str, rows: int, columns: int = 13) -> ScoredMicrodata:
    roles = get_household_columns()
    table, quasi_identifiers = generate_households(rows), roles.quasi_identifiers[1 : columns + 1]
    anonymized, source = METHODS[method].apply(table, roles, rng=np.random.default_rng(1))
    used_roles = type(roles)(quasi_identifiers, roles.sensitive)
    return build_release(MicrodataOriginal(table, used_roles), anonymized, source)


@hostile_examples
@given(small_cases, dense_limits)
def test_gower_assignment_is_optimal(case: MicrodataCase, limit: int) -> None:
    answer = gower_assignment(case.release.target, dense_limit=limit)
    check_optimal(extract_guess(answer), reference.gower_costs(get_tables(case)), Decimal("1e-12"))


@hostile_examples
@given(small_cases, dense_limits)
def test_euclidean_assignment_is_optimal(case: MicrodataCase, limit: int) -> None:
    all_columns = range(len(case.xq[0])), range(len(case.xs[0]))
    costs = reference.euclidean_costs(get_tables(case), *all_columns)
    answer = euc2_assignment(case.release.target, dense_limit=limit)
    check_optimal(extract_guess(answer), costs, compute_rounding_margin(costs, case))
    costs = reference.euclidean_costs(get_tables(case), [0], [0])
    chosen_columns = {"quasi_identifiers": ("q0",), "sensitive": ("s0",)}
    subset = euc2_assignment(case.release.target, **chosen_columns, dense_limit=limit)
    check_optimal(extract_guess(subset), costs, compute_rounding_margin(costs, case))


def compute_rounding_margin(costs: reference.Costs, case: MicrodataCase) -> Decimal:
    """Return the difference of total costs up to which two assignments count as equally cheap.

    It is 1e-9 of the largest cell of X plus the rounding of float64 in the largest sum of these distances.
    """
    largest = max(abs(x) for row in case.xs for x in row)
    farthest = sum((max(cost for _, cost in row) for row in costs), Decimal(0))
    return Decimal(largest) / 10**9 + farthest / 10**14


def check_optimal(guess: list[int], costs: reference.Costs, margin: Decimal) -> None:
    assert len(set(guess)) == len(guess)
    assert all(0 <= i < len(costs[0]) for i in guess)
    best = reference.lowest_cost(costs)
    assert guess in reference.list_near_optimal(costs, best, margin)


@hostile_examples
@given(cases(), st.integers(0, 99), dense_limits)
def test_assignments_ignore_the_order_of_rows(case: MicrodataCase, seed: int, limit: int) -> None:
    target = case.release.target
    order = np.random.default_rng(seed).permutation(target.rows)
    reordered_target = build_target(target.original, target.anonymized.iloc[order].reset_index(drop=True))
    for attack in (gower_assignment, euc2_assignment):
        guess, reordered_guess = (
            extract_guess(attack(attack_target, dense_limit=limit))
            for attack_target in (target, reordered_target)
        )
        rows = [(texts, tuple(cells)) for texts, cells in zip(case.yq, case.ys, strict=True)]
        assert sorted(zip(rows, guess, strict=True)) == sorted(
            zip([rows[j] for j in order], reordered_guess, strict=True)
        )


@pytest.mark.parametrize("attack", [gower_assignment, euc2_assignment])
@pytest.mark.parametrize("method", ["add_noise", "k_anonymize", "swap_within_classes", "microaggregate"])
def test_sparse_assignment_costs_about_as_little_as_dense(attack: Attack, method: str) -> None:
    target = build_household_release(method, 500).target
    dense_guess, sparse_answer = attack(target), attack(target, **SPARSE_OPTIONS)
    assert isinstance(dense_guess, np.ndarray)
    assert isinstance(sparse_answer, AnnotatedGuess)
    assigned_rows = sparse_answer.guess[sparse_answer.guess >= 0]
    assert len(np.unique(assigned_rows)) == len(assigned_rows)
    assert len(assigned_rows) == target.rows
    dense_cost, sparse_cost = (
        compute_total_cost(attack, target, guess) for guess in (dense_guess, sparse_answer.guess)
    )
    if "the least possible" in str(sparse_answer.note):
        assert sparse_cost == pytest.approx(dense_cost, rel=1e-9)
    assert dense_cost <= sparse_cost * (1 + 1e-9)
    assert sparse_cost <= dense_cost * 1.1


def compute_total_cost(attack: Attack, target: MicrodataTarget, guess: IntArray) -> float:
    """Return the total cost of a full guess; each row outside of its class costs 1e9."""
    all_rows = np.arange(target.rows)
    if attack is gower_assignment:
        return float(compute_gower_sums(target, all_rows)[all_rows, guess].sum())
    names = target.original.columns.quasi_identifiers
    classes = target.match_classes(names)
    is_outside_class = (classes >= 0) & (target.original.group_by(names).group_ids[guess] != classes)
    return float(
        np.linalg.norm(target.original.values[guess] - target.values, axis=1).sum()
        + 1e9 * is_outside_class.sum()
    )


def test_sparse_assignments_have_a_note() -> None:
    release = build_household_release("add_noise", 60)
    answer = gower_assignment(release.target, dense_limit=59)
    assert isinstance(answer, AnnotatedGuess)
    assert str(answer.note) == (
        "sparse assignment: 60 rows are more than dense_limit = 59; the total cost is the least possible"
    )
    rate = rate_guess(answer, release.answer, rows=60)
    assert rate.note == answer.note
    assert rate.interval is not None
    assert isinstance(gower_assignment(release.target, dense_limit=60), np.ndarray)


def test_rows_without_a_free_neighbour_abstain() -> None:
    release = build_household_release("add_noise", 400)
    identical_rows = release.target.anonymized.iloc[[0] * 400].reset_index(drop=True)
    answer = gower_assignment(build_target(release.original, identical_rows), **SPARSE_OPTIONS)
    assert isinstance(answer, AnnotatedGuess)
    list_length = assignment.LIST_LENGTHS[-1]
    assert (answer.guess >= 0).sum() == list_length
    assert str(answer.note).endswith(
        f"; {400 - list_length} rows whose nearest {list_length} went to others were matched "
        "with what was left, "
        f"{400 - list_length} of them abstain"
    )


COSTS: dict[str, Callable[[np.random.Generator, tuple[int, int]], FloatArray]] = {
    "ties": lambda rng, shape: rng.integers(0, 3, shape).astype(float),
    "negative": lambda rng, shape: -rng.random(shape),
    "crowd": lambda rng, shape: rng.random(shape[1]) + 1e-3 * rng.random(shape),
}


@pytest.mark.parametrize("kind", COSTS)
@pytest.mark.parametrize("shape", [(1, 1), (1, 9), (30, 30), (40, 200), (200, 201)])
def test_sparse_matching_costs_as_little_as_dense_matching(kind: str, shape: tuple[int, int]) -> None:
    costs = COSTS[kind](np.random.default_rng(5), shape)
    dense_columns = match_dense(costs)
    sparse_match = match_sparse(
        candidates_from_blocks(lambda rows, columns: [costs[np.ix_(rows, columns)]]), *shape
    )
    dense_cost, column_of = costs[np.arange(shape[0]), dense_columns].sum(), sparse_match.columns
    assigned_columns = column_of[column_of >= 0]
    assert len(np.unique(assigned_columns)) == len(assigned_columns)
    if not sparse_match.displaced_count:
        assert costs[np.arange(shape[0]), column_of].sum() == pytest.approx(dense_cost, rel=1e-12)
