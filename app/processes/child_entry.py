"""Set-up inside a sandboxed child process: its limits, its sandbox, and its end of the pipes."""

import json
import os
import resource
import signal
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO

from anoncup.runner import sandbox
from anoncup.runner.sandbox import Sandbox
from app.processes import child_process
from app.processes.sandboxed_child import ChildOptions

RESOURCE_LIMITS = {
    resource.RLIMIT_CORE: 0,  # no memory on the disk after a crash
    resource.RLIMIT_FSIZE: 2**26,
    resource.RLIMIT_NOFILE: 256,
    # The following are counted per user; web, worker and databases may run as the same user.
    resource.RLIMIT_NPROC: 4096,
    resource.RLIMIT_SIGPENDING: 64,
}
"""Limits for core dumps, file size in bytes, descriptors, threads (except root's) and pending signals."""


def read_options(text: str) -> ChildOptions:
    """Parse the options on the command line, and set the variables that libraries read."""
    options = ChildOptions(**json.loads(text))
    os.environ.update(options.environment, TMPDIR=options.folder)
    tempfile.tempdir = options.folder
    return options


def limit_resources(options: ChildOptions) -> None:
    """Set the limits, end with the parent, and ignore signals sent to the whole process group."""
    child_process.end_with_parent(options.parent_pid, signal.SIGKILL)
    for signal_number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(signal_number, signal.SIG_IGN)
    for kind, target in {resource.RLIMIT_AS: options.memory_mb * 2**20, **RESOURCE_LIMITS}.items():
        hard_limit = resource.getrlimit(kind)[1]
        limit = target if hard_limit == resource.RLIM_INFINITY else min(target, hard_limit)
        resource.setrlimit(kind, (limit, limit))


def take_pipe() -> "Pipe":
    """Return the pipe to the parent. Imported packages read from and print to /dev/null instead."""
    outgoing, incoming = os.fdopen(os.dup(1), "wb", buffering=0), os.fdopen(os.dup(0), "rb")
    null_device = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1):
        os.dup2(null_device, descriptor)
    os.close(null_device)
    return Pipe(incoming, outgoing)


def enter_sandbox(options: ChildOptions) -> None:
    """Enter the sandbox, and end the output to the log, where secrets could be printed from here on."""
    mechanisms = Sandbox(options.file_mechanism, options.call_mechanism, options.drops_root)
    sandbox.enter(mechanisms, sandbox.make_ruleset(mechanisms))
    sys.stderr.flush()
    os.dup2(1, 2)


@dataclass(frozen=True, slots=True)
class Pipe:
    """The connection to the parent: lines of JSON, some followed by bytes."""

    incoming: BinaryIO
    outgoing: BinaryIO

    def receive(self) -> Any:
        """Return the next message; None once the parent has closed the pipe."""
        line = self.incoming.readline()
        return json.loads(line) if line else None

    def send(self, message: Mapping[str, Any], content: bytes = b"") -> None:
        line = json.dumps(message, ensure_ascii=False).encode() + b"\n"
        for part in (line, content):
            unsent = memoryview(part)
            while unsent:
                unsent = unsent[self.outgoing.write(unsent) or 0 :]

    def fetch(self, digest: str) -> bytes:
        """Return the file with that SHA-256. The parent ends this process if it has no such file."""
        self.send({"fetch": digest})
        return self.incoming.read(self.receive()["length"])
