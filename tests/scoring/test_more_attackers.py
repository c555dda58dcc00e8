"""The attackers by all columns and the one-to-one ones equal a second implementation, and keep their laws."""

from collections.abc import Callable
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anoncup.geometry import assignment, kernels
from anoncup.geometry.arrays import FloatArray, IntArray
from anoncup.geometry.assignment import listing_of, match_dense, match_listed
from anoncup.geometry.kernels import knn_gower, octree_bvh
from anoncup.geometry.kernels.assignment import place_rows
from anoncup.tracks.linkage.attack_rates import Noted, rate_of
from anoncup.tracks.linkage.attackers import own_row
from anoncup.tracks.microdata.attackers.assignment import euc2_assignment, gower_assignment
from anoncup.tracks.microdata.attackers.euclidean import aya, euc2
from anoncup.tracks.microdata.attackers.gower import gower
from anoncup.tracks.microdata.distances import (
    gower_nearest,
    gower_sums,
    ranges,
    scaled_differences,
    whole_gower_index,
)
from anoncup.tracks.microdata.example import household_columns, household_table
from anoncup.tracks.microdata.registry import METHODS
from anoncup.tracks.microdata.release import Release, Target, prepare, release_of, target_of
from anoncup.tracks.outcomes import Rate
from tests.scoring import reference_attackers as reference
from tests.scoring.tables_to_break import HOSTILE, TAME, Case, case_of, cases
from tests.support.hypothesis_profiles import examples

pytestmark = pytest.mark.full

Attack = Callable[..., IntArray | Noted]
hostile = examples(80)
small = cases().filter(lambda case: len(case.xs) <= 6)
SPARSE = {"dense_limit": 0}
limits = st.sampled_from([0, 1000])


def guess_of(answer: IntArray | Noted) -> list[int]:
    guess: list[int] = (answer.guess if isinstance(answer, Noted) else answer).tolist()
    return guess


def tables_of(
    case: Case,
) -> tuple[list[tuple[str, ...]], list[list[float]], list[tuple[str, ...]], list[list[float]]]:
    return case.xq, case.xs, case.yq, case.ys


@hostile
@given(cases())
def test_aya_takes_no_identical_row_while_the_class_has_others(case: Case) -> None:
    tables, target = tables_of(case), case.release.target
    quasi, sensitive = range(len(case.xq[0])), range(len(case.xs[0]))
    assert aya(target).tolist() == reference.aya(tables, quasi, sensitive)
    subset = aya(target, quasi_identifiers=("q0",), sensitive=("s0",))
    assert subset.tolist() == reference.aya(tables, [0], [0])
    assert aya(target, quasi_identifiers=()).tolist() == reference.aya(tables, [], sensitive)


def test_aya_finds_partners_under_the_cheating_permutation() -> None:
    table, roles = household_table(400), household_columns()
    rng = np.random.default_rng(3)
    anonymized, source = METHODS["cheating_permutation"].apply(table, roles, rng=rng)
    target = release_of(prepare(table, roles), anonymized, source).target
    assert (aya(target) != euc2(target))[target.original.grouping(roles.quasi_identifiers).sizes[
        target.matches(roles.quasi_identifiers)] > 1].all()  # fmt: skip


@hostile
@given(cases())
def test_own_row_counts(case: Case) -> None:
    assert own_row(case.release.target).tolist() == list(range(len(case.ys)))


@hostile
@given(cases())
def test_gower_finds_the_nearest_and_of_equally_near_rows_the_lowest(case: Case) -> None:
    assert gower(case.release.target).tolist() == reference.gower(tables_of(case))


@hostile
@given(cases())
def test_gower_sums_are_those_of_plain_loops(case: Case) -> None:
    costs = [[float(cost) for _, cost in row] for row in reference.gower_costs(tables_of(case))]
    sums = gower_sums(case.release.target, np.arange(len(case.ys)))
    assert sums == pytest.approx(np.array(costs), rel=1e-14, abs=1e-300)


