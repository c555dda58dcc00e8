"""Results of commands, and a worker that runs beside them."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class CliResult:
    """The exit status and output of a command."""

    status: int
    stdout: str
    stderr: str

    @property
    def json(self) -> Any:
        return json.loads(self.stdout)


CommandRunner = Callable[..., CliResult]


@contextmanager
def run_worker(job: Callable[[], object]) -> Iterator[None]:
    """Run the job repeatedly in a thread inside the block."""
    stopped = threading.Event()

    def run_jobs() -> None:
        while not stopped.wait(0.1):
            job()

    thread = threading.Thread(target=run_jobs)
    thread.start()
    try:
        yield
    finally:
        stopped.set()
        thread.join()
