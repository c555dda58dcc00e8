"""The command line, called in a process of its own."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Ran:
    """What a command left behind."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Anoncup = Callable[..., Ran]


@contextmanager
def working(job: Callable[[], object]) -> Iterator[None]:
    """A worker that does the job again and again for as long as the context lasts."""
    over = threading.Event()

    def work() -> None:
        while not over.wait(0.1):
            job()

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
