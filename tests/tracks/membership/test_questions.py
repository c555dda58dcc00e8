"""Outcomes of membership and attribute guesses: against plain loops with fractions, and known cases."""

from dataclasses import replace
from fractions import Fraction
from typing import Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anoncup.geometry.arrays import BoolArray, FloatArray
from anoncup.tracks.membership.answer import Members
from anoncup.tracks.membership.questions import (
    accuracy,
    auc,
    compute_attribute_outcome,
    compute_difference_interval,
    compute_membership_outcome,
    compute_operating_points,
    guess_most_common,
    make_reference_guess,
    tpr,
)
from anoncup.tracks.membership.reference_predictor import predict
from anoncup.tracks.membership.tables import MembershipOriginal, TypedTable
from anoncup.tracks.outcomes import Outcome
from tests.support import membership_reference as plain
from tests.support.hypothesis_profiles import limit_examples
from tests.support.membership_cases import (
    MembershipCase,
    build_schema,
    build_survey,
    build_table,
    cases,
    list_rows,
)
from tests.support.membership_reference import Rows

SCORES = [0.0, 1.0, 0.5, 0.5000000000000001, 1e-300, 0.25]


@st.composite
def guesses(draw: st.DrawFn) -> tuple[list[float], list[bool]]:
    """Draw scores and members; with about 100 non-members an FPR of 1 % is an operating point."""
    member_count = draw(st.integers(1, 8))
    other_count = draw(st.sampled_from([member_count, 1, 99, 100, 101, 200]))
    values = SCORES[: draw(st.integers(1, len(SCORES)))]
    size = member_count + other_count
    scores = draw(st.lists(st.sampled_from(values) | st.floats(0, 1), min_size=size, max_size=size))
    order = draw(st.permutations(range(size)))
    return scores, [index < member_count for index in order]


@given(guesses())
@limit_examples(200)
def test_roc_values_equal_plain_loops(case: tuple[list[float], list[bool]]) -> None:
    scores, members = case
    points = compute_operating_points(np.array(scores), np.array(members))
    assert tpr(points) == plain.tpr(scores, members)
    assert auc(points) == plain.auc(scores, members)
    assert accuracy(points) == plain.accuracy(scores, members)
    details = compute_membership_outcome(np.array(scores), np.array(members)).details
    expected = {"tpr": plain.tpr, "auc": plain.auc, "accuracy": plain.accuracy}
    assert {name: details[name] for name in expected} == {
        name: float(compute(scores, members)) for name, compute in expected.items()
    }


def choose_random_half(rows: int, seed: int = 0) -> BoolArray:
    return np.random.default_rng(seed).permutation(rows) < rows // 2


@pytest.mark.parametrize("rows", [2, 20, 400])
def test_equal_scores_get_the_baseline(rows: int) -> None:
    baselines: dict[Literal["tpr", "advantage"], float] = {"tpr": 0.01, "advantage": 0.0}
    for value, baseline in baselines.items():
        outcome = compute_membership_outcome(np.full(rows, 0.7), choose_random_half(rows), value=value)
        assert (outcome.value, outcome.baseline, outcome.risk) == (baseline, baseline, 0.0)
        assert outcome.details["auc"] == outcome.details["accuracy"] == 0.5


@pytest.mark.parametrize("seed", range(5))
def test_intervals_of_random_scores_contain_the_baseline(seed: int) -> None:
    scores: FloatArray = np.random.default_rng(seed).random(4000)
    for value in ("tpr", "advantage"):
        outcome = compute_membership_outcome(scores, choose_random_half(4000, seed), value=value)
        assert outcome.interval is not None
        assert outcome.interval[0] <= outcome.baseline <= outcome.interval[1]


def test_guess_below_chance_has_value_zero() -> None:
    members = choose_random_half(40)
    outcome = compute_membership_outcome((~members).astype(float), members, value="advantage")
    assert (outcome.value, outcome.details["advantage"], outcome.details["tpr"]) == (0.0, -1.0, 0.0)


def test_tpr_is_interpolated_between_operating_points() -> None:
    # 4 members and 50 others: the first point has one other (2 %) and two members; 1 % is half-way to it.
    members = np.arange(54) < 4
    scores = np.where(np.arange(54) < 2, 0.9, 0.1)
    scores[53] = 0.9
    assert tpr(compute_operating_points(scores, members)) == Fraction(1, 4)


@given(cases(), st.sampled_from([0.0, 0.1, 1.0, 1e300]), st.data())
@limit_examples(60)
def test_attribute_outcomes_equal_plain_loops(
    case: MembershipCase, tolerance: float, data: st.DataObject
) -> None:
    names = case.candidates.schema.names
    hidden_column = data.draw(st.sampled_from(names))
    known_columns = case.candidates.select_columns(*(name for name in names if name != hidden_column))
    truth, non_members = case.candidates.select_columns(hidden_column), ~case.members
    guess = truth.select_rows(np.random.default_rng(case.release.rows).permutation(truth.rows))
    reference = predict(
        known_columns.select_rows(non_members),
        truth.select_rows(non_members),
        known_columns.select_rows(case.members),
    )
    guessed_cells, true_cells, reference_cells = (
        [row[0] for row in list_rows(table)]
        for table in (guess.select_rows(case.members), truth.select_rows(case.members), reference)
    )
    if len(names) > 1:
        train_cells = [row[0] for row in list_rows(truth.select_rows(non_members))]
        query_rows = list_rows(known_columns.select_rows(case.members))
        assert reference_cells == plain.impute(
            list_rows(known_columns.select_rows(non_members)), train_cells, query_rows
        )
    outcome = compute_attribute_outcome(guess, truth, case.members, reference, tolerance=tolerance)
    assert outcome.value == float(plain.attribute_gain(guessed_cells, true_cells, reference_cells, tolerance))
    assert outcome.interval is not None
    assert outcome.interval[0] <= outcome.value <= outcome.interval[1]
    details = outcome.details
    assert details["without_release"] == max(details["commonest"], details["reference"])
    assert -1 <= details["difference_low"] <= details["members"] - details["without_release"] + 1e-15
    assert details["members"] - details["without_release"] - 1e-15 <= details["difference_high"] <= 1


