"""Outcomes of membership and attribute guesses: against plain loops with fractions, and known cases."""

from dataclasses import replace
from typing import Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anoncup.geometry.arrays import BoolArray
from anoncup.tracks.membership.answer import Members
from anoncup.tracks.membership.questions import (
    compute_attribute_outcome,
    compute_difference_interval,
    compute_membership_outcome,
    make_reference_guess,
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
    details = compute_membership_outcome(np.array(scores), np.array(members)).details
    for name, compute in {"tpr": plain.tpr, "auc": plain.auc, "accuracy": plain.accuracy}.items():
        assert details[name] == pytest.approx(float(compute(scores, members)), rel=1e-12, abs=1e-15), name


def choose_random_half(rows: int, seed: int = 0) -> BoolArray:
    return np.random.default_rng(seed).permutation(rows) < rows // 2


@pytest.mark.parametrize("rows", [2, 20, 400])
def test_equal_scores_get_the_baseline(rows: int) -> None:
    baselines: dict[Literal["tpr", "advantage"], float] = {"tpr": 0.01, "advantage": 0.0}
    for value, baseline in baselines.items():
        outcome = compute_membership_outcome(np.full(rows, 0.7), choose_random_half(rows), value=value)
        assert (outcome.value, outcome.baseline, outcome.risk) == (baseline, baseline, 0.0)
        assert outcome.details["auc"] == outcome.details["accuracy"] == 0.5


def test_guess_below_chance_has_value_zero() -> None:
    members = choose_random_half(40)
    outcome = compute_membership_outcome((~members).astype(float), members, value="advantage")
    assert (outcome.value, outcome.details["advantage"], outcome.details["tpr"]) == (0.0, -1.0, 0.0)


@given(
    cases(),
    st.sampled_from([0.0, 0.1, 0.2, 0.5, 1.0, 1e300]),
    st.floats(allow_nan=False, allow_infinity=False),
    st.data(),
)
@limit_examples(100)
def test_attribute_outcomes_equal_plain_loops(
    case: MembershipCase, tolerance: float, other_number: float, data: st.DataObject
) -> None:
    names, members = case.candidates.schema.names, case.members.tolist()
    hidden_column = data.draw(st.sampled_from(names))
    known_columns = case.candidates.select_columns(*(name for name in names if name != hidden_column))
    truth, non_members = case.candidates.select_columns(hidden_column), ~case.members
    guess = truth.select_rows(np.random.default_rng(case.release.rows).permutation(truth.rows))
    numbers = st.sampled_from([other_number, 0.15, 0.5, 1.5, 5e307, *guess.numbers.flat])
    guess = replace(
        guess,
        numbers=np.array(
            data.draw(st.lists(numbers, min_size=guess.numbers.size, max_size=guess.numbers.size))
        ).reshape(guess.numbers.shape),
    )
    reference = predict(
        known_columns.select_rows(non_members),
        truth.select_rows(non_members),
        known_columns.select_rows(case.members),
        truth,
    )
    guessed_cells, true_cells, reference_cells = (
        [row[0] for row in list_rows(table)] for table in (guess, truth, reference)
    )
    if len(names) > 1:
        train_cells = [row[0] for row in list_rows(truth.select_rows(non_members))]
        query_rows = list_rows(known_columns.select_rows(case.members))
        assert reference_cells == plain.impute(
            list_rows(known_columns.select_rows(non_members)), train_cells, query_rows, true_cells
        )
    outcome = compute_attribute_outcome(guess, truth, case.members, reference, tolerance=tolerance)
    assert outcome.value == float(
        plain.attribute_gain(guessed_cells, true_cells, members, reference_cells, tolerance)
    )
    assert outcome.interval is not None
    assert outcome.interval[0] <= outcome.value <= outcome.interval[1]
    details = outcome.details
    assert details["without_release"] == max(details["commonest"], details["reference"])
    assert -1 <= details["difference_low"] <= details["members"] - details["without_release"] + 1e-15
    assert details["members"] - details["without_release"] - 1e-15 <= details["difference_high"] <= 1


def judge_attribute(
    member_answers: list[float],
    truth: list[float],
    *,
    other_answers: list[float] | None = None,
    reference: list[float] | None = None,
    tolerance: float = 0.0,
) -> Outcome:
    """Judge guesses at a numeric column; ``truth`` has the members' cells first, then the others'.

    By default the others and the reference are guessed to have the last cell of ``truth``.
    """
    schema, other_count = build_schema(1, 0), len(truth) - len(member_answers)
    guess, true_cells, reference_cells = (
        build_table([[value] for value in values], schema)
        for values in (
            [*member_answers, *(other_answers or truth[-1:] * other_count)],
            truth,
            reference or truth[-1:] * len(member_answers),
        )
    )
    return compute_attribute_outcome(
        guess,
        true_cells,
        np.arange(len(truth)) < len(member_answers),
        reference_cells,
        tolerance=tolerance,
    )


def test_only_gains_over_commonest_value_and_reference_count() -> None:
    truth = [1.0, 2, 3, 3, 1, 2, 3, 4]
    assert judge_attribute([1, 2, 3, 3], truth).value == 1.0
    assert judge_attribute([1, 4, 3, 3], truth).value == 0.5  # (3/4 - 1/2) / (1 - 1/2)
    assert judge_attribute([3, 3, 3, 3], truth).value == 0.0
    assert judge_attribute([4, 2, 3, 3], truth, reference=[1, 2, 3, 4]).value == 0.0
    assert judge_attribute([1, 2, 3, 3], truth, reference=[1, 2, 3, 3]).value == 0.0
    assert judge_attribute([7, 7], [7, 7, 7, 7]).value == 0.0


@pytest.mark.parametrize(
    ("answers", "truth", "tolerance", "details"),
    [
        # Between two values, both would be right within the tolerance: the guess is moved to the lower.
        ([0.5] * 4, [0, 0, 0, 1, 1, 1, 1, 0], 0.5, {"members": 0.75, "without_release": 0.75}),
        ([0.5000001] * 4, [0, 0, 0, 1, 1, 1, 1, 0], 0.5, {"members": 0.25, "without_release": 0.75}),
        ([1.7] * 4, [0, 1, 2, 3, 7, 7, 7, 7], 1, {"members": 0.75, "without_release": 0.75}),
        ([-1e308, 1e308], [0, 1, 0, 1], 0, {"members": 1.0, "without_release": 0.5}),
        # Values of candidates who are not members count, too: guess and constant may be 0.5.
        ([0.5, 0.5], [0, 1, 0.5, 7], 0.5, {"members": 1.0, "without_release": 1.0}),
        ([0.6, 0.4], [0, 1, 0.5, 7], 0.5, {"members": 1.0, "without_release": 1.0}),
        # Numbers are decimals: as floats, 0.4 - 0.3 > 0.1 and 0.55 is nearer to 0.6 than to 0.5.
        ([0.3, 0.4], [0.4, 0.3, 9, 9], 0.1, {"members": 1.0, "without_release": 1.0}),
        ([0.55, 2.95], [0.5, 2.9, 0.6, 3.0], 0, {"members": 1.0, "without_release": 0.5}),
        # Tiny and huge numbers, zeros of both signs, one member.
        ([5e-324, -0.0], [0.0, 5e-324, 1, 1], 0, {"members": 0.0, "without_release": 0.5}),
        ([1.7e308, -1.7e308], [1.7e308, -1.7e308, 0, 0], 1e308, {"members": 1.0, "without_release": 0.5}),
        ([3], [3, 3], 0, {"members": 1.0, "without_release": 1.0}),
        ([3], [4, 3], 0.5, {"members": 0.0, "without_release": 1.0}),
    ],
)
def test_guesses_are_moved_to_the_nearest_value_of_a_candidate(
    answers: list[float], truth: list[float], tolerance: float, details: dict[str, float]
) -> None:
    outcome = judge_attribute(answers, truth, tolerance=tolerance)
    assert {name: outcome.details[name] for name in details} == details
    reference = judge_attribute(answers, truth, tolerance=tolerance, reference=answers)
    assert reference.details["reference"] == details["members"]
    assert reference.value == 0.0


def test_wrong_answers_about_non_members_gain_nothing() -> None:
    truth = [1.0, 2, 3, 3, 1, 2, 3, 3]
    for other_answers, share in (([3.0] * 4, 0.5), ([0.0] * 4, 0.25)):
        outcome = judge_attribute([3] * 4, truth, other_answers=other_answers)
        assert (outcome.value, outcome.details["others"]) == (0.0, share)


@pytest.mark.parametrize(("member_count", "value"), [(10, 0.06), (50, 0.025), (1000, 0.005)])
def test_coin_for_a_fair_column_gains_what_the_rules_say(member_count: int, value: float) -> None:
    rng, schema, values = np.random.default_rng(1), build_schema(0, 1), []
    members, reference = np.arange(2 * member_count) < member_count, np.zeros((member_count, 1), np.int64)
    for _ in range(1000):
        columns = [
            TypedTable(schema, np.empty((len(codes), 0)), codes)
            for codes in (*rng.integers(0, 2, (2, 2 * member_count, 1)), reference)
        ]
        values.append(compute_attribute_outcome(columns[0], columns[1], members, columns[2]).value)
    assert np.mean(values) == pytest.approx(value, rel=0.15)


def test_exclusive_or_of_public_columns_is_found_without_a_release() -> None:
    codes = np.random.default_rng(1).integers(0, 2, (2000, 2))
    schema, numbers = build_schema(0, 2), np.empty((2000, 0))
    public_columns = TypedTable(schema, numbers, codes)
    truth = TypedTable(build_schema(0, 1), numbers, codes[:, :1] ^ codes[:, 1:])
    members = choose_random_half(2000)
    training = public_columns.select_rows(~members), truth.select_rows(~members)
    reference = predict(*training, public_columns.select_rows(members), truth)
    outcome = compute_attribute_outcome(truth, truth, members, reference)
    assert outcome.value == 1.0
    assert outcome.details["without_release"] < 0.6


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
        guessed_texts = predict(known, texts.select_rows(order), known_cells, texts)
        assert set(guessed_texts.decode_column(0)) == {"a"}
        guessed_numbers = predict(known, numbers.select_rows(order), known_cells, numbers)
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
    others = original.candidates.select_rows(~is_member)
    guesses = []
    for background, training in ((original.background, original.background), (None, others)):
        guess = make_reference_guess(replace(members, original=MembershipOriginal(known_columns, background)))
        expected = predict(
            training.select_columns(*names),
            training.select_columns(hidden_column),
            known_columns.select_rows(is_member),
            truth,
        )
        guesses.append(list_rows(guess))
        assert guesses[-1] == list_rows(expected)
    assert guesses[0] != guesses[1]
