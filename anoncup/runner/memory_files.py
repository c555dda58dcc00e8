"""Files in memory: their content reaches neither a disk nor the memory of processes that pass them on."""

import fcntl
import os

_SEALS = fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE


def create(name: str) -> int:
    """Return the descriptor of an empty file."""
    return os.memfd_create(name, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)


def create_sealed(name: str, *parts: bytes) -> int:
    """Return the descriptor of a file that nobody can change."""
    descriptor = create(name)
    for part in parts:
        write(descriptor, part)
    fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, _SEALS)
    return descriptor


def write(descriptor: int, content: bytes) -> None:
    unsent = memoryview(content)
    while unsent:
        unsent = unsent[os.write(descriptor, unsent) :]


def read(descriptor: int, *, max_bytes: int | None = None) -> bytes:
    """Return the content; raise ValueError if it is longer than ``max_bytes``."""
    size = os.fstat(descriptor).st_size
    if max_bytes is not None and size > max_bytes:
        raise ValueError("the file is too large")
    return os.pread(descriptor, size, 0)
