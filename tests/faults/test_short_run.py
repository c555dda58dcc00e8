"""A short fault run with real processes."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.full

TIMEOUT_S = 1_500


@pytest.mark.full
def test_contest_with_a_few_faults_loses_nothing() -> None:
    command = [sys.executable, "-m", "tests.faults", "--seed", "5", "--faults", "6"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "seed 5: all laws hold" in result.stdout
