"""What callers, template and children tell each other beside the jobs themselves."""

import os
from dataclasses import dataclass

from pydantic import TypeAdapter

WALL_FACTOR = 6
"""A job may last this many times its CPU limit, because others compute at the same time, or it sleeps."""
MEMORY_STATUS = 3
"""Exit status of a child that ran out of memory."""
FINISHED = b"finished"
"""Message of a child that has written its result and waits for another job; those before are its steps."""
VALID = b"valid"
"""Reply of a caller that has read a valid result. A child without this reply does no other job."""
MAX_MESSAGE_BYTES = 1 << 16
MAX_FILES_BYTES = 1 << 28
"""Size of a result with files, which may be as large as a release; others are far smaller (``Job``)."""


class RunnerError(Exception):
    """A job has no result, neither a value nor a domain error.

    ``trace`` has the frames, if they are known; ``package``: the one whose code failed, empty if none is.
    """

    def __init__(self, *details: str, trace: str = "", package: str = "") -> None:
        super().__init__(*details)
        self.trace, self.package = trace or repr(self), package


@dataclass(frozen=True, slots=True)
class JobLimits:
    """Limits of one job: address space, and CPU time from its start.

    ``niceness`` is added to the template's.
    """

    memory_mb: int
    cpu_s: float
    niceness: int = 0


@dataclass(frozen=True, slots=True)
class Order:
    """A job as the template knows it. Children that are kept do only jobs of the same ``kind`` and limits."""

    kind: str
    limits: JobLimits
    is_single: bool


ORDER = TypeAdapter(Order)


def create_file(*parts: bytes) -> int:
    """Return the descriptor of a file in memory, whose content no disk and no process in between gets."""
    descriptor = os.memfd_create("job")
    for part in parts:
        write_file(descriptor, part)
    return descriptor


def write_file(descriptor: int, content: bytes) -> None:
    with open(descriptor, "wb", closefd=False) as file:
        file.write(content)


def read_file(descriptor: int, max_bytes: int | None = None) -> bytes:
    """Return the content; raise ValueError if it is longer than ``max_bytes``."""
    size = os.fstat(descriptor).st_size
    if max_bytes is not None and size > max_bytes:
        raise ValueError("the file is too large")
    return os.pread(descriptor, size, 0)
