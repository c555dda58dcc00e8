"""``anoncup`` with local files and an empty environment."""

import io
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Mapping
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from anoncup.cli.main import main

EMPTY_ENVIRONMENT = {"PATH": os.defpath}


def run_program(*arguments: str | Path, cwd: Path) -> "subprocess.CompletedProcess[str]":
    """Run ``anoncup`` in this process, since loading its modules takes seconds."""
    words = ["anoncup", *map(str, arguments)]
    stdout, stderr = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    with (
        chdir(cwd),
        patch.dict(os.environ, EMPTY_ENVIRONMENT, clear=True),
        patch.object(sys, "argv", words),
        redirect_stdout(stdout),
        redirect_stderr(stderr),
        pytest.raises(SystemExit) as exit_info,
    ):
        main()
    texts = [(stream.seek(0), stream.read())[1] for stream in (stdout, stderr)]
    assert "Traceback" not in "".join(texts)
    return subprocess.CompletedProcess(words, int(exit_info.value.code or 0), *texts)


def run_line(folder: Path, line: str, *, status: int = 0) -> str:
    """Run ``anoncup`` with the words of a line. Return its output, or its error if it fails."""
    completed = run_program(*shlex.split(line), cwd=folder)
    assert (completed.returncode, completed.stderr == "") == (status, status < 2), completed.stderr
    return completed.stderr or completed.stdout


def run_json(folder: Path, line: str, *, status: int = 0) -> Any:
    return json.loads(run_line(folder, f"{line} --json", status=status))


def start_program(
    *arguments: str | Path, cwd: Path, env: Mapping[str, str] = EMPTY_ENVIRONMENT
) -> "subprocess.CompletedProcess[str]":
    """Run ``anoncup`` in a process of its own, which reads its settings and connects anew."""
    return subprocess.run(
        [Path(sys.executable).parent / "anoncup", *arguments],
        cwd=cwd,
        env=env,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
