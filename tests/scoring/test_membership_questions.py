"""What guesses at members come to: by plain loops with fractions, and by the laws of a question."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anoncup.geometry.arrays import BoolArray, FloatArray
from anoncup.tracks.membership.answer import Members
from anoncup.tracks.membership.questions import (
    attribute,
    commonest,
    membership,
    paired_difference,
    reference_guess,
    right_cells,
)
from anoncup.tracks.membership.reference_predictor import predict
from anoncup.tracks.membership.roc import accuracy, auc, operating_points, tpr
from anoncup.tracks.membership.tables import Original, Table
from anoncup.tracks.outcomes import Outcome
from tests.scoring import membership_reference as plain
from tests.scoring.membership_cases import Case, cases, rows_of, schema_of, survey, table_of
from tests.scoring.membership_reference import Rows
from tests.support.hypothesis_profiles import examples

SCORES = [0.0, 1.0, 0.5, 0.5000000000000001, 1e-300, 0.25]


@st.composite
def guesses(draw: st.DrawFn) -> tuple[list[float], list[bool]]:
    """As many members as others, or not; around a hundred others the rate of 1 % lies on a point."""
    true = draw(st.integers(1, 8))
    false = draw(st.sampled_from([true, 1, 99, 100, 101, 200]))
    few = SCORES[: draw(st.integers(1, len(SCORES)))]
    size = true + false
    scores = draw(st.lists(st.sampled_from(few) | st.floats(0, 1), min_size=size, max_size=size))
    order = draw(st.permutations(range(size)))
    return scores, [place < true for place in order]


@given(guesses())
@examples(200)
def test_every_number_is_that_of_plain_loops(case: tuple[list[float], list[bool]]) -> None:
    scores, members = case
    points = operating_points(np.array(scores), np.array(members))
    assert tpr(points) == plain.tpr(scores, members)
    assert auc(points) == plain.auc(scores, members)
    assert accuracy(points) == plain.accuracy(scores, members)


@given(guesses())
@examples(40)
def test_the_order_of_candidates_changes_nothing(case: tuple[list[float], list[bool]]) -> None:
    scores, members = np.array(case[0]), np.array(case[1])
    order = np.random.default_rng(len(scores)).permutation(len(scores))
    for value in ("tpr", "advantage"):
        before, after = (
            membership(scores, members, value=value),
            membership(scores[order], members[order], value=value),
        )
        assert before == after


def half(rows: int, seed: int = 0) -> BoolArray:
    return np.random.default_rng(seed).permutation(rows) < rows // 2


@pytest.mark.parametrize("rows", [2, 20, 400])
def test_a_perfect_guess_gets_one(rows: int) -> None:
    members = half(rows)
    for value in ("tpr", "advantage"):
        outcome = membership(members.astype(float), members, value=value)
        assert (outcome.value, outcome.risk) == (1.0, 1.0)
        assert outcome.details["auc"] == outcome.details["accuracy"] == 1.0


@pytest.mark.parametrize("rows", [2, 20, 400])
def test_one_score_for_all_gets_the_baseline(rows: int) -> None:
    outcomes = [membership(np.full(rows, 0.7), half(rows), value=value) for value in ("tpr", "advantage")]
    assert [(each.value, each.baseline, each.risk) for each in outcomes] == [
        (0.01, 0.01, 0.0),
        (0.0, 0.0, 0.0),
    ]
    assert outcomes[0].details["auc"] == outcomes[0].details["accuracy"] == 0.5


@pytest.mark.parametrize("seed", range(5))
def test_random_scores_have_the_baseline_in_their_interval(seed: int) -> None:
    scores: FloatArray = np.random.default_rng(seed).random(4000)
    for value in ("tpr", "advantage"):
        outcome = membership(scores, half(4000, seed), value=value)
        assert outcome.interval is not None
        assert outcome.interval[0] <= outcome.baseline <= outcome.interval[1]


def test_a_guess_worse_than_blind_is_worth_nothing() -> None:
    members = half(40)
    outcome = membership((~members).astype(float), members, value="advantage")
    assert (outcome.value, outcome.details["advantage"], outcome.details["tpr"]) == (0.0, -1.0, 0.0)


def test_between_operating_points_the_rate_is_linear() -> None:
    # 4 members, 50 others: the first point has one other (2 %) and two members, so 1 % lies half-way to it.
    members = np.arange(54) < 4
    scores = np.where(np.arange(54) < 2, 0.9, 0.1)
    scores[53] = 0.9
    assert tpr(operating_points(scores, members)) == Fraction(1, 4)


@given(cases(), st.sampled_from([0.0, 0.1, 1.0, 1e300]), st.data())
@examples(60)
def test_a_guess_at_a_column_is_judged_as_by_plain_loops(
    case: Case, tolerance: float, chosen: st.DataObject
) -> None:
    names = case.candidates.schema.names
    hidden = chosen.draw(st.sampled_from(names))
    known = case.candidates.only(*(name for name in names if name != hidden))
    truth, others = case.candidates.only(hidden), ~case.members
    guess = truth.at(np.random.default_rng(case.released.rows).permutation(truth.rows))
    reference = predict(known.at(others), truth.at(others), known.at(case.members))
    said, cells, imputed = (
        [row[0] for row in rows_of(table)]
        for table in (guess.at(case.members), truth.at(case.members), reference)
    )
    if len(names) > 1:
        learned = [row[0] for row in rows_of(truth.at(others))]
        asked = rows_of(known.at(case.members))
        assert imputed == plain.imputed(rows_of(known.at(others)), learned, asked)
    outcome = attribute(guess, truth, case.members, reference, tolerance=tolerance)
    assert outcome.value == float(plain.beyond(said, cells, imputed, tolerance))
    assert outcome.interval is not None
    assert outcome.interval[0] <= outcome.value <= outcome.interval[1]
    told = outcome.details
    assert told["without_release"] == max(told["commonest"], told["reference"])
    assert -1 <= told["difference_low"] <= told["members"] - told["without_release"] + 1e-15
    assert told["members"] - told["without_release"] - 1e-15 <= told["difference_high"] <= 1


def answered(
    members: list[float], others: list[float], truth: list[float], reference: list[float] | None = None
) -> Outcome:
    """Of a numeric column whose truth is that of the members, then that of the others."""
    schema = schema_of(1, 0)
    guess, right, imputed = (
        table_of([[value] for value in values], schema)
        for values in ([*members, *others], truth, reference or [-1.0] * len(members))
    )
    return attribute(guess, right, np.arange(len(truth)) < len(members), imputed)


def test_only_what_is_right_beyond_the_commonest_value_and_the_reference_counts() -> None:
    truth = [1.0, 2, 3, 3, 1, 2, 3, 3]
    assert answered([1, 2, 3, 3], [0, 0, 0, 0], truth).value == 1.0
    assert answered([1, 0, 3, 3], [0, 0, 0, 0], truth).value == 0.5  # (3/4 - 1/2) / (1 - 1/2)
    assert answered([3, 3, 3, 3], [0, 0, 0, 0], truth).value == 0.0
    assert answered([0, 2, 3, 3], [0, 0, 0, 0], truth, [1, 2, 3, 0]).value == 0.0
    assert answered([1, 2, 3, 3], [0, 0, 0, 0], truth, [1, 2, 3, 3]).value == 0.0
    assert answered([7, 7], [0, 7], [7, 7, 7, 7]).value == 0.0


def test_wrong_answers_about_other_candidates_gain_nothing() -> None:
    truth = [1.0, 2, 3, 3, 1, 2, 3, 3]
    honest, spoilt = answered([3] * 4, [3] * 4, truth), answered([3] * 4, [9] * 4, truth)
    assert (honest.value, spoilt.value) == (0.0, 0.0)
    assert (honest.details["others"], spoilt.details["others"]) == (0.5, 0.0)


def test_the_commonest_value_is_the_one_that_is_right_most_often_within_the_tolerance() -> None:
    column = table_of([[value] for value in (1.0, 1.0, 4.0, 5.0, 6.0, 9.0)], schema_of(1, 0))
    assert commonest(column, 0.0).numbers[:, 0].tolist() == [1.0] * 6
    assert commonest(column, 1.0).numbers[:, 0].tolist() == [5.0] * 6


def test_the_interval_is_that_of_paired_differences() -> None:
    hit, control = np.array([True] * 12 + [False] * 8), np.array([False] * 5 + [True] * 9 + [False] * 6)
    low, high = paired_difference(hit, control)  # 5 pairs for the guess, 2 against it, of 20
    half = 1.959963984540054 * np.sqrt((5.5 + 2.5) - 3 * 3 / 22) / 22
    assert (float(low), float(high)) == pytest.approx((3 / 22 - half, 3 / 22 + half))


def survey_split(hidden: str) -> tuple[Table, Table, Table, Table]:
    table = survey(400).candidates
    names = [name for name in table.schema.names if name != hidden]
    known, cells, own = table.only(*names), table.only(hidden), half(table.rows)
    return known.at(~own), cells.at(~own), known.at(own), cells.at(own)


@pytest.mark.parametrize("hidden", ["disease", "sex"])
def test_the_reference_knows_more_than_the_commonest_category(hidden: str) -> None:
    known, cells, asked, truth = survey_split(hidden)
    found, constant = predict(known, cells, asked), commonest(truth, 0.0)
    shares = [right_cells(each, truth, 0.0).mean() for each in (found, constant)]
    assert shares[0] > shares[1]


def test_the_reference_knows_more_of_a_number_than_its_commonest_value() -> None:
    known, cells, asked, truth = survey_split("weight")
    found = predict(known, cells, asked)
    assert set(found.numbers[:, 0]) <= set(cells.numbers[:, 0])
    within = [(right_cells(each, truth, 5.0)).mean() for each in (found, commonest(truth, 5.0))]
    assert within[0] > within[1]


def test_the_reference_takes_the_first_of_equals_whatever_the_rounding() -> None:
    rows: Rows = [[value, text] for value in (0.1, 0.7, 1e6) for text in ("a", "never")]
    table = table_of(rows, schema_of(1, 1))
    known, texts, numbers = table.only("n0"), table.only("c0"), table_of([[0.0], [1.0]] * 3, schema_of(1, 0))
    for order in (np.arange(6), np.arange(6)[::-1]):
        assert set(predict(known.at(order), texts.at(order), known).texts(0)) == {"a"}
        assert set(predict(known.at(order), numbers.at(order), known).numbers[:, 0]) == {0.0}


@pytest.mark.parametrize("hidden", ["disease", "weight"])
def test_the_reference_learns_from_background_rows_where_there_are_some(hidden: str) -> None:
    whole = survey(200)
    names = [name for name in whole.candidates.schema.names if name != hidden]
    known, truth, own = whole.candidates.only(*names), whole.candidates.only(hidden), half(200)
    members = Members(np.flatnonzero(own), whole.candidates.at(own), truth)
    assert whole.background is not None
    with_background, without = (
        reference_guess(replace(members, original=Original(known, background)))
        for background in (whole.background, None)
    )
    learned, cells = whole.background.only(*names), whole.background.only(hidden)
    assert same(with_background, predict(learned, cells, known.at(own)))
    assert same(without, predict(known.at(~own), truth.at(~own), known.at(own)))
    assert not same(with_background, without)


def same(one: Table, other: Table) -> bool:
    return np.array_equal(one.numbers, other.numbers) and np.array_equal(one.codes, other.codes)
