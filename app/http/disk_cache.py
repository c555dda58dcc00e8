"""Disk cache for files that are expensive to build and requested often."""

import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import IO

import structlog

from app.durable_files import write_atomically

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class DiskCache:
    """A folder with a maximum number of files and bytes, which evicts the least recently used files.

    Missing files are built again, so a full disk costs only time. Several processes may share the folder.
    """

    max_files: int
    max_bytes: int
    build_lock: Lock

    def open_file(self, folder: Path, name: str, build: Callable[[], IO[bytes]]) -> IO[bytes]:
        """Return the open file of that name, built if it is missing. The caller closes it.

        Only one file is built at a time.
        """
        path = folder / name
        with suppress(OSError):
            return _open_and_touch(path)
        with self.build_lock:
            with suppress(OSError):
                return _open_and_touch(path)
            content = build()
            try:
                write_atomically(path, content)
                self.evict(folder, keep=path)
            except OSError as problem:
                log.warning("file_not_kept", name=name, reason=problem.strerror)
            return content

    def evict(self, folder: Path, *, keep: Path) -> None:
        """Remove files beyond the limits, including partial files of killed processes."""
        file_count = total_bytes = 0
        for path, (_, size) in sorted(_list_files(folder).items(), key=lambda item: item[1], reverse=True):
            file_count, total_bytes = file_count + 1, total_bytes + size
            if path != keep and (file_count > self.max_files or total_bytes > self.max_bytes):
                path.unlink(missing_ok=True)


def _open_and_touch(path: Path) -> IO[bytes]:
    """Open a file and mark it as the most recently used."""
    file = path.open("rb")
    os.utime(path)
    return file


def _list_files(folder: Path) -> dict[Path, tuple[float, int]]:
    """Return the time of last use and the size of each file."""
    usage = {}
    for path in folder.rglob("*"):
        with suppress(FileNotFoundError):  # another process has removed it
            if path.is_file():
                status = path.stat()
                usage[path] = (status.st_mtime, status.st_size)
    return usage
