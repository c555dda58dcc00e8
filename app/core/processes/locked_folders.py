"""Temporary folders that are removed even if their owner is killed."""

import fcntl
import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path


class LockedFolder:
    """A new folder, locked by this process until it removes the folder or ends, even by kill -9.

    The folder of an owner that was killed is removed when the next one is created.
    """

    def __init__(self, parent: Path, prefix: str) -> None:
        _remove_orphans(parent, prefix)
        while True:
            self.path = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
            self.lock = os.open(self.path, os.O_DIRECTORY | os.O_CLOEXEC)
            fcntl.flock(self.lock, fcntl.LOCK_EX)
            if self.path.exists():  # else another process removed it as an orphan before it was locked
                return
            os.close(self.lock)

    def remove(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self.lock)


def _remove_orphans(parent: Path, prefix: str) -> None:
    """Remove the folders that no process has locked."""
    for path in parent.glob(f"{prefix}*"):
        with suppress(OSError):  # locked, another user's, or just removed
            lock = os.open(path, os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(path, ignore_errors=True)
            finally:
                os.close(lock)
