"""``anoncup`` with local files and an empty environment."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

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


def run_line(folder: Path, line: str, *, status: int = 0) -> str:
    """Run ``anoncup`` with the words of a line. Return its output, or its error if it fails."""
    completed = run_program(*shlex.split(line), cwd=folder)
    assert (completed.returncode, completed.stderr == "") == (status, status < 2), completed.stderr
    return completed.stderr or completed.stdout


def run_json(folder: Path, line: str, *, status: int = 0) -> Any:
    return json.loads(run_line(folder, f"{line} --json", status=status))


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
