"""A sandboxed child process, from its parent's side.

The child gets an empty environment, its own folder, a limit of memory, and two pipes. A message is a line of
JSON, and the bytes that belong to it may follow. What the child says is checked as an upload is.
"""

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

from anoncup.errors import DomainError
from anoncup.messages import Message
from app.processes.child_folders import OwnFolder
from workers import sandbox

PASSED_ON = frozenset({"LD_LIBRARY_PATH", "PYTHONPATH"})
"""What some interpreters need to start and to find packages; otherwise the environment is empty."""
LONGEST_LINE = 1 << 16
"""Bytes, unless the caller allows more."""
DIED = Message("the scoring process was killed, perhaps because memory ran out")


class ChildDied(DomainError):
    """The child was killed, by the kernel for want of memory or by a person: worth another try."""

    code = "child_died"


class ChildMisbehaved(Exception):  # the name is what happened
    """The child said something that no child says."""


class OutOfTime(Exception):  # the name is what happened
    """The deadline has passed."""


@dataclass(frozen=True, slots=True)
class ChildOptions:
    """What a child is told at its start. ``environment``: variables that libraries read, none of them secret.

    ``warm``: whether to load the compiled loops before anything is asked.
    """

    parent: int
    memory_mb: int
    folder: str
    files: str
    calls: str
    drops_root: bool
    warm: bool
    environment: dict[str, str]


class SandboxedChild:
    """A running child process."""

    def __init__(self, program: str, *, setting: str, memory_mb: int, warm: bool = False) -> None:
        """Start the module ``program`` under ``setting``, the value of ``ANONCUP_SANDBOX``."""
        self.warm = warm
        self.received = bytearray()
        self.folder = OwnFolder()
        options = ChildOptions(
            parent=os.getpid(),
            memory_mb=memory_mb,
            folder=str(self.folder.path),
            **asdict(sandbox.choose(setting)),
            warm=warm,
            environment=library_variables(),
        )
        self.process = subprocess.Popen(  # noqa: S603  # our own module
            # Without the working folder's modules (-P): it may be where the data lie.
            [sys.executable, "-P", "-X", "utf8", "-m", "app.processes", program, json.dumps(asdict(options))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={name: os.environ[name] for name in PASSED_ON if name in os.environ},
            bufsize=0,
        )
        assert self.process.stdin is not None  # noqa: S101  # opened as a pipe above
        # A child that hangs must not hang its parent, which would wait for ever to write.
        os.set_blocking(self.process.stdin.fileno(), False)

    def send(self, message: Mapping[str, Any], *, content: bytes = b"", deadline: float) -> None:
        """Send a line and ``content`` after it; OutOfTime if the child does not take it in time."""
        assert self.process.stdin is not None  # noqa: S101  # opened as a pipe above
        for part in (json.dumps(message).encode() + b"\n", content):
            left = memoryview(part)
            while left:
                select.select([], [self.process.stdin], [], max(0.0, deadline - time.monotonic()))
                try:
                    left = left[self.process.stdin.write(left) or 0 :]
                except BrokenPipeError:
                    raise ChildDied(DIED) from None
                if time.monotonic() > deadline:
                    raise OutOfTime

    def read(self, timeout_s: float, *, longest: int = LONGEST_LINE) -> dict[str, Any] | None:
        """Return the next message, or None after ``timeout_s`` without one.

        Raises ChildDied if the child is gone, and ChildMisbehaved if it says no message or a line of more
        than ``longest`` bytes.
        """
        deadline, searched, late = time.monotonic() + timeout_s, 0, False
        # A buffered reader would hide lines from select: this class keeps its own buffer.
        while (end := self.received.find(b"\n", searched)) < 0:
            searched = len(self.received)
            # A child that never ends a line, but always says more of it, must not be listened to for ever.
            if late or not self.has_output_within(max(0.0, deadline - time.monotonic())):
                return None
            self.receive(longest)
            late = time.monotonic() > deadline
        line = self.take(end + 1)
        return parse_message(line)

    def read_content(self, length: int, *, deadline: float) -> bytes:
        """Return the ``length`` bytes after a message; OutOfTime if they do not come in time."""
        while len(self.received) < length:
            if not self.has_output_within(max(0.0, deadline - time.monotonic())):
                raise OutOfTime
            self.receive(length + LONGEST_LINE)
        return self.take(length)

    def take(self, length: int) -> bytes:
        """Return the first ``length`` received bytes and forget them."""
        taken = bytes(memoryview(self.received)[:length])
        del self.received[:length]
        return taken

    def has_output_within(self, seconds: float) -> bool:
        """Whether the child says something, or ends, so soon."""
        assert self.process.stdout is not None  # noqa: S101  # opened as a pipe above
        return bool(select.select([self.process.stdout], [], [], seconds)[0])

    def receive(self, longest: int) -> None:
        assert self.process.stdout is not None  # noqa: S101  # opened as a pipe above
        piece = os.read(self.process.stdout.fileno(), 1 << 20)
        if not piece:
            raise ChildDied(DIED)
        self.received += piece
        if len(self.received) > longest:
            raise ChildMisbehaved

    def is_quiet(self) -> bool:
        """Whether it waits for work. What it says unasked would be taken for an answer to what comes next."""
        return not self.received and not self.has_output_within(0)

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                with suppress(BrokenPipeError):
                    pipe.close()
        self.folder.remove()


def parse_message(line: bytes) -> dict[str, Any]:
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        message = None
    if not isinstance(message, dict):
        raise ChildMisbehaved
    return message


def library_variables() -> dict[str, str]:
    """Return what libraries find in the child's environment: no address and no key of anything."""
    kept = {name: os.environ[name] for name in ("HOME", "NUMBA_CACHE_DIR") if name in os.environ}
    # Parallelism is across submissions: one thread each.
    single = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}
    # A thread that Arrow starts when it is imported would stay outside the sandbox.
    return kept | single | {"JE_ARROW_MALLOC_CONF": "background_thread:false"}
