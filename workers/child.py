"""The scoring child: one per worker process, with a memory and a time limit, kept between submissions.

An upload that exhausts memory or time ends its child, not the worker, and the submission ends in ERROR
with the reason. The child has no database, no queue, no keys and no store: what it may read of the store it
asks its parent for, by digest. It ends by itself when it has been asked nothing for a while, for it holds the
numbers and the originals in memory.
"""

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

from app.config import Settings
from app.errors import CompetitionUnavailable
from app.storage import store

KEPT = {"PATH", "HOME", "LANG", "TMPDIR", "NUMBA_CACHE_DIR"}

RECYCLE_AFTER = 200
"""Submissions a child scores before a fresh one takes over: whatever leaks, leaks only so far."""
HEARTBEAT_S = 3.0
ENDING_S = 10.0
"""How long a child that has closed its pipes may take to be gone."""

DIED = "the scoring process was killed, perhaps for want of memory"
TIMED_OUT = "scoring took longer than the limit of {} s"
OUT_OF_MEMORY = "scoring needed more memory than the limit of {} MB"
UNREADABLE = "the competition's file cannot be read: {}"
CRASHED = "scoring failed with an internal error; the operators have been told"


class ScoringFailed(Exception):  # the name is what happened
    """The evaluation cannot be finished; the message is for the team."""


@dataclass(frozen=True, slots=True)
class Request:
    """A submission to be scored: files by their SHA-256, the secret in clear."""

    competition_file: str
    original: dict[str, str]
    files: dict[str, str]
    secret: str


@dataclass(frozen=True, slots=True)
class Inquiry:
    """A question to the advisor about a competition's data."""

    competition_file: str
    original: dict[str, str]
    question: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Trial:
    """A guess to be held against a target's secret."""

    guess: str
    secret: str
    rows: int
    originals: int


@dataclass(frozen=True, slots=True)
class Step:
    number: int
    of: int
    name: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the child found (a verdict, a report, a count of rows) and the version of its rules."""

    content: dict[str, Any]
    scorer: str


class ChildDied(Exception):  # the name is what happened
    """The child was killed, by the kernel for want of memory or by a person: worth another try."""


class Retired(ChildDied):
    """The child had ended itself, for want of work, and took up nothing of what it was sent."""


class OutOfTime(Exception):  # the name is what happened
    """The deadline has passed."""


class Child:
    """A running scorer, spoken to in lines of JSON."""

    def __init__(self, settings: Settings) -> None:
        self.scored = 0
        self.received = b""
        arguments = [str(os.getpid()), str(settings.scoring_memory_mb), str(settings.scoring_idle_s)]
        self.process = subprocess.Popen(  # noqa: S603  # our own module
            [sys.executable, "-m", "workers.scorer", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=child_environment(),
            bufsize=0,
        )
        assert self.process.stdin is not None  # noqa: S101  # opened as a pipe above
        # A child that hangs must not hang its parent, who would wait for ever to write.
        os.set_blocking(self.process.stdin.fileno(), False)

    def send(self, message: Mapping[str, Any], *, content: bytes = b"", deadline: float) -> None:
        """A line of JSON, and ``content`` behind it; OutOfTime if the child does not take it in time."""
        assert self.process.stdin is not None  # noqa: S101  # opened as a pipe above
        for part in (json.dumps(message).encode() + b"\n", content):
            left = memoryview(part)
            while left:
                select.select([], [self.process.stdin], [], max(0.0, deadline - time.monotonic()))
                try:
                    left = left[self.process.stdin.write(left) or 0 :]
                except BrokenPipeError:
                    raise self.ending() from None
                if time.monotonic() > deadline:
                    raise OutOfTime

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
                raise self.ending()
            self.received += piece
        line, _, self.received = self.received.partition(b"\n")
        message: dict[str, Any] = json.loads(line)
        return message

    def ending(self) -> ChildDied:
        """Why nobody is at the other end; only a child that had nothing to do ends well."""
        with suppress(subprocess.TimeoutExpired):
            if self.process.wait(ENDING_S) == 0:
                return Retired(DIED)
        return ChildDied(DIED)

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


def evaluate(
    request: Request | Inquiry | Trial, settings: Settings, *, on_step: Callable[[Step], None]
) -> Verdict:
    """The verdict on one submission, the report on one question, or the rows on which one guess is right.

    ``on_step`` is called at each step and every few seconds between.
    ScoringFailed: it cannot be scored; ChildDied, and NotFound or Unavailable of the store: it may be tried
    again. An unfinished child is ended, for what it would still say belongs to no later submission.
    """
    try:
        return evaluated(request, settings, on_step)
    except Retired:  # just as it was asked: to this work it was never there
        return evaluated(request, settings, on_step)


def evaluated(
    request: Request | Inquiry | Trial, settings: Settings, on_step: Callable[[Step], None]
) -> Verdict:
    child = keeper.ready(settings)
    deadline = time.monotonic() + settings.scoring_time_limit_s
    try:
        child.send({"kind": type(request).__name__, **asdict(request)}, deadline=deadline)
        verdict = converse(child, settings, on_step, deadline)
    except OutOfTime:
        keeper.discard()
        raise ScoringFailed(TIMED_OUT.format(settings.scoring_time_limit_s)) from None
    except CompetitionUnavailable:
        raise  # its last word: it is ready for another
    except BaseException:
        keeper.discard()
        raise
    child.scored += 1
    return verdict


def converse(child: Child, settings: Settings, on_step: Callable[[Step], None], deadline: float) -> Verdict:
    """Hand over what the child asks for, until it has found its verdict."""
    step = Step(0, 0, "")
    while time.monotonic() < deadline:
        match child.read(min(HEARTBEAT_S, max(0.0, deadline - time.monotonic()))):
            case {"verdict": verdict, "scorer": scorer}:
                return Verdict(verdict, scorer)
            case {"fetch": digest}:
                content = store().get(digest)
                child.send({"length": len(content)}, content=content, deadline=deadline)
            case {"step": number, "of": of, "name": name}:
                step = Step(number, of, name)
            case {"unreadable": reason}:
                raise CompetitionUnavailable(UNREADABLE.format(reason))
            case {"failed": reason}:
                raise ScoringFailed(failure(reason, settings))
        on_step(step)
    raise OutOfTime


def failure(reason: str, settings: Settings) -> str:
    return OUT_OF_MEMORY.format(settings.scoring_memory_mb) if reason == "memory" else CRASHED
