"""What needs numbers is done in a program beside a web process: the same answers, and nothing is left."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from app import beside
from app.errors import InvalidUpload, Problem, TooMany, Unavailable
from app.messages import Message
from tests.patience import eventually


@pytest.fixture
def begun() -> Iterator[None]:
    beside.begin(60)
    try:
        yield
    finally:
        for reader in beside.readers.values():
            reader.end()
        beside.readers.clear()


def reader() -> beside.Reader:
    return beside.readers[beside.UPLOADS]


def refuse(kind: str) -> None:
    """In every way that a file is refused."""
    if kind == "malformed":
        raise InvalidUpload(
            [Problem("a.csv", 3, "age", "empty", Message("row {row} is {{odd}}", row=3))], total=7
        )
    if kind == "many":
        raise TooMany("all {limit} are used", retry_after=5, code="quota_used_up", limit=2)
    raise ZeroDivisionError("of ours")


def kill_myself() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def told(kind: str) -> tuple[type[Exception], str, dict[str, object]]:
    with pytest.raises((InvalidUpload, TooMany, ZeroDivisionError)) as raised:
        beside.call(beside.UPLOADS, refuse, kind)
    return type(raised.value), str(raised.value), vars(raised.value)


@pytest.mark.parametrize("kind", ["malformed", "many", "ours"])
def test_a_refusal_says_beside_what_it_says_here(kind: str, request: pytest.FixtureRequest) -> None:
    here = told(kind)
    request.getfixturevalue("begun")
    assert told(kind) == here
    assert beside.call(beside.UPLOADS, sorted, [2, 1], reverse=True) == [2, 1]


def test_one_program_is_asked_again_and_again_and_what_it_prints_is_no_answer(begun: None) -> None:
    first = beside.call(beside.UPLOADS, os.getpid)
    assert beside.call(beside.UPLOADS, print, "said") is None
    assert beside.call(beside.UPLOADS, os.getpid) == first != os.getpid()
    assert beside.call(beside.ORIGINALS, os.getpid) not in {first, os.getpid()}


def test_an_answer_that_cannot_be_told_is_an_error_of_ours(begun: None) -> None:
    with pytest.raises(RuntimeError):
        beside.call(beside.UPLOADS, open, os.devnull)
    assert beside.call(beside.UPLOADS, abs, -1) == 1


def test_a_program_that_is_killed_costs_one_answer_and_another_is_started(begun: None) -> None:
    with pytest.raises(Unavailable) as raised:
        beside.call(beside.UPLOADS, kill_myself)
    assert raised.value.code == "unavailable"
    assert beside.call(beside.UPLOADS, abs, -1) == 1
    ended = reader().process
    assert ended is not None
    ended.kill()
    ended.wait()
    assert beside.call(beside.UPLOADS, abs, -2) == 2


def test_it_ends_when_it_is_asked_nothing_and_is_started_again(begun: None) -> None:
    reader().idle_s = 0.05
    first = beside.call(beside.UPLOADS, os.getpid)
    assert eventually(lambda: not psutil.pid_exists(first))
    assert beside.call(beside.UPLOADS, os.getpid) != first


ASKER = """
import os, sys
from app import beside
beside.begin(60)
print(beside.call(beside.UPLOADS, os.getpid), flush=True)
sys.stdin.read()
"""


def test_it_ends_with_whoever_started_it_also_if_that_is_killed() -> None:
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", ASKER], stdin=pipe, stdout=pipe, cwd=Path.cwd()) as asker:
        assert asker.stdout is not None
        found = int(asker.stdout.readline())
        os.kill(found, signal.SIGTERM)  # as a group is stopped
        assert psutil.pid_exists(found)
        asker.kill()
    assert eventually(lambda: not psutil.pid_exists(found))
