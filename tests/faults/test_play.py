"""The whole play, short: real processes, a few faults."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.full

WITHIN_S = 1_500


@pytest.mark.full
def test_a_contest_in_which_a_few_things_break_loses_nothing() -> None:
    play = [sys.executable, "-m", "tests.faults", "--seed", "5", "--faults", "10"]
    done = subprocess.run(play, capture_output=True, text=True, timeout=WITHIN_S, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "seed 5: all laws hold" in done.stdout
