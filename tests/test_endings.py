"""How a command ends where nobody reads it: never with the status that says "rejected"."""

import os
import resource
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

PROGRAM = Path(sys.executable).parent / "anoncup"
LITTLE, MUCH = ("template", "2015"), ("generate", "--rows", "8333")


ENVIRONMENTS = pytest.mark.parametrize("env", [{}, {"PYTHONUNBUFFERED": "1"}], ids=["", "unbuffered"])


def begun(*words: str, out: int, env: Mapping[str, str]) -> "subprocess.Popen[bytes]":
    env = {"PATH": os.defpath, **env}
    return subprocess.Popen([PROGRAM, *words], stdout=out, stderr=subprocess.PIPE, env=env, close_fds=True)


def ended(process: "subprocess.Popen[bytes]") -> tuple[int, bytes]:
    said = process.communicate(timeout=120)[1]
    return process.returncode, said


@pytest.mark.full
@ENVIRONMENTS
@pytest.mark.parametrize("words", [LITTLE, MUCH])
def test_a_command_whose_reader_has_gone_is_quiet(words: tuple[str, ...], env: Mapping[str, str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    process = begun(*words, out=writer, env=env)
    os.close(writer)
    assert ended(process) == (141, b"")


@pytest.mark.full
@ENVIRONMENTS
def test_a_command_whose_reader_leaves_in_the_middle_is_quiet(env: Mapping[str, str]) -> None:
    process = begun(*MUCH, out=subprocess.PIPE, env=env)
    assert process.stdout is not None
    assert process.stdout.readline().startswith(b"SetaiKubun")
    process.stdout.close()
    process.stdout = None
    assert ended(process) == (141, b"")


@pytest.mark.full
@ENVIRONMENTS
@pytest.mark.parametrize("words", [LITTLE, MUCH])
def test_what_cannot_be_written_is_said(words: tuple[str, ...], env: Mapping[str, str]) -> None:
    full = os.open("/dev/full", os.O_WRONLY)
    process = begun(*words, out=full, env=env)
    os.close(full)
    status, said = ended(process)
    assert status == 74
    assert said.startswith(b"anoncup: ")
    assert b"Traceback" not in said
    assert b"No space left" in said


@pytest.mark.full
@ENVIRONMENTS
def test_a_disk_that_becomes_full_in_the_middle_is_said(tmp_path: Path, env: Mapping[str, str]) -> None:
    """The last write that fits is a partial one, and no error of its own."""
    limit = 100_000

    def bound() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    with (tmp_path / "table.csv").open("wb") as out:
        process = subprocess.run(
            [PROGRAM, *MUCH],
            stdout=out,
            stderr=subprocess.PIPE,
            env={"PATH": os.defpath, "PYTHONDONTWRITEBYTECODE": "1", **env},
            preexec_fn=bound,
            check=False,
        )
    assert (tmp_path / "table.csv").stat().st_size == limit
    assert (process.returncode, process.stderr[:9]) == (74, b"anoncup: ")


@pytest.mark.parametrize(("words", "status"), [(LITTLE, 0), (("template", "1999"), 2)])
def test_a_command_may_be_started_without_an_output(words: tuple[str, ...], status: int) -> None:
    line = f"exec {PROGRAM} {' '.join(words)} >&- 2>&-"
    assert subprocess.run(["/bin/sh", "-c", line], check=False, timeout=120).returncode == status
