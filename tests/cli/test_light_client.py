"""Commands need no packages that they do not use: those of the extra ``score``, of the server or the network."""

import subprocess
import sys
from pathlib import Path

import pytest

from anoncup.cli.exit_status import SCORING_PACKAGES

PROGRAM = """
import sys
sys.modules.update(dict.fromkeys({packages!r}))
from anoncup.cli.main import main
main()
"""
SERVER_PACKAGES = {"sqlalchemy", "pydantic_settings", "celery", "fastapi"}


def run(
    *arguments: str, folder: Path, without: set[str] = SCORING_PACKAGES
) -> subprocess.CompletedProcess[str]:
    """Run a command where these packages cannot be imported."""
    command = [sys.executable, "-c", PROGRAM.format(packages=sorted(without)), *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, encoding="utf-8", check=False)


@pytest.mark.parametrize("command", ["score", "check", "scales"])
def test_command_that_scores_names_the_extra(command: str, tmp_path: Path) -> None:
    for name in ("competition.toml", "table.csv"):
        (tmp_path / name).write_text("")
    arguments = ["--competition", "competition.toml", "--original", "table.csv", "--anonymized", "table.csv"]
    arguments = arguments[:4] if command == "scales" else arguments
    result = run(command, *arguments, *(["--secret", "table.csv"] * (command == "score")), folder=tmp_path)
    assert (result.returncode, result.stdout) == (2, "")
    origin = Path(__file__).parents[2].as_uri()
    expected = f'this command needs the packages that score: use "anoncup[score] @ {origin}"'
    assert result.stderr == f"anoncup: {expected}\n"


@pytest.mark.full
@pytest.mark.parametrize(
    "line", [*(f"{name} --help" for name in ("score", "threshold", "serve", "organize")), "template 2015"]
)
def test_help_and_templates_are_printed_without_them(line: str, tmp_path: Path) -> None:
    without = SCORING_PACKAGES | SERVER_PACKAGES | {"httpx2"}
    assert run(*line.split(), folder=tmp_path, without=without).returncode == 0


@pytest.mark.full
@pytest.mark.parametrize(
    "line",
    [
        "competitions",
        "download cup",
        "submit cup --anonymized /dev/null --secret /dev/null",
        *(f"{name} cup" for name in ("submissions", "quota", "team", "board", "targets", "guesses")),
        "guess cup/T01 --file /dev/null",
    ],
)
def test_remote_command_comes_to_the_service_without_them(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANONCUP_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("ANONCUP_TOKEN", "token")
    result = run(*line.split(), folder=tmp_path, without=SCORING_PACKAGES | SERVER_PACKAGES)
    assert result.returncode == 3, result.stderr