@hostile
@given(cases())
def test_gower_sums_are_those_of_column_after_column_to_the_last_digit(case: Case) -> None:
    target, everyone = case.release.target, np.arange(len(case.ys))
    original, (rooms, widths) = target.original, ranges(target.original)
    sums = np.zeros((target.rows, original.rows))
    for codes, others in zip(target.codes.T, original.codes.T, strict=True):
        sums += codes[:, None] != others
    for place, (cells, known) in enumerate(zip(target.values.T, original.values.T, strict=True)):
        of = rooms[place], widths[place]
        sums += np.minimum(scaled_differences(known, cells[:, None], of), 1.0)
    assert (gower_sums(target, everyone) == sums).all()


@pytest.mark.parametrize("method", ["add_noise", "k_anonymize", "swap_within_classes", "microaggregate"])
@pytest.mark.parametrize("columns", [13, 2, 0])
def test_gower_equals_a_search_through_everything(method: str, columns: int) -> None:
    finds_all(household_release(method, 300, columns).target)


@pytest.mark.parametrize("kind", ["unknown", "mixed"])
@pytest.mark.parametrize("values", ["noisy", "far", "huge"])
def test_gower_equals_a_search_through_everything_where_no_class_matches(kind: str, values: str) -> None:
    release, rng = household_release("add_noise", 600), np.random.default_rng(2)
    anonymized, columns = release.target.anonymized.copy(), release.original.columns
    for name in columns.quasi_identifiers:
        anonymized[name] = "unknown" if kind == "unknown" else rng.permutation(anonymized[name])
    x = release.original.values
    drawn = {
        "noisy": release.target.values,
        "far": x.min(axis=0) + np.ptp(x, axis=0) * rng.random(x.shape),
        "huge": np.full(x.shape, 1e308),
    }
    anonymized[list(columns.sensitive)] = drawn[values]
    finds_all(target_of(release.original, anonymized))


@pytest.mark.parametrize(("texts", "columns"), [(700, 1), (600, 3), (3, 260), (600, 260), (1, 300)])
def test_gower_equals_a_search_through_everything_where_mismatches_or_texts_need_more_than_a_byte(
    texts: int, columns: int
) -> None:
    rng, rows = np.random.default_rng(4), 600
    xq = rng.integers(0, texts, (rows, columns)).astype(str)
    yq = np.where(rng.random(xq.shape) < 0.5, xq, rng.integers(0, texts + 1, xq.shape).astype(str))
    xs = rng.integers(0, 9, (rows, 2)).astype(float)
    ys = xs + rng.random((rows, 2))
    tables = [tuple(map(tuple, each.tolist())) for each in (xq, xs, yq, ys)]
    finds_all(case_of(tuple(tables), list(range(rows))).release.target)  # type: ignore[arg-type]


def finds_all(target: Target) -> None:
    """The nearest row, and the nearest several, as all sums have them."""
    everyone = np.arange(target.rows)
    sums = gower_sums(target, everyone)
    near = sums <= sums.min(axis=1, keepdims=True) * (1 + 1e-12)
    assert gower(target).tolist() == near.argmax(axis=1).tolist()
    index = whole_gower_index(target.original)
    rows, found = gower_nearest(target, index, everyone, 7)
    assert (rows == np.argsort(sums, axis=1, kind="stable")[:, :7]).all()
    assert (found == np.sort(sums, axis=1)[:, :7]).all()


def household_release(method: str, rows: int, columns: int = 13) -> Release:
    roles = household_columns()
    table, chosen = household_table(rows), roles.quasi_identifiers[1 : columns + 1]
    anonymized, source = METHODS[method].apply(table, roles, rng=np.random.default_rng(1))
    kept = type(roles)(chosen, roles.sensitive)
    return release_of(prepare(table, kept), anonymized, source)


@hostile
@given(small, limits)
def test_an_assignment_by_gower_is_the_cheapest_of_all(case: Case, limit: int) -> None:
    answer = gower_assignment(case.release.target, dense_limit=limit)
    is_cheapest(guess_of(answer), reference.gower_costs(tables_of(case)), Decimal("1e-12"))


