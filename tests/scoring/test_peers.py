"""``make bench``: every peer answers as we do, on small and on hostile tables, and the table says so."""

import os
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from benchmarks.peers import __main__ as peers
from benchmarks.peers import growth, inputs
from benchmarks.peers.duel import Duel, Goal, Outcome, fought, same_answers

pytestmark = pytest.mark.full

reference = pytest.mark.skipif("ANONCUP_REFERENCE_DATA" not in os.environ, reason="needs the reference data")
TINY = peers.Size(rows=150, many=300, customers=40, dict_part=2, loop_part=3, turns=1)
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
    duel = Duel("t", "p", lambda case: case, lambda case: case, part=3, cut=lambda case, rows: case[rows])
    assert duel.differences(np.arange(10), 3) == 0
    assert duel.differences(np.array([1.0, np.nan, np.nan, np.nan]), 3) == 1
    assert duel.differences(np.array([1.0, np.nan, np.nan, np.nan])) == 3


def test_what_a_part_needs_for_no_row_counts_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.peers.duel.seconds", lambda work, case: 10.0 + len(case))  # noqa: ARG005
    duel = Duel("t", "p", list, list, part=5, cut=lambda case, rows: case[rows])
    assert fought(duel, "data", [0] * 100).theirs == pytest.approx(1000 * (10 + 100))


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


def test_growth_is_measured_on_files_task_by_task(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    growth.make(tmp_path, 60)
    growth.attack(tmp_path)
    growth.score(tmp_path)
    found = growth.read(capsys.readouterr().out)
    assert set(found) == {*growth.GOALS, "peak MB"}
    assert min(found.values()) > 0


def test_of_what_was_said_before_a_process_was_ended_whole_lines_count() -> None:
    assert growth.read("EUC1\t0.25\npeak MB\t30") == {"EUC1": 0.25}


def test_the_power_that_times_grow_with_is_found() -> None:
    assert growth.exponent({rows: 3e-6 * rows**1.25 for rows in (100, 5_000, 10_000)}) == pytest.approx(1.25)


def test_the_summary_has_a_row_for_each_goal_with_every_data() -> None:
    euc1, other = Duel("EUC1", "dict", len, len, Goal(60)), Duel("EUC1", "nothing", len, len)
    found = [Outcome(euc1, "real", 1, 30, 30.0, 0, 0), Outcome(euc1, "made", 1, 90, 90.0, 0, 0)]
    rows = peers.summary([*found, Outcome(other, "real", 1, 1, 1.0, 0, 0)])
    assert rows[2:] == ["| EUC1 | dict | >= 60x | real: 30x, missed 2x; made: 90x, met |"]


@reference
def test_the_real_data_are_those_of_the_goals() -> None:
    folder = inputs.reference_data()
    assert folder is not None
    assert inputs.real_table(folder).shape == (8333, 25)
    assert len(inputs.retail(folder).customers) == 4334
