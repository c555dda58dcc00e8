"""``make bench`` compares our answers with those of peers on small and hostile tables."""

from functools import cache
from pathlib import Path

import pytest

from benchmarks.peers import __main__ as peers
from benchmarks.peers import growth
from benchmarks.peers.duel import DuelOutcome

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


def test_growth_is_measured_for_each_task(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    growth.make_files(tmp_path, 60)
    growth.time_attacks(tmp_path)
    growth.time_scoring(tmp_path)
    measurements = growth.parse_output(capsys.readouterr().out)
    assert set(measurements) == {*growth.MAX_EXPONENTS, "peak MB"}
    assert min(measurements.values()) > 0
