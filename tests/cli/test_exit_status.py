"""Exit status of commands whose output cannot be written: never 1, which means "rejected"."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from anoncup.cli import exit_status
from anoncup.errors import InvalidResult

PROGRAM = Path(sys.executable).parent / "anoncup"
SHORT_COMMAND, LONG_COMMAND = ("template", "2015"), ("generate", "--rows", "8333")


def start_command(*arguments: str, stdout: int) -> "subprocess.Popen[bytes]":
    env = {"PATH": os.defpath}
    return subprocess.Popen(
        [PROGRAM, *arguments], stdout=stdout, stderr=subprocess.PIPE, env=env, close_fds=True
    )


def wait_for_end(process: "subprocess.Popen[bytes]") -> tuple[int, bytes]:
    stderr = process.communicate(timeout=120)[1]
    return process.returncode, stderr


@pytest.mark.full
def test_command_is_silent_if_its_reader_exits_midway() -> None:
    process = start_command(*LONG_COMMAND, stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline().startswith(b"SetaiKubun")
    process.stdout.close()
    process.stdout = None
    assert wait_for_end(process) == (141, b"")


@pytest.mark.full
@pytest.mark.parametrize("arguments", [SHORT_COMMAND, LONG_COMMAND])
def test_unwritable_output_is_reported(arguments: tuple[str, ...]) -> None:
    full_device = os.open("/dev/full", os.O_WRONLY)
    process = start_command(*arguments, stdout=full_device)
    os.close(full_device)
    status, stderr = wait_for_end(process)
    assert status == 74
    assert stderr.startswith(b"anoncup: ")
    assert b"Traceback" not in stderr
    assert b"No space left" in stderr


@pytest.mark.parametrize(("arguments", "status"), [(SHORT_COMMAND, 0), (("template", "1999"), 2)])
def test_command_may_start_without_stdout(arguments: tuple[str, ...], status: int) -> None:
    line = f"exec {PROGRAM} {' '.join(arguments)} >&- 2>&-"
    assert subprocess.run(["/bin/sh", "-c", line], check=False, timeout=120).returncode == status


def test_wrong_result_of_a_package_is_a_failure_of_scoring() -> None:
    def score() -> None:
        raise InvalidResult("it returned nan")

    with pytest.raises(SystemExit) as end:
        exit_status.run(score)
    assert end.value.code == exit_status.INTERNAL_ERROR
