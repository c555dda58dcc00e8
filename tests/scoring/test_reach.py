"""What E tells of U: never too much, by every secret of small tables, and no less than plainer limits do."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise, permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from app.messages import Message
from app.scoring.arrays import FloatArray, IntArray
from app.scoring.evaluate import evaluate
from app.scoring.rates import ABSTAIN, Answer, Candidates, Noted, OwnCluster, rate_of
from app.scoring.reach import (
    LARGEST_NUMBER,
    LEVELS,
    Cells,
    Reach,
    cheapest,
    known,
    levels,
    limits,
    reach,
    united,
)
from app.scoring.settings import AttackerSettings, MeasureSettings
from app.scoring.tracks import TRACKS
from tests.scoring import tables_to_break
from tests.scoring.test_evaluate import COMPETITION
from tests.trying import tries

NUMBERS = st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.5, 1.0, 3.0, -2.0])
RULES = replace(
    COMPETITION, measures={"information_loss": MeasureSettings(1.0), "cor_mae": MeasureSettings(1.0)}
)


@st.composite
def tables(draw: st.DrawFn, *, deletes: bool = True, columns: int = 3) -> Cells:
    n, width = draw(st.integers(1, 5)), draw(st.integers(1, columns))
    kept = draw(st.integers(1, n)) if deletes else n
    row = st.lists(NUMBERS, min_size=width, max_size=width)
    x, y = (draw(st.lists(row, min_size=size, max_size=size)) for size in (n, kept))
    return Cells(np.array(x), np.array(y))


@st.composite
def answers(draw: st.DrawFn, cells: Cells) -> Answer:
    n, kept = len(cells.x), len(cells.y)
    kind = draw(st.sampled_from(["guess", "guess", "noted", "lots", "own cluster"]))
    if kind == "own cluster":
        return OwnCluster(np.array(draw(st.lists(st.integers(1, n), min_size=kept, max_size=kept))))
    if kind == "lots":
        labels = draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
        group_of = np.unique(labels, return_inverse=True)[1]
        sizes = np.bincount(group_of)
        chosen = draw(st.lists(st.integers(ABSTAIN, len(sizes) - 1), min_size=kept, max_size=kept))
        return Candidates(np.array(chosen), group_of, sizes)
    guess = np.array(draw(st.lists(st.integers(ABSTAIN, n - 1), min_size=kept, max_size=kept)))
    return Noted(guess, Message("noted")) if kind == "noted" else guess


def secrets(cells: Cells) -> Iterator[IntArray]:
    return (np.array(one) for one in permutations(range(len(cells.x)), len(cells.y)))


def value(cells: Cells, source: IntArray) -> float:
    return float(np.abs(cells.x[source] - cells.y).mean())


def told(answer: Answer, cells: Cells) -> FloatArray:
    about = known(cells)
    assert about is not None
    return limits(answer, about, levels(len(cells.y)))


def by_trying(answer: Answer, cells: Cells, right: int) -> list[float]:
    """Every value that a secret can give by which the answer is right on so many rows."""
    rated = ((rate_of(answer, one, rows=len(cells.x)).correct, one) for one in secrets(cells))
    return [value(cells, one) for correct, one in rated if (correct or 0) >= right - 1e-12]


@tries(400)
@given(data=st.data(), cells=tables())
def test_no_secret_gives_a_value_beyond_the_limits(data: st.DataObject, cells: Cells) -> None:
    answer = data.draw(answers(cells))
    found = told(answer, cells)
    for right in range(len(cells.y) + 1):
        values = by_trying(answer, cells, right)
        assert len(found) > right or not values
        if len(found) > right:
            low, high = found[right]
            assert all(low <= one <= high for one in values)


@tries(200)
@given(data=st.data(), cells=tables())
def test_the_limits_are_no_wider_than_those_row_by_row(data: st.DataObject, cells: Cells) -> None:
    """Of each column the nearest and the farthest x, but k rows with the owner they are said to have."""
    answer = data.draw(answers(cells))
    assume(isinstance(answer, np.ndarray))
    assert isinstance(answer, np.ndarray)
    gaps = np.abs(cells.x[None] - cells.y[:, None])
    near, far = gaps.min(axis=1).sum(axis=1), gaps.max(axis=1).sum(axis=1)
    rows = np.flatnonzero(answer != ABSTAIN)
    named = gaps[rows, answer[rows]].sum(axis=1)
    for right, (low, high) in enumerate(told(answer, cells)):
        least = near.sum() + np.sort(named - near[rows])[:right].sum()
        most = far.sum() - np.sort(far[rows] - named)[:right].sum()
        assert low >= least / cells.y.size - 1e-7
        assert high <= most / cells.y.size + 1e-7


@tries(200)
@given(data=st.data(), cells=tables(columns=1, deletes=False))
def test_of_one_column_that_kept_its_rows_the_limits_are_reached(data: st.DataObject, cells: Cells) -> None:
    values = [value(cells, one) for one in secrets(cells)]
    low, high = told(data.draw(answers(cells)), cells)[0]
    assert (low, high) == pytest.approx((min(values), max(values)), abs=1e-7)


@tries(200)
@given(data=st.data(), cells=tables(columns=1))
def test_each_value_of_one_column_has_an_owner_not_far_from_its_place(
    data: st.DataObject, cells: Cells
) -> None:
    """In order, its owner is at most as many places off as there are deleted rows."""
    x, y = np.sort(cells.x[:, 0]), np.sort(cells.y[:, 0])
    at_best = np.maximum(np.maximum(x[: len(y)] - y, y - x[len(x) - len(y) :]), 0.0).mean()
    assert told(data.draw(answers(cells)), cells)[0, 0] >= at_best - 1e-7


def test_rows_that_count_for_part_of_one_are_weighed_by_it() -> None:
    weights, costs = np.array([1.0, 0.5]), np.array([0.5, 0.4])
    assert cheapest(weights, costs, np.array([0.0, 0.5, 1.0, 1.5])) == pytest.approx([0.0, 0.25, 0.5, 0.9])


@tries(200)
@given(data=st.data(), cells=tables())
def test_an_answer_that_is_right_everywhere_tells_the_value(data: st.DataObject, cells: Cells) -> None:
    source = np.array(data.draw(st.permutations(range(len(cells.x))))[: len(cells.y)])
    alone = Candidates(source, np.arange(len(cells.x)), np.ones(len(cells.x), dtype=np.int64))
    for answer in (source, alone):
        found = told(answer, cells)
        assert len(found) == len(cells.y) + 1
        assert found[-1] == pytest.approx(value(cells, source), abs=1e-7)


@tries(200)
@given(data=st.data(), cells=tables())
def test_the_more_is_right_the_more_is_told(data: st.DataObject, cells: Cells) -> None:
    found = told(data.draw(answers(cells)), cells)
    assert (np.diff(found[:, 0]) >= -1e-12).all()
    assert (np.diff(found[:, 1]) <= 1e-12).all()


def test_what_is_too_large_or_nothing_tells_nothing() -> None:
    one = np.ones((2, 1))
    assert known(Cells(one, one)) is not None
    for y in (2 * LARGEST_NUMBER, np.inf, np.nan):
        assert known(Cells(one, np.array([[0.0], [y]]))) is None
    assert known(Cells(np.ones((2, 0)), np.ones((2, 0)))) is None
    assert limits(np.array([0, 1]), None, levels(2)).tolist() == [[0.0, np.inf]] * 3
    assert limits(np.array([0, 0]), None, levels(2)).tolist() == [[0.0, np.inf]] * 2


@tries(100)
@given(trials=st.integers(1, 10**6))
def test_levels_are_from_none_to_all_rows_and_single_ones_where_few_are_missing(trials: int) -> None:
    found = levels(trials).tolist()
    assert found == sorted(set(found))
    assert (found[0], found[-1], found[-2]) == (0, trials, trials - 1)
    assert len(found) <= LEVELS + 2
    assert trials > 20 or found == list(range(trials + 1))
    missing = [trials - rows for rows in found[:-1]]
    assert all(many <= 1.16 * few + 1 for many, few in pairwise(missing))


@tries(100)
@given(pairs=st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)).map(sorted).map(tuple)))
def test_stretches_are_united_and_lose_nothing(pairs: Any) -> None:
    found = united(pairs)
    for tenth in range(210):
        at = tenth / 10
        assert any(low <= at <= high for low, high in pairs) is any(low <= at <= high for low, high in found)
    assert all(one[1] < other[0] for one, other in pairwise(found))


def test_which_attacker_is_right_is_not_known_and_levels_without_news_are_left_out() -> None:
    """The first has all rows right or none, the second half at most."""
    first = {"a": np.tile([0.25, 0.5], (5, 1))}
    second = {"a": np.tile([0.625, 0.7500001], (3, 1))}
    told = reach([first, second], np.array([0, 3, 5, 7, 8, 9]), lambda values: values["a"])
    assert told == ((0, 0.25, 0.5), (0, 0.625, 0.75001), (7, 0.25, 0.5))
    assert reach([], levels(9), lambda values: values["a"]) == ()


def test_measures_take_each_of_their_stretches_whatever_the_others_take() -> None:
    both = [
        {"a": np.array([[0.0, 0.1]]), "b": np.array([[0.0, 0.0]])},
        {"a": np.array([[0.4, 0.5]]), "b": np.array([[1.0, 1.0]])},
    ]
    found = reach(both, levels(9), lambda values: (values["a"] + values["b"]) / 2)
    expected = [(0.0, 0.05), (0.2, 0.25), (0.5, 0.55), (0.7, 0.75)]
    assert [triple[1:] for triple in found] == [pytest.approx(pair, abs=2e-5) for pair in expected]


def test_the_reach_of_a_release_is_the_same_under_any_secret_and_holds_its_scores() -> None:
    """By real attackers, on hostile tables; and the release fits its own row."""

    @tries(40)
    @given(case=tables_to_break.cases(), seed=st.integers(0, 99))
    def law(case: tables_to_break.Case, seed: int) -> None:
        original, table = case.release.original, case.release.target.anonymized
        rules = replace(RULES, columns=original.columns)
        rng = np.random.default_rng(seed)
        sources = [rng.permutation(original.rows)[: len(table)] for _ in range(4)]
        verdicts = [evaluate(rules, original, table, one) for one in (case.release.source, *sources)]
        assert len({one.reach for one in verdicts}) == 1
        for one in verdicts:
            assert not one.reach or holds(one.reach, one.security * len(table), one.utility)

    law()


def holds(found: Reach, right: float, utility: float) -> bool:
    told = max(rows for rows, _, _ in found if rows <= right + 1e-9)
    return any(low <= utility <= high for rows, low, high in found if rows == told)


@pytest.mark.parametrize(
    ("measures", "attackers"),
    [
        ({"cor_mae": MeasureSettings(1.0)}, {}),
        ({}, {}),
        (RULES.measures, {name: AttackerSettings(counts=False) for name in TRACKS["microdata"].attackers}),
    ],
)
def test_nothing_is_told_where_nothing_that_weighs_reads_the_secret_and_where_nobody_counts(
    measures: Any, attackers: Any
) -> None:
    found = tables_to_break.case_of(
        ([("a",), ("b",)], [[0.0], [1.0]], [("a",), ("b",)], [[0.1], [0.9]]), [0, 1]
    )
    rules = replace(RULES, columns=found.release.original.columns, measures=measures, attackers=attackers)
    verdict = evaluate(rules, found.release.original, found.release.target.anonymized, found.release.source)
    assert verdict.reach == ()