@hostile
@given(small, limits)
def test_an_assignment_by_distance_is_the_cheapest_of_all(case: Case, limit: int) -> None:
    everything = range(len(case.xq[0])), range(len(case.xs[0]))
    costs = reference.euclidean_costs(tables_of(case), *everything)
    answer = euc2_assignment(case.release.target, dense_limit=limit)
    is_cheapest(guess_of(answer), costs, rounding(costs, case))
    costs = reference.euclidean_costs(tables_of(case), [0], [0])
    chosen = {"quasi_identifiers": ("q0",), "sensitive": ("s0",)}
    subset = euc2_assignment(case.release.target, **chosen, dense_limit=limit)
    is_cheapest(guess_of(subset), costs, rounding(costs, case))


def rounding(costs: reference.Costs, case: Case) -> Decimal:
    """What is too little to tell apart beside X's largest cell and in float64's sum of these distances."""
    largest = max(abs(x) for row in case.xs for x in row)
    farthest = sum((max(cost for _, cost in row) for row in costs), Decimal(0))
    return Decimal(largest) / 10**9 + farthest / 10**14


def is_cheapest(guess: list[int], costs: reference.Costs, margin: Decimal) -> None:
    assert len(set(guess)) == len(guess)
    assert all(0 <= i < len(costs[0]) for i in guess)
    best = reference.cheapest(costs)
    assert guess in reference.all_near(costs, best, margin)


@hostile
@given(cases(), st.integers(0, 99), limits)
def test_the_order_of_rows_matters_only_between_equal_rows(case: Case, seed: int, limit: int) -> None:
    target = case.release.target
    order = np.random.default_rng(seed).permutation(target.rows)
    moved = target_of(target.original, target.anonymized.iloc[order].reset_index(drop=True))
    for attack in (gower_assignment, euc2_assignment):
        before, after = (guess_of(attack(each, dense_limit=limit)) for each in (target, moved))
        rows = [(texts, tuple(cells)) for texts, cells in zip(case.yq, case.ys, strict=True)]
        assert sorted(zip(rows, before, strict=True)) == sorted(
            zip([rows[j] for j in order], after, strict=True)
        )


@pytest.mark.parametrize("attack", [gower_assignment, euc2_assignment])
@pytest.mark.parametrize("method", ["add_noise", "k_anonymize", "swap_within_classes", "microaggregate"])
def test_lists_find_what_the_full_matrix_finds(attack: Attack, method: str) -> None:
    target = household_release(method, 500).target
    dense, listed = attack(target), attack(target, **SPARSE)
    assert isinstance(dense, np.ndarray)
    assert isinstance(listed, Noted)
    placed = listed.guess[listed.guess >= 0]
    assert len(np.unique(placed)) == len(placed)
    assert len(placed) == target.rows
    least, found = (price(attack, target, guess) for guess in (dense, listed.guess))
    if "the least possible" in str(listed.note):
        assert found == pytest.approx(least, rel=1e-9)
    assert least <= found * (1 + 1e-9)
    assert found <= least * 1.1


def price(attack: Attack, target: Target, guess: IntArray) -> float:
    """The total cost of a full guess, leaving a class costing 1e9."""
    everyone = np.arange(target.rows)
    if attack is gower_assignment:
        return float(gower_sums(target, everyone)[everyone, guess].sum())
    names = target.original.columns.quasi_identifiers
    classes = target.matches(names)
    away = (classes >= 0) & (target.original.grouping(names).group_of[guess] != classes)
    return float(
        np.linalg.norm(target.original.values[guess] - target.values, axis=1).sum() + 1e9 * away.sum()
    )


def test_a_cell_at_the_end_of_the_range_takes_nothing_from_the_other_rows() -> None:
    release = household_release("add_noise", 300)
    anonymized = release.target.anonymized.copy()
    anonymized.loc[7, list(release.original.columns.sensitive)] = 1.7e308
    spoilt = target_of(release.original, anonymized)
    for attack in (gower_assignment, euc2_assignment):
        for options in ({}, SPARSE):
            before, after = (np.array(guess_of(attack(t, **options))) for t in (release.target, spoilt))
            assert (before == after).mean() > 0.98