def judge_attribute(
    member_answers: list[float],
    other_answers: list[float],
    truth: list[float],
    reference: list[float] | None = None,
) -> Outcome:
    """Judge guesses at a numeric column; ``truth`` has the members' cells first, then the others'."""
    schema = build_schema(1, 0)
    guess, true_cells, reference_cells = (
        build_table([[value] for value in values], schema)
        for values in ([*member_answers, *other_answers], truth, reference or [-1.0] * len(member_answers))
    )
    return compute_attribute_outcome(
        guess, true_cells, np.arange(len(truth)) < len(member_answers), reference_cells
    )


def test_only_gains_over_commonest_value_and_reference_count() -> None:
    truth = [1.0, 2, 3, 3, 1, 2, 3, 3]
    assert judge_attribute([1, 2, 3, 3], [0, 0, 0, 0], truth).value == 1.0
    assert judge_attribute([1, 0, 3, 3], [0, 0, 0, 0], truth).value == 0.5  # (3/4 - 1/2) / (1 - 1/2)
    assert judge_attribute([3, 3, 3, 3], [0, 0, 0, 0], truth).value == 0.0
    assert judge_attribute([0, 2, 3, 3], [0, 0, 0, 0], truth, [1, 2, 3, 0]).value == 0.0
    assert judge_attribute([1, 2, 3, 3], [0, 0, 0, 0], truth, [1, 2, 3, 3]).value == 0.0
    assert judge_attribute([7, 7], [0, 7], [7, 7, 7, 7]).value == 0.0


def test_wrong_answers_about_non_members_gain_nothing() -> None:
    truth = [1.0, 2, 3, 3, 1, 2, 3, 3]
    for other_answers, share in (([3.0] * 4, 0.5), ([9.0] * 4, 0.0)):
        outcome = judge_attribute([3] * 4, other_answers, truth)
        assert (outcome.value, outcome.details["others"]) == (0.0, share)


def test_commonest_value_is_chosen_within_the_tolerance() -> None:
    column = build_table([[value] for value in (1.0, 1.0, 4.0, 5.0, 6.0, 9.0)], build_schema(1, 0))
    assert guess_most_common(column, 0.0).numbers[:, 0].tolist() == [1.0] * 6
    assert guess_most_common(column, 1.0).numbers[:, 0].tolist() == [5.0] * 6


def test_intervals_use_paired_differences() -> None:
    """Of 20 pairs, 5 favour the guess and 2 the control."""
    guess_is_right = np.array([True] * 12 + [False] * 8)
    control_is_right = np.array([False] * 5 + [True] * 9 + [False] * 6)
    low, high = compute_difference_interval(guess_is_right, control_is_right)
    half_width = 1.959963984540054 * np.sqrt((5.5 + 2.5) - 3 * 3 / 22) / 22
    assert (float(low), float(high)) == pytest.approx((3 / 22 - half_width, 3 / 22 + half_width))


def test_reference_ties_go_to_the_first_value_despite_rounding() -> None:
    rows: Rows = [[value, text] for value in (0.1, 0.7, 1e6) for text in ("a", "never")]
    table = build_table(rows, build_schema(1, 1))
    known_cells = table.select_columns("n0")
    texts = table.select_columns("c0")
    numbers = build_table([[0.0], [1.0]] * 3, build_schema(1, 0))
    for order in (np.arange(6), np.arange(6)[::-1]):
        known = known_cells.select_rows(order)
        guessed_texts = predict(known, texts.select_rows(order), known_cells)
        assert set(guessed_texts.decode_column(0)) == {"a"}
        guessed_numbers = predict(known, numbers.select_rows(order), known_cells)
        assert set(guessed_numbers.numbers[:, 0]) == {0.0}


@pytest.mark.parametrize("hidden_column", ["disease", "weight"])
def test_reference_prefers_background_rows_for_training(hidden_column: str) -> None:
    original = build_survey(200)
    names = [name for name in original.candidates.schema.names if name != hidden_column]
    known_columns = original.candidates.select_columns(*names)
    truth = original.candidates.select_columns(hidden_column)
    is_member = choose_random_half(200)
    members = Members(np.flatnonzero(is_member), original.candidates.select_rows(is_member), truth)
    assert original.background is not None
    with_background, without_background = (
        make_reference_guess(replace(members, original=MembershipOriginal(known_columns, background)))
        for background in (original.background, None)
    )
    background = original.background
    queries = known_columns.select_rows(is_member)
    background_guess = predict(
        background.select_columns(*names), background.select_columns(hidden_column), queries
    )
    assert have_equal_cells(with_background, background_guess)
    other_guess = predict(known_columns.select_rows(~is_member), truth.select_rows(~is_member), queries)
    assert have_equal_cells(without_background, other_guess)
    assert not have_equal_cells(with_background, without_background)


def have_equal_cells(first: TypedTable, second: TypedTable) -> bool:
    return np.array_equal(first.numbers, second.numbers) and np.array_equal(first.codes, second.codes)
