"""A sandboxed child process, from the inside: its limits, its sandbox, and its end of the pipes."""

import json
import os
import resource
import signal
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from app.processes import child_process
from app.processes.sandboxed_child import ChildOptions
from workers import sandbox
from workers.sandbox import Sandbox

LIMITS = {
    resource.RLIMIT_CORE: 0,  # no memory on the disk after a crash
    resource.RLIMIT_FSIZE: 2**26,
    # The following are counted per user, and web, worker and databases may share one.
    resource.RLIMIT_NOFILE: 256,
    resource.RLIMIT_NPROC: 4096,
    resource.RLIMIT_SIGPENDING: 64,
}
"""Limits of a file's bytes, descriptors, threads (except root's) and pending signals."""


def read_options(text: str) -> ChildOptions:
    """Return what the parent says on the command line, and set the variables that libraries read."""
    options = ChildOptions(**json.loads(text))
    os.environ.update(options.environment, TMPDIR=options.folder)
    tempfile.tempdir = options.folder
    return options


def limit_resources(options: ChildOptions) -> None:
    """Set the limits, end with the parent, and ignore the signals that stop a whole group."""
    child_process.end_with_parent(options.parent, signal.SIGKILL)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    for kind, wanted in {resource.RLIMIT_AS: options.memory_mb * 2**20, **LIMITS}.items():
        granted = resource.getrlimit(kind)[1]
        most = wanted if granted == resource.RLIM_INFINITY else min(wanted, granted)
        resource.setrlimit(kind, (most, most))


def enter_sandbox(options: ChildOptions) -> "Pipe":
    """Enter the sandbox and return the pipe to the parent."""
    pipe = Pipe(sys.stdin.buffer, os.fdopen(os.dup(sys.stdout.fileno()), "wb", buffering=0))
    chosen = Sandbox(options.files, options.calls, options.drops_root)
    sandbox.enter(chosen, folder=Path(options.folder))
    silence_output()
    return pipe


def silence_output() -> None:
    """Keep what is printed out of the answers and of the parent's log."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
        os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


@dataclass(frozen=True, slots=True)
class Pipe:
    """The connection to the parent: lines of JSON, and the bytes that follow some of them."""

    incoming: BinaryIO
    outgoing: BinaryIO

    def receive(self) -> Any:
        """Return the next message; None once the parent has closed the pipe."""
        line = self.incoming.readline()
        return json.loads(line) if line else None

    def send(self, message: Mapping[str, Any], content: bytes = b"") -> None:
        line = json.dumps(message, ensure_ascii=False).encode() + b"\n"
        for part in (line, content):
            left = memoryview(part)
            while left:
                left = left[self.outgoing.write(left) or 0 :]

    def fetch(self, digest: str) -> bytes:
        """Return the content of that SHA-256. A parent that does not have it ends this process."""
        self.send({"fetch": digest})
        return self.incoming.read(self.receive()["length"])
