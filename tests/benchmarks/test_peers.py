"""``make bench`` compares our answers with those of peers on small and hostile tables."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from benchmarks.peers import __main__ as peers
from benchmarks.peers import growth, inputs
from benchmarks.peers.duel import Duel, DuelOutcome, SpeedGoal, count_differences, run_duel
from tests.support.reference_data import needs_reference_data

pytestmark = pytest.mark.full

TINY_SIZE = peers.SuiteSize(rows=150, grouped_rows=300, customers=40, dict_part=2, loop_part=3, turns=1)
INEXACT_PEERS = {"float64 GEMM", "cKDTree"}
"""Peers that break ties between equally near rows wrongly and lose precision with huge values."""


@cache
def run_tiny_benchmark() -> tuple[DuelOutcome, ...]:
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("ANONCUP_REFERENCE_DATA", raising=False)
        patch.setattr("benchmarks.peers.duel.MIN_SECONDS", 0.0)
        return tuple(peers.run_duels(TINY_SIZE))


def test_exact_peers_give_our_answers() -> None:
    exact_outcomes = [outcome for outcome in run_tiny_benchmark() if outcome.duel.peer not in INEXACT_PEERS]
    assert len(exact_outcomes) > 15
    assert [outcome.format_cells() for outcome in exact_outcomes if outcome.difference_count] == []
    # The sums behind pandas' means overflow in one hostile table.
    assert {outcome.duel.peer for outcome in exact_outcomes if outcome.hostile_difference_count} <= {
        "pandas crosstab"
    }


def test_inexact_peers_fail_on_hostile_tables() -> None:
    wrong_peers = {outcome.duel.peer for outcome in run_tiny_benchmark() if outcome.hostile_difference_count}
    assert wrong_peers >= INEXACT_PEERS


def test_different_answers_are_counted() -> None:
    assert count_differences(np.array([1, 2, 3]), np.array([1, 0, 0])) == 2
    assert count_differences(np.array([1.0, 2.0]), np.array([1.0 + 1e-12, 2.1])) == 1
    assert count_differences(np.array([1.0, 2.0]), np.array([1.0, np.nan])) == 1
    assert count_differences(np.array([1, 2, 3]), np.array([1, 2])) == 3


def test_peers_are_compared_only_on_their_part() -> None:
    duel = Duel(
        "t", "p", lambda case: case, lambda case: case, part=3, select_rows=lambda case, rows: case[rows]
    )
    assert duel.compare_answers(np.arange(10), 3) == 0
    assert duel.compare_answers(np.array([1.0, np.nan, np.nan, np.nan]), 3) == 1
    assert duel.compare_answers(np.array([1.0, np.nan, np.nan, np.nan])) == 3


def test_extrapolation_counts_fixed_time_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.peers.duel.measure_seconds", lambda work, case: 10.0 + len(case))  # noqa: ARG005
    duel = Duel("t", "p", list, list, part=5, select_rows=lambda case, rows: case[rows])
    assert run_duel(duel, "data", [0] * 100).peer_ms == pytest.approx(1000 * (10 + 100))


@pytest.mark.parametrize(
    ("goal", "ratio", "factor"),
    [(SpeedGoal(10), 5.0, 2.0), (SpeedGoal(4, at_most=True), 8.0, 2.0), (SpeedGoal(10), 20.0, 0.5)],
)
def test_missed_goals_report_the_missing_factor(goal: SpeedGoal, ratio: float, factor: float) -> None:
    assert goal.compute_shortfall(ratio) == factor
    outcome = DuelOutcome(Duel("t", "p", len, len, goal), "data", 1.0, 1.0, ratio, 0, 0)
    assert outcome.is_met == (factor <= 1)


@pytest.mark.parametrize(("goal", "ratio"), [(SpeedGoal(2), 3.0), (SpeedGoal(2, at_most=True), 1 / 3)])
def test_ratio_is_a_speedup_or_slowdown(
    goal: SpeedGoal, ratio: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    seconds_by_work = {min: 0.2, max: 0.6}
    monkeypatch.setattr("benchmarks.peers.duel.measure_seconds", lambda work, case: seconds_by_work[work])  # noqa: ARG005
    outcome = run_duel(Duel("t", "p", min, max, goal), "data", [1])
    assert outcome.ratio == pytest.approx(ratio)
    assert (outcome.our_ms, outcome.peer_ms) == pytest.approx((200, 600))


def test_growth_is_measured_for_each_task(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    growth.make_files(tmp_path, 60)
    growth.time_attacks(tmp_path)
    growth.time_scoring(tmp_path)
    measurements = growth.parse_output(capsys.readouterr().out)
    assert set(measurements) == {*growth.MAX_EXPONENTS, "peak MB"}
    assert min(measurements.values()) > 0


def test_incomplete_output_lines_are_ignored() -> None:
    assert growth.parse_output("EUC1\t0.25\npeak MB\t30") == {"EUC1": 0.25}


def test_growth_exponent_is_fitted() -> None:
    assert growth.fit_exponent({rows: 3e-6 * rows**1.25 for rows in (100, 5_000, 10_000)}) == pytest.approx(
        1.25
    )


def test_summary_has_one_row_per_goal() -> None:
    euc1, duel_without_goal = Duel("EUC1", "dict", len, len, SpeedGoal(60)), Duel("EUC1", "nothing", len, len)
    euc1_outcomes = [
        DuelOutcome(euc1, "real", 1, 30, 30.0, 0, 0),
        DuelOutcome(euc1, "made", 1, 90, 90.0, 0, 0),
    ]
    rows = peers.summarize([*euc1_outcomes, DuelOutcome(duel_without_goal, "real", 1, 1, 1.0, 0, 0)])
    assert rows[2:] == ["| EUC1 | dict | >= 60x | real: 30x, missed 2x; made: 90x, met |"]


@needs_reference_data
def test_reference_data_have_the_expected_sizes() -> None:
    folder = inputs.get_reference_folder()
    assert folder is not None
    assert inputs.load_real_table(folder).shape == (8333, 25)
    assert len(inputs.load_retail(folder).customers) == 4334
