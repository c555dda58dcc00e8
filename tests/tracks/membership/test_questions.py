"""Outcomes of membership and attribute guesses: against plain loops with fractions, and known cases."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anoncup.geometry.arrays import BoolArray, FloatArray
from anoncup.tracks.membership.answer import Members
from anoncup.tracks.membership.questions import (
    attribute_outcome,
    find_right_cells,
    guess_commonest,
    membership_outcome,
    paired_difference_interval,
    reference_guess,
)
from anoncup.tracks.membership.reference_predictor import predict
from anoncup.tracks.membership.roc import accuracy, auc, compute_operating_points, tpr
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


@given(guesses())
@limit_examples(40)
def test_the_order_of_candidates_changes_no_outcome(case: tuple[list[float], list[bool]]) -> None:
    scores, members = np.array(case[0]), np.array(case[1])
    order = np.random.default_rng(len(scores)).permutation(len(scores))
    for value in ("tpr", "advantage"):
        outcome = membership_outcome(scores, members, value=value)
        reordered_outcome = membership_outcome(scores[order], members[order], value=value)
        assert outcome == reordered_outcome


def random_half(rows: int, seed: int = 0) -> BoolArray:
    return np.random.default_rng(seed).permutation(rows) < rows // 2


@pytest.mark.parametrize("rows", [2, 20, 400])
def test_a_perfect_guess_has_value_one(rows: int) -> None:
    members = random_half(rows)
    for value in ("tpr", "advantage"):
        outcome = membership_outcome(members.astype(float), members, value=value)
        assert (outcome.value, outcome.risk) == (1.0, 1.0)
        assert outcome.details["auc"] == outcome.details["accuracy"] == 1.0


@pytest.mark.parametrize("rows", [2, 20, 400])
def test_equal_scores_get_the_baseline(rows: int) -> None:
    outcomes = [
        membership_outcome(np.full(rows, 0.7), random_half(rows), value=value)
        for value in ("tpr", "advantage")
    ]
    assert [(outcome.value, outcome.baseline, outcome.risk) for outcome in outcomes] == [
        (0.01, 0.01, 0.0),
        (0.0, 0.0, 0.0),
    ]
    assert outcomes[0].details["auc"] == outcomes[0].details["accuracy"] == 0.5


@pytest.mark.parametrize("seed", range(5))
def test_random_scores_have_the_baseline_in_their_interval(seed: int) -> None:
    scores: FloatArray = np.random.default_rng(seed).random(4000)
    for value in ("tpr", "advantage"):
        outcome = membership_outcome(scores, random_half(4000, seed), value=value)
        assert outcome.interval is not None
        assert outcome.interval[0] <= outcome.baseline <= outcome.interval[1]


def test_a_guess_below_chance_has_value_zero() -> None:
    members = random_half(40)
    outcome = membership_outcome((~members).astype(float), members, value="advantage")
    assert (outcome.value, outcome.details["advantage"], outcome.details["tpr"]) == (0.0, -1.0, 0.0)


def test_the_rate_is_interpolated_between_operating_points() -> None:
    # 4 members and 50 others: the first point has one other (2 %) and two members; 1 % is half-way to it.
    members = np.arange(54) < 4
    scores = np.where(np.arange(54) < 2, 0.9, 0.1)
    scores[53] = 0.9
    assert tpr(compute_operating_points(scores, members)) == Fraction(1, 4)


@given(cases(), st.sampled_from([0.0, 0.1, 1.0, 1e300]), st.data())
@limit_examples(60)
def test_attribute_guesses_are_judged_like_plain_loops(
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
    outcome = attribute_outcome(guess, truth, case.members, reference, tolerance=tolerance)
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
    return attribute_outcome(guess, true_cells, np.arange(len(truth)) < len(member_answers), reference_cells)


def test_only_hits_beyond_the_commonest_value_and_the_reference_count() -> None:
    truth = [1.0, 2, 3, 3, 1, 2, 3, 3]
    assert judge_attribute([1, 2, 3, 3], [0, 0, 0, 0], truth).value == 1.0
    assert judge_attribute([1, 0, 3, 3], [0, 0, 0, 0], truth).value == 0.5  # (3/4 - 1/2) / (1 - 1/2)
    assert judge_attribute([3, 3, 3, 3], [0, 0, 0, 0], truth).value == 0.0
    assert judge_attribute([0, 2, 3, 3], [0, 0, 0, 0], truth, [1, 2, 3, 0]).value == 0.0
    assert judge_attribute([1, 2, 3, 3], [0, 0, 0, 0], truth, [1, 2, 3, 3]).value == 0.0
    assert judge_attribute([7, 7], [0, 7], [7, 7, 7, 7]).value == 0.0


def test_wrong_answers_about_other_candidates_gain_nothing() -> None:
    truth = [1.0, 2, 3, 3, 1, 2, 3, 3]
    honest, misleading = judge_attribute([3] * 4, [3] * 4, truth), judge_attribute([3] * 4, [9] * 4, truth)
    assert (honest.value, misleading.value) == (0.0, 0.0)
    assert (honest.details["others"], misleading.details["others"]) == (0.5, 0.0)


def test_the_commonest_value_has_the_most_hits_within_the_tolerance() -> None:
    column = build_table([[value] for value in (1.0, 1.0, 4.0, 5.0, 6.0, 9.0)], build_schema(1, 0))
    assert guess_commonest(column, 0.0).numbers[:, 0].tolist() == [1.0] * 6
    assert guess_commonest(column, 1.0).numbers[:, 0].tolist() == [5.0] * 6


def test_the_interval_is_computed_from_paired_differences() -> None:
    hit, control = np.array([True] * 12 + [False] * 8), np.array([False] * 5 + [True] * 9 + [False] * 6)
    low, high = paired_difference_interval(hit, control)  # of 20 pairs, 5 favour the guess and 2 the control
    half = 1.959963984540054 * np.sqrt((5.5 + 2.5) - 3 * 3 / 22) / 22
    assert (float(low), float(high)) == pytest.approx((3 / 22 - half, 3 / 22 + half))


def split_survey(hidden_column: str) -> tuple[TypedTable, TypedTable, TypedTable, TypedTable]:
    table = build_survey(400).candidates
    names = [name for name in table.schema.names if name != hidden_column]
    known_columns = table.select_columns(*names)
    cells = table.select_columns(hidden_column)
    members = random_half(table.rows)
    return (
        known_columns.select_rows(~members),
        cells.select_rows(~members),
        known_columns.select_rows(members),
        cells.select_rows(members),
    )


@pytest.mark.parametrize("hidden_column", ["disease", "sex"])
def test_the_reference_predicts_better_than_the_commonest_category(hidden_column: str) -> None:
    train_rows, train_cells, query_rows, truth = split_survey(hidden_column)
    predicted, commonest_cells = predict(train_rows, train_cells, query_rows), guess_commonest(truth, 0.0)
    shares = [find_right_cells(guess, truth, 0.0).mean() for guess in (predicted, commonest_cells)]
    assert shares[0] > shares[1]


def test_the_reference_predicts_numbers_better_than_the_commonest_value() -> None:
    train_rows, train_cells, query_rows, truth = split_survey("weight")
    predicted = predict(train_rows, train_cells, query_rows)
    assert set(predicted.numbers[:, 0]) <= set(train_cells.numbers[:, 0])
    hit_shares = [
        (find_right_cells(guess, truth, 5.0)).mean() for guess in (predicted, guess_commonest(truth, 5.0))
    ]
    assert hit_shares[0] > hit_shares[1]


def test_the_reference_breaks_ties_by_the_first_value_despite_rounding() -> None:
    rows: Rows = [[value, text] for value in (0.1, 0.7, 1e6) for text in ("a", "never")]
    table = build_table(rows, build_schema(1, 1))
    known_cells = table.select_columns("n0")
    texts = table.select_columns("c0")
    numbers = build_table([[0.0], [1.0]] * 3, build_schema(1, 0))
    for order in (np.arange(6), np.arange(6)[::-1]):
        assert set(
            predict(known_cells.select_rows(order), texts.select_rows(order), known_cells).column_texts(0)
        ) == {"a"}
        assert set(
            predict(known_cells.select_rows(order), numbers.select_rows(order), known_cells).numbers[:, 0]
        ) == {0.0}


@pytest.mark.parametrize("hidden_column", ["disease", "weight"])
def test_the_reference_is_trained_on_background_rows_if_there_are_any(hidden_column: str) -> None:
    original = build_survey(200)
    names = [name for name in original.candidates.schema.names if name != hidden_column]
    known_columns = original.candidates.select_columns(*names)
    truth = original.candidates.select_columns(hidden_column)
    is_member = random_half(200)
    members = Members(np.flatnonzero(is_member), original.candidates.select_rows(is_member), truth)
    assert original.background is not None
    with_background, without_background = (
        reference_guess(replace(members, original=MembershipOriginal(known_columns, background)))
        for background in (original.background, None)
    )
    background_columns = original.background.select_columns(*names)
    background_cells = original.background.select_columns(hidden_column)
    assert are_equal(
        with_background, predict(background_columns, background_cells, known_columns.select_rows(is_member))
    )
    assert are_equal(
        without_background,
        predict(
            known_columns.select_rows(~is_member),
            truth.select_rows(~is_member),
            known_columns.select_rows(is_member),
        ),
    )
    assert not are_equal(with_background, without_background)


def are_equal(first: TypedTable, second: TypedTable) -> bool:
    return np.array_equal(first.numbers, second.numbers) and np.array_equal(first.codes, second.codes)
