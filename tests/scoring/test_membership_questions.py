"""What guesses at members come to: by plain loops with fractions, and by the laws of a question."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.scoring.arrays import BoolArray, FloatArray
from app.scoring.tracks.membership.questions import attribute, membership
from app.scoring.tracks.membership.roc import accuracy, auc, operating_points, tpr
from tests.scoring import membership_reference as plain
from tests.scoring.membership_cases import Case, cases, rows_of, schema_of, table_of
from tests.scoring.membership_reference import Rows
from tests.trying import tries

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
@tries(200)
def test_every_number_is_that_of_plain_loops(case: tuple[list[float], list[bool]]) -> None:
    scores, members = case
    points = operating_points(np.array(scores), np.array(members))
    assert tpr(points) == plain.tpr(scores, members)
    assert auc(points) == plain.auc(scores, members)
    assert accuracy(points) == plain.accuracy(scores, members)


@given(guesses())
@tries(40)
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


@given(cases(), st.sampled_from([0.0, 0.1, 1.0, 1e300]))
@tries(60)
def test_a_guess_at_a_column_is_judged_as_by_plain_loops(case: Case, tolerance: float) -> None:
    truth = case.candidates.only(case.candidates.schema.names[0])
    guess = truth.at(np.random.default_rng(case.released.rows).permutation(truth.rows))
    said, cells = ([row[0] for row in rows_of(table)] for table in (guess, truth))
    expected = plain.beyond(said, cells, case.members.tolist(), tolerance)
    outcome = attribute(guess, truth, case.members, tolerance=tolerance)
    assert outcome.value == float(expected)
    assert outcome.interval is not None
    assert outcome.interval[0] <= outcome.value <= outcome.interval[1]


def answered(members: list[float], controls: list[float], truth: float) -> float:
    schema = schema_of(1, 0)
    cells: Rows = [[value] for value in (*members, *controls)]
    who = np.arange(len(cells)) < len(members)
    right = table_of([[truth] for _ in cells], schema)
    return attribute(table_of(cells, schema), right, who).value


def test_only_what_is_known_of_members_alone_counts() -> None:
    assert answered([7, 7], [0, 0], 7) == 1.0
    assert answered([7, 7], [7, 7], 7) == 0.0
    assert answered([0, 7], [0, 7], 7) == 0.0
    assert answered([0, 0], [0, 7], 7) == 0.0
    assert answered([7, 7, 7, 0], [7, 7, 0, 0], 7) == 0.5
