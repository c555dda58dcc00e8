"""Without the extra ``score``, every command for a service works; the others name the extra."""

import subprocess
import sys
from pathlib import Path

import pytest

from anoncup.cli.exit_status import SCORING_PACKAGES

PROGRAM = f"""
import sys
sys.modules.update(dict.fromkeys({sorted(SCORING_PACKAGES)!r}))
from anoncup.cli.main import main
main()
"""


def run(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command where the packages that score cannot be imported."""
    command = [sys.executable, "-c", PROGRAM, *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, encoding="utf-8", check=False)


@pytest.mark.parametrize("command", ["score", "check", "scales"])
def test_command_that_scores_names_the_extra(command: str, tmp_path: Path) -> None:
    for name in ("competition.toml", "table.csv"):
        (tmp_path / name).write_text("")
    arguments = ["--competition", "competition.toml", "--original", "table.csv", "--anonymized", "table.csv"]
    arguments = arguments[:4] if command == "scales" else arguments
    result = run(command, *arguments, *(["--secret", "table.csv"] * (command == "score")), folder=tmp_path)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr == "anoncup: this command needs the packages that score: install anoncup[score]\n"
