"""Atomic file writes that survive a power cut."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO


def write_atomically(path: Path, content: IO[bytes], *, mode: int = 0o600) -> None:
    """Write all of ``content`` to ``path`` or nothing."""
    content.seek(0)
    path.parent.mkdir(parents=True, exist_ok=True)
    with open_atomically(path, mode=mode) as file:
        shutil.copyfileobj(content, file)


@contextmanager
def open_atomically(path: Path, *, mode: int = 0o600) -> Iterator[IO[bytes]]:
    """Open a temporary file that is flushed and renamed to ``path`` if the context ends without an error."""
    with NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
        try:
            os.fchmod(file.fileno(), mode)
            yield file
            file.flush()
            os.fsync(file.fileno())
            Path(file.name).rename(path)
        except BaseException:
            Path(file.name).unlink(missing_ok=True)
            raise
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Flush a folder, without which a rename in it may not survive a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
