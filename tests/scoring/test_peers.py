"""``make bench``: every peer answers as we do, on small and on hostile tables, and the table says so."""

from functools import cache

import numpy as np
import pytest

from benchmarks.peers import __main__ as peers
from benchmarks.peers.duel import Duel, Goal, Outcome, fought, same_answers

TINY = peers.Size(rows=150, many=300, dict_parts=(1, 2), loop_part=3, turns=1)
INEXACT = {"float64 GEMM", "cKDTree"}
"""Peers that choose wrongly between rows equally near, and lose what is huge."""


@cache
def outcomes() -> tuple[Outcome, ...]:
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("ANONCUP_REFERENCE_DATA", raising=False)
        patch.setattr("benchmarks.peers.duel.LEAST_S", 0.0)
        return tuple(peers.report(TINY))


def test_every_exact_peer_gives_our_answers() -> None:
    exact = [each for each in outcomes() if each.duel.peer not in INEXACT]
    assert len(exact) > 15
    assert [each.cells() for each in exact if each.differing] == []
    # The sums of pandas' means overflow in one hostile table.
    assert {each.duel.peer for each in exact if each.differing_hostile} <= {"pandas crosstab"}


def test_inexact_peers_are_said_to_be_wrong_on_hostile_tables() -> None:
    wrong = {each.duel.peer for each in outcomes() if each.differing_hostile}
    assert wrong >= INEXACT


def test_answers_that_differ_are_counted() -> None:
    assert same_answers(np.array([1, 2, 3]), np.array([1, 0, 0])) == 2
    assert same_answers(np.array([1.0, 2.0]), np.array([1.0 + 1e-12, 2.1])) == 1
    assert same_answers(np.array([1.0, 2.0]), np.array([1.0, np.nan])) == 1
    assert same_answers(np.array([1, 2, 3]), np.array([1, 2])) == 3


def test_a_peer_that_gets_a_part_is_compared_on_that_part() -> None:
    duel = Duel("t", "p", lambda case: case, lambda case: case, part=3, cut=lambda case, part: case[::part])
    assert duel.differences(np.arange(10)) == 0
    assert duel.differences(np.array([1.0, np.nan, np.nan, np.nan])) == 1


@pytest.mark.parametrize(
    ("goal", "ratio", "by"), [(Goal(10), 5.0, 2.0), (Goal(4, at_most=True), 8.0, 2.0), (Goal(10), 20.0, 0.5)]
)
def test_a_goal_is_missed_by_how_many_times_better_it_would_take(goal: Goal, ratio: float, by: float) -> None:
    assert goal.missed_by(ratio) == by
    outcome = Outcome(Duel("t", "p", len, len, goal), "data", 1.0, 1.0, ratio, 0, 0)
    assert outcome.met == (by <= 1)


@pytest.mark.parametrize(("goal", "ratio"), [(Goal(2), 3.0), (Goal(2, at_most=True), 1 / 3)])
def test_the_ratio_is_how_much_faster_or_where_the_goal_is_a_bound_how_much_slower(
    goal: Goal, ratio: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = {min: 0.2, max: 0.6}
    monkeypatch.setattr("benchmarks.peers.duel.seconds", lambda work, case: taken[work])  # noqa: ARG005
    outcome = fought(Duel("t", "p", min, max, goal), "data", [1])
    assert outcome.ratio == pytest.approx(ratio)
    assert (outcome.ours, outcome.theirs) == pytest.approx((200, 600))
