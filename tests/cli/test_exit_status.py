"""Exit status of commands whose output cannot be written: never 1, which means "rejected"."""

import os
import resource
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

PROGRAM = Path(sys.executable).parent / "anoncup"
SHORT_OUTPUT, LONG_OUTPUT = ("template", "2015"), ("generate", "--rows", "8333")


ENVIRONMENTS = pytest.mark.parametrize("env", [{}, {"PYTHONUNBUFFERED": "1"}], ids=["", "unbuffered"])


def start_command(*arguments: str, stdout: int, env: Mapping[str, str]) -> "subprocess.Popen[bytes]":
    env = {"PATH": os.defpath, **env}
    return subprocess.Popen(
        [PROGRAM, *arguments], stdout=stdout, stderr=subprocess.PIPE, env=env, close_fds=True
    )


def wait_for_end(process: "subprocess.Popen[bytes]") -> tuple[int, bytes]:
    stderr = process.communicate(timeout=120)[1]
    return process.returncode, stderr


@pytest.mark.full
@ENVIRONMENTS
@pytest.mark.parametrize("arguments", [SHORT_OUTPUT, LONG_OUTPUT])
def test_a_command_whose_reader_has_gone_is_quiet(arguments: tuple[str, ...], env: Mapping[str, str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    process = start_command(*arguments, stdout=writer, env=env)
    os.close(writer)
    assert wait_for_end(process) == (141, b"")


@pytest.mark.full
@ENVIRONMENTS
def test_a_command_whose_reader_leaves_in_the_middle_is_quiet(env: Mapping[str, str]) -> None:
    process = start_command(*LONG_OUTPUT, stdout=subprocess.PIPE, env=env)
    assert process.stdout is not None
    assert process.stdout.readline().startswith(b"SetaiKubun")
    process.stdout.close()
    process.stdout = None
    assert wait_for_end(process) == (141, b"")


@pytest.mark.full
@ENVIRONMENTS
@pytest.mark.parametrize("arguments", [SHORT_OUTPUT, LONG_OUTPUT])
def test_output_that_cannot_be_written_is_reported(
    arguments: tuple[str, ...], env: Mapping[str, str]
) -> None:
    full_device = os.open("/dev/full", os.O_WRONLY)
    process = start_command(*arguments, stdout=full_device, env=env)
    os.close(full_device)
    status, stderr = wait_for_end(process)
    assert status == 74
    assert stderr.startswith(b"anoncup: ")
    assert b"Traceback" not in stderr
    assert b"No space left" in stderr


@pytest.mark.full
@ENVIRONMENTS
def test_a_disk_that_fills_up_is_reported(tmp_path: Path, env: Mapping[str, str]) -> None:
    """The last write that fits is partial and raises no error by itself."""
    limit = 100_000

    def limit_file_size() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    with (tmp_path / "table.csv").open("wb") as file:
        process = subprocess.run(
            [PROGRAM, *LONG_OUTPUT],
            stdout=file,
            stderr=subprocess.PIPE,
            env={"PATH": os.defpath, "PYTHONDONTWRITEBYTECODE": "1", **env},
            preexec_fn=limit_file_size,
            check=False,
        )
    assert (tmp_path / "table.csv").stat().st_size == limit
    assert (process.returncode, process.stderr[:9]) == (74, b"anoncup: ")


@pytest.mark.parametrize(("arguments", "status"), [(SHORT_OUTPUT, 0), (("template", "1999"), 2)])
def test_a_command_may_be_started_without_an_output(arguments: tuple[str, ...], status: int) -> None:
    line = f"exec {PROGRAM} {' '.join(arguments)} >&- 2>&-"
    assert subprocess.run(["/bin/sh", "-c", line], check=False, timeout=120).returncode == status
