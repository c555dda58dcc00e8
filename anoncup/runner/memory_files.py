"""Files in memory: their content reaches neither a disk nor the memory of processes that pass them on."""

import os


def create(*parts: bytes) -> int:
    """Return the descriptor of a file with this content."""
    descriptor = os.memfd_create("job")
    for part in parts:
        write(descriptor, part)
    return descriptor


def write(descriptor: int, content: bytes) -> None:
    with open(descriptor, "wb", closefd=False) as file:
        file.write(content)


def read(descriptor: int, max_bytes: int | None = None) -> bytes:
    """Return the content; raise ValueError if it is longer than ``max_bytes``."""
    size = os.fstat(descriptor).st_size
    if max_bytes is not None and size > max_bytes:
        raise ValueError("the file is too large")
    return os.pread(descriptor, size, 0)
