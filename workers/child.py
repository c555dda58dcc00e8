"""The scoring child: one per worker process, with a memory and a time limit, kept between submissions.

An upload that exhausts memory or time ends its child, not the worker, and the submission ends in ERROR
with the reason. The child has no database, no queue and no keys.
"""

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

from app.config import Settings
from app.errors import Unavailable

KEPT = {"PATH", "HOME", "LANG", "TMPDIR", "NUMBA_CACHE_DIR"}

RECYCLE_AFTER = 200
"""Submissions a child scores before a fresh one takes over: whatever leaks, leaks only so far."""
HEARTBEAT_S = 3.0

DIED = "the scoring process was killed, perhaps for want of memory"
STORAGE = "a file of the submission could not be read"
TIMED_OUT = "scoring took longer than the limit of {} s"
OUT_OF_MEMORY = "scoring needed more memory than the limit of {} MB"
CRASHED = "scoring failed with an internal error; the operators have been told"


class ScoringFailed(Exception):  # the name is what happened
    """The evaluation cannot be finished; the message is for the team."""


@dataclass(frozen=True, slots=True)
class Request:
    data: str
    competition_file: str
    original: dict[str, str]
    files: dict[str, str]
    secret: str


@dataclass(frozen=True, slots=True)
class Inquiry:
    """A question to the advisor about a competition's data."""

    data: str
    competition_file: str
    original: dict[str, str]
    question: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Step:
    number: int
    of: int
    name: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the child found: a verdict, or the advisor's report; and the version of its rules."""

    content: dict[str, Any]
    scorer: str


class ChildDied(Exception):  # the name is what happened
    """The child was killed, by the kernel for want of memory or by a person: worth another try."""


class Child:
    """A running scorer, spoken to in lines of JSON."""

    def __init__(self, settings: Settings) -> None:
        self.scored = 0
        self.received = b""
        arguments = [str(os.getpid()), str(settings.scoring_memory_mb)]
        self.process = subprocess.Popen(  # noqa: S603  # our own module
            [sys.executable, "-m", "workers.scorer", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=child_environment(),
            bufsize=0,
        )

    def send(self, request: Request | Inquiry) -> None:
        assert self.process.stdin is not None  # noqa: S101  # opened as a pipe above
        try:
            left = memoryview(json.dumps(asdict(request)).encode() + b"\n")
            while left:
                left = left[self.process.stdin.write(left) :]
        except BrokenPipeError:
            raise ChildDied(DIED) from None

    def read(self, timeout_s: float) -> dict[str, Any] | None:
        """The next line, or None after ``timeout_s`` without one; ChildDied if it is gone."""
        assert self.process.stdout is not None  # noqa: S101  # opened as a pipe above
        deadline = time.monotonic() + timeout_s
        # A buffered reader would hide lines from select: this class keeps its own buffer.
        while b"\n" not in self.received:
            ready, _, _ = select.select([self.process.stdout], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                return None
            piece = os.read(self.process.stdout.fileno(), 1 << 20)
            if not piece:
                raise ChildDied(DIED)
            self.received += piece
        line, _, self.received = self.received.partition(b"\n")
        message: dict[str, Any] = json.loads(line)
        return message

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                with suppress(BrokenPipeError):
                    pipe.close()


def child_environment() -> dict[str, str]:
    """No address and no key of anything; one thread, for parallelism is across submissions."""
    kept = {name: value for name, value in os.environ.items() if name in KEPT}
    return kept | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}


class Keeper:
    """Holds this process's child, and replaces it when it has ended or has scored enough."""

    def __init__(self) -> None:
        self.child: Child | None = None

    def ready(self, settings: Settings) -> Child:
        child = self.child
        if child is not None and (child.process.poll() is not None or child.scored >= RECYCLE_AFTER):
            self.discard()
        if self.child is None:
            self.child = Child(settings)
        return self.child

    def discard(self) -> None:
        if self.child is not None:
            self.child.end()
            self.child = None


keeper = Keeper()


def evaluate(request: Request | Inquiry, settings: Settings, *, on_step: Callable[[Step], None]) -> Verdict:
    """The verdict on one submission, or the report on one question.

    ``on_step`` is called at each step and every few seconds between.
    ScoringFailed: it cannot be scored; ChildDied, Unavailable: it may be tried again. An unfinished child is
    ended, for what it would still say belongs to no later submission.
    """
    child = keeper.ready(settings)
    try:
        child.send(request)
        verdict = converse(child, settings, on_step)
    except BaseException:
        keeper.discard()
        raise
    child.scored += 1
    return verdict


def converse(child: Child, settings: Settings, on_step: Callable[[Step], None]) -> Verdict:
    deadline = time.monotonic() + settings.scoring_time_limit_s
    step = Step(0, 0, "")
    while time.monotonic() < deadline:
        message = child.read(min(HEARTBEAT_S, max(0.0, deadline - time.monotonic())))
        if message is not None and "verdict" in message:
            return Verdict(message["verdict"], message["scorer"])
        if message is not None:
            check_failure(message, settings)
            step = Step(message["step"], message["of"], message["name"])
        on_step(step)
    raise ScoringFailed(TIMED_OUT.format(settings.scoring_time_limit_s))


def check_failure(message: dict[str, Any], settings: Settings) -> None:
    match message.get("failed"):
        case None:
            return
        case "storage":
            raise Unavailable(STORAGE)
        case "memory":
            raise ScoringFailed(OUT_OF_MEMORY.format(settings.scoring_memory_mb))
    raise ScoringFailed(CRASHED)
