"""Without the extra ``score``, every command for a service works; the others name the extra."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from anoncup.cli.exit_status import SCORING_PACKAGES
from tests.support.arena import build_noisy_release
from tests.support.contest import Contest
from tests.support.uploads import score_everything

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


@pytest.mark.full
def test_a_team_plays_a_contest(client: TestClient, folder: Path, sign_in_as: Callable[[str], None]) -> None:
    contest = Contest.create(client)
    contest.submit("red")
    sign_in_as(contest.arena.get_team_token("blue"))
    for name, content in zip(("a.csv", "s.csv"), build_noisy_release(5, contest.arena.table), strict=True):
        (folder / name).write_bytes(content)

    def play(*arguments: str) -> str:
        result = run(*arguments, folder=folder)
        assert (result.returncode, result.stderr) == (0, ""), arguments
        return result.stdout

    assert "small" in play("competitions")
    play("download", "small")
    play("download", "small", "--kit")
    assert (folder / "small/original.csv").stat().st_size
    files = ("--anonymized", "a.csv", "--secret", "s.csv")
    play("check", "--competition", "small", "--service", *files)
    assert "received" in play("submit", "small", *files)
    score_everything()
    for command in ("submissions", "quota", "team", "board"):
        assert play(command, "small")
    contest.open_attacks()
    (target,) = (entry for entry in contest.list_targets("blue") if not entry["own"])
    play("download", "small", "--targets")
    play("targets", "small")
    rows = (folder / f"small/targets/{target['name']}/anonymized.csv").read_text().count("\n") - 1
    (folder / "g.csv").write_text("original_row\n" + "".join(f"{row + 1}\n" for row in range(rows)))
    play("guess", f"small/{target['name']}", "--file", "g.csv")
    assert target["name"] in play("guesses", "small")
