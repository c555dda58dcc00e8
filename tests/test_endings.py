"""How a command ends where nobody reads it: never with the status that says "rejected"."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(sys.executable).parent / "anoncup"
LITTLE, MUCH = ("template", "2015"), ("generate", "--rows", "8333")


def begun(*words: str, out: int) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [PROGRAM, *words], stdout=out, stderr=subprocess.PIPE, env={"PATH": os.defpath}, close_fds=True
    )


def ended(process: "subprocess.Popen[bytes]") -> tuple[int, bytes]:
    said = process.communicate(timeout=120)[1]
    return process.returncode, said


@pytest.mark.parametrize("words", [LITTLE, MUCH])
def test_a_command_whose_reader_has_gone_is_quiet(words: tuple[str, ...]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    process = begun(*words, out=writer)
    os.close(writer)
    assert ended(process) == (141, b"")


def test_a_command_whose_reader_leaves_in_the_middle_is_quiet() -> None:
    process = begun(*MUCH, out=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline().startswith(b"SetaiKubun")
    process.stdout.close()
    process.stdout = None
    assert ended(process) == (141, b"")


@pytest.mark.parametrize("words", [LITTLE, MUCH])
def test_what_cannot_be_written_is_said(words: tuple[str, ...]) -> None:
    full = os.open("/dev/full", os.O_WRONLY)
    process = begun(*words, out=full)
    os.close(full)
    status, said = ended(process)
    assert status == 74
    assert said.startswith(b"anoncup: ")
    assert b"Traceback" not in said
    assert b"No space left" in said


@pytest.mark.parametrize(("words", "status"), [(LITTLE, 0), (("template", "1999"), 2)])
def test_a_command_may_be_started_without_an_output(words: tuple[str, ...], status: int) -> None:
    line = f"exec {PROGRAM} {' '.join(words)} >&- 2>&-"
    assert subprocess.run(["/bin/sh", "-c", line], check=False, timeout=120).returncode == status