def test_an_answer_by_lists_says_so() -> None:
    release = household_release("add_noise", 60)
    answer = gower_assignment(release.target, dense_limit=59)
    assert isinstance(answer, Noted)
    assert str(answer.note) == (
        "sparse assignment: 60 rows are more than dense_limit = 59; the total cost is the least possible"
    )
    rate = rate_of(answer, release.source, rows=60)
    assert rate.note == answer.note
    assert rate.interval is not None
    assert isinstance(gower_assignment(release.target, dense_limit=60), np.ndarray)


def test_who_finds_all_listed_rows_taken_gets_what_is_left_or_abstains() -> None:
    release = household_release("add_noise", 400)
    flat = release.target.anonymized.iloc[[0] * 400].reset_index(drop=True)
    answer = gower_assignment(target_of(release.original, flat), **SPARSE)
    assert isinstance(answer, Noted)
    longest = assignment.LENGTHS[-1]
    assert (answer.guess >= 0).sum() == longest
    assert str(answer.note).endswith(
        f"; {400 - longest} rows whose nearest {longest} went to others were matched with what was left, "
        f"{400 - longest} of them abstain"
    )


def test_a_rate_without_a_note_has_none() -> None:
    assert rate_of(np.array([0]), np.array([0]), rows=1).note is None
    assert Rate(1.0, 1, 1, 1.0).note is None


def drawn(kind: str, rng: np.random.Generator, rows: int, columns: int) -> FloatArray:
    shape = rows, columns
    kinds: dict[str, Callable[[], FloatArray]] = {
        "random": lambda: rng.random(shape),
        "ties": lambda: rng.integers(0, 3, shape).astype(float),
        "equal": lambda: np.ones(shape),
        "places": lambda: np.abs(rng.normal(size=rows)[:, None] - rng.normal(size=columns)),
        "negative": lambda: -rng.random(shape),
        "crowd": lambda: rng.random(columns) + 1e-3 * rng.random(shape),
    }
    return kinds[kind]()


@pytest.mark.parametrize("kind", ["random", "ties", "equal", "places", "negative", "crowd"])
@pytest.mark.parametrize("shape", [(1, 1), (1, 9), (30, 30), (40, 200), (200, 201)])
def test_lists_of_a_matrix_match_it_as_cheaply(kind: str, shape: tuple[int, int]) -> None:
    costs = drawn(kind, np.random.default_rng(5), *shape)
    dense = match_dense(costs)
    listed = match_listed(listing_of(lambda rows, columns: [costs[np.ix_(rows, columns)]]), *shape)
    least, found = costs[np.arange(shape[0]), dense].sum(), listed.column_of
    placed = found[found >= 0]
    assert len(np.unique(placed)) == len(placed)
    if not listed.late:
        assert costs[np.arange(shape[0]), found].sum() == pytest.approx(least, rel=1e-12)


@given(st.integers(1, 5), st.integers(0, 3), st.sampled_from([TAME, HOSTILE]), st.data())
@examples(200)
def test_a_full_matrix_is_matched_at_the_least_cost(
    rows: int, more: int, cells: list[float], data: st.DataObject
) -> None:
    row = st.lists(st.sampled_from(cells), min_size=rows + more, max_size=rows + more)
    costs = np.array(data.draw(st.lists(row, min_size=rows, max_size=rows)))
    plain = [[(0, Decimal(cost)) for cost in line] for line in costs.tolist()]
    is_cheapest(match_dense(costs).tolist(), plain, Decimal(np.abs(costs).max()) / 10**12)


def test_kernels_of_lists_are_compiled_for_one_set_of_types_only() -> None:
    kernels.warm()
    release = household_release("add_noise", 50)
    for attack in (gower, gower_assignment, euc2_assignment):
        attack(release.target, **({} if attack is gower else SPARSE))
    compiled = [octree_bvh.several, knn_gower.gower_several, place_rows]
    assert [len(kernel.loop.signatures) for kernel in compiled] == [1, 1, 1]  # type: ignore[attr-defined]
