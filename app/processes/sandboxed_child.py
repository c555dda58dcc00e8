"""A sandboxed child process, seen from its parent.

The child gets an empty environment, its own folder, a memory limit and two pipes. A message is a line of
JSON, which bytes may follow. The child's output is validated like an upload.
"""

import json
import os
import select
import subprocess
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

from anoncup.errors import DomainError
from anoncup.messages import Message
from anoncup.runner import sandbox
from app.processes.child_folders import LockedFolder
from app.processes.interpreters import Interpreter

_INHERITED_VARIABLES = frozenset({"LD_LIBRARY_PATH", "PYTHONPATH"})
"""Variables that some interpreters need to start and to find packages. No others are passed on."""
_MAX_LINE_BYTES = 1 << 16
"""Default limit; callers may allow more."""
DIED_MESSAGE = Message("the scoring process was killed, perhaps because memory ran out")


class ChildDiedError(DomainError):
    """The child was killed, perhaps by the kernel when memory ran out. It is worth another try."""

    code = "child_died"


class ChildProtocolError(Exception):
    """The child broke the protocol, so it may be compromised."""


class ChildTimeoutError(Exception):
    """The deadline has passed."""


@dataclass(frozen=True, slots=True)
class ChildOptions:
    """Options of a child, passed on its command line.

    ``environment`` has variables that libraries read, none of them secret. ``warm`` makes it load the
    compiled loops before the first message.
    """

    parent_pid: int
    memory_mb: int
    folder: str
    file_mechanism: str
    call_mechanism: str
    drops_root: bool
    warm: bool
    environment: dict[str, str]


class SandboxedChild:
    """A running child process."""

    def __init__(
        self, program: str, *, setting: str, memory_mb: int, warm: bool = False, environment: str = ""
    ) -> None:
        """Start the module ``program`` under ``setting``, the value of ``ANONCUP_SANDBOX``.

        It runs in the environment of a package, or in this interpreter.
        """
        self.warm = warm
        interpreter = self.interpreter = Interpreter(environment)
        self.installation = interpreter.identify_installation()
        if not interpreter.is_installed:  # the package has been removed since this process began
            raise ChildDiedError(DIED_MESSAGE)
        self.buffer = bytearray()
        self.folder = LockedFolder()
        options = ChildOptions(
            parent_pid=os.getpid(),
            memory_mb=memory_mb,
            folder=str(self.folder.path),
            **asdict(sandbox.choose(setting)),
            warm=warm,
            environment=_build_environment() | interpreter.variables,
        )
        self.process = subprocess.Popen(  # noqa: S603  # our own module
            # -P keeps modules of the working folder out, since the data may be there.
            [
                interpreter.python,
                "-P",
                "-X",
                "utf8",
                "-m",
                "app.processes",
                program,
                json.dumps(asdict(options)),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={name: os.environ[name] for name in _INHERITED_VARIABLES if name in os.environ}
            | interpreter.import_path,
            bufsize=0,
        )
        assert self.process.stdin is not None and self.process.stdout is not None  # noqa: S101, PT018  # pipes
        self.stdin, self.stdout = self.process.stdin, self.process.stdout
        # Otherwise a hanging child would block its parent's writes for ever.
        os.set_blocking(self.stdin.fileno(), False)

    @property
    def is_outdated(self) -> bool:
        """Whether packages were replaced or removed after its start, so that it may import other versions."""
        return self.installation != self.interpreter.identify_installation()

    def send(self, message: Mapping[str, Any], *, content: bytes = b"", deadline: float) -> None:
        """Send a message, then ``content``; raise ChildTimeoutError if the child is too slow to read it."""
        for part in (json.dumps(message).encode() + b"\n", content):
            unsent = memoryview(part)
            while unsent:
                select.select([], [self.stdin], [], max(0.0, deadline - time.monotonic()))
                try:
                    unsent = unsent[self.stdin.write(unsent) or 0 :]
                except BrokenPipeError:
                    raise ChildDiedError(DIED_MESSAGE) from None
                if time.monotonic() > deadline:
                    raise ChildTimeoutError

    def read(self, timeout_s: float, *, max_bytes: int = _MAX_LINE_BYTES) -> dict[str, Any] | None:
        """Return the next message, or None after ``timeout_s`` without one.

        Raises ChildDiedError if the child has ended, and ChildProtocolError if it sends an invalid message or
        a line of more than ``max_bytes``.
        """
        deadline = time.monotonic() + timeout_s
        is_late = False
        search_start = 0
        # This class has its own buffer because a buffered reader would hide lines from select.
        while (end := self.buffer.find(b"\n", search_start)) < 0:
            search_start = len(self.buffer)
            # Stop at the deadline even if the child keeps sending parts of an endless line.
            if is_late or not self.has_output_within(max(0.0, deadline - time.monotonic())):
                return None
            self.receive(max_bytes)
            is_late = time.monotonic() > deadline
        return _parse_message(self.pop_bytes(end + 1))

    def read_content(self, length: int, *, deadline: float) -> bytes:
        """Return the ``length`` bytes after a message; raise ChildTimeoutError if they arrive too late."""
        while len(self.buffer) < length:
            if not self.has_output_within(max(0.0, deadline - time.monotonic())):
                raise ChildTimeoutError
            self.receive(length + _MAX_LINE_BYTES)
        return self.pop_bytes(length)

    def pop_bytes(self, length: int) -> bytes:
        """Remove the first ``length`` bytes from the buffer and return them."""
        content = bytes(memoryview(self.buffer)[:length])
        del self.buffer[:length]
        return content

    def has_output_within(self, seconds: float) -> bool:
        """Return whether the child sends output or ends within ``seconds``."""
        return bool(select.select([self.stdout], [], [], seconds)[0])

    def receive(self, max_bytes: int) -> None:
        chunk = os.read(self.stdout.fileno(), 1 << 20)
        if not chunk:
            raise ChildDiedError(DIED_MESSAGE)
        self.buffer += chunk
        if len(self.buffer) > max_bytes:
            raise ChildProtocolError

    def is_quiet(self) -> bool:
        """Return whether the child waits for a message.

        Unrequested output would be taken for the answer to the next message.
        """
        return not self.buffer and not self.has_output_within(0)

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        for pipe in (self.stdin, self.stdout):
            with suppress(BrokenPipeError):
                pipe.close()
        self.folder.remove()


def _parse_message(line: bytes) -> dict[str, Any]:
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        message = None
    if not isinstance(message, dict):
        raise ChildProtocolError
    return message


def _build_environment() -> dict[str, str]:
    """Return the environment variables for libraries in the child. They contain no addresses and no keys."""
    variables = {name: os.environ[name] for name in ("HOME", "NUMBA_CACHE_DIR") if name in os.environ}
    # One thread for each child: submissions are scored in parallel instead.
    single_threaded = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}
    # Keep Arrow from starting a thread at import, which would stay outside the sandbox.
    return variables | single_threaded | {"JE_ARROW_MALLOC_CONF": "background_thread:false"}
