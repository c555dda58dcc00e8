"""``anoncup`` with local files and an empty environment."""

import os
import subprocess
import sys
from pathlib import Path

from tests.support import cli_zygote

BIN_FOLDER = Path(sys.executable).parent


def run_program(
    *arguments: str | Path, cwd: Path, program: str = "anoncup"
) -> "subprocess.CompletedProcess[str]":
    """Run a program with nothing but ``PATH`` in its environment."""
    env = {"PATH": os.defpath}
    completed = (
        cli_zygote.run(arguments, cwd=cwd, env=env)
        if program == "anoncup"
        else start_program(program, *arguments, cwd=cwd, env=env)
    )
    assert "Traceback" not in completed.stderr
    assert "Traceback" not in completed.stdout
    return completed


def start_program(
    program: str, *arguments: str | Path, cwd: Path, env: dict[str, str]
) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [BIN_FOLDER / program, *arguments],
        cwd=cwd,
        env=env,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
