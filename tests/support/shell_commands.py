"""``anoncup`` as somebody runs it who has files and a terminal, nothing else."""

import os
import subprocess
import sys
from pathlib import Path

from tests.support import cli_zygote

FOLDER = Path(sys.executable).parent


def run(*words: str | Path, cwd: Path, program: str = "anoncup") -> "subprocess.CompletedProcess[str]":
    """A run with nothing in its environment but where programs are."""
    env = {"PATH": os.defpath}
    done = (
        cli_zygote.run(words, cwd=cwd, env=env)
        if program == "anoncup"
        else cold(program, *words, cwd=cwd, env=env)
    )
    assert "Traceback" not in done.stderr
    assert "Traceback" not in done.stdout
    return done


def cold(
    program: str, *words: str | Path, cwd: Path, env: dict[str, str]
) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [FOLDER / program, *words],
        cwd=cwd,
        env=env,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
