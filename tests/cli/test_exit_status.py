"""Exit status of commands whose output cannot be written: never 1, which means "rejected"."""

import os
import resource
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

PROGRAM = Path(sys.executable).parent / "anoncup"
SHORT_COMMAND, LONG_COMMAND = ("template", "2015"), ("generate", "--rows", "8333")


UNBUFFERED = {"PYTHONUNBUFFERED": "1"}
with_and_without_buffering = pytest.mark.parametrize("env", [{}, UNBUFFERED], ids=["", "unbuffered"])
for_short_and_long_output = pytest.mark.parametrize(
    ("arguments", "env"), [(SHORT_COMMAND, {}), (SHORT_COMMAND, UNBUFFERED), (LONG_COMMAND, {})]
)


def start_command(*arguments: str, stdout: int, env: Mapping[str, str]) -> "subprocess.Popen[bytes]":
    env = {"PATH": os.defpath, **env}
    return subprocess.Popen(
        [PROGRAM, *arguments], stdout=stdout, stderr=subprocess.PIPE, env=env, close_fds=True
    )


def wait_for_end(process: "subprocess.Popen[bytes]") -> tuple[int, bytes]:
    stderr = process.communicate(timeout=120)[1]
    return process.returncode, stderr


@pytest.mark.full
@with_and_without_buffering
def test_command_is_silent_if_its_reader_exits_midway(env: Mapping[str, str]) -> None:
    process = start_command(*LONG_COMMAND, stdout=subprocess.PIPE, env=env)
    assert process.stdout is not None
    assert process.stdout.readline().startswith(b"SetaiKubun")
    process.stdout.close()
    process.stdout = None
    assert wait_for_end(process) == (141, b"")


@pytest.mark.full
@for_short_and_long_output
def test_unwritable_output_is_reported(arguments: tuple[str, ...], env: Mapping[str, str]) -> None:
    full_device = os.open("/dev/full", os.O_WRONLY)
    process = start_command(*arguments, stdout=full_device, env=env)
    os.close(full_device)
    status, stderr = wait_for_end(process)
    assert status == 74
    assert stderr.startswith(b"anoncup: ")
    assert b"Traceback" not in stderr
    assert b"No space left" in stderr


@pytest.mark.full
@with_and_without_buffering
def test_full_disk_is_reported(tmp_path: Path, env: Mapping[str, str]) -> None:
    """The last write before the disk is full is only partial and raises no error."""
    limit = 100_000

    def limit_file_size() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    with (tmp_path / "table.csv").open("wb") as file:
        process = subprocess.run(
            [PROGRAM, *LONG_COMMAND],
            stdout=file,
            stderr=subprocess.PIPE,
            env={"PATH": os.defpath, "PYTHONDONTWRITEBYTECODE": "1", **env},
            preexec_fn=limit_file_size,
            check=False,
        )
    assert (tmp_path / "table.csv").stat().st_size == limit
    assert (process.returncode, process.stderr[:9]) == (74, b"anoncup: ")


@pytest.mark.parametrize(("arguments", "status"), [(SHORT_COMMAND, 0), (("template", "1999"), 2)])
def test_command_may_start_without_stdout(arguments: tuple[str, ...], status: int) -> None:
    line = f"exec {PROGRAM} {' '.join(arguments)} >&- 2>&-"
    assert subprocess.run(["/bin/sh", "-c", line], check=False, timeout=120).returncode == status
