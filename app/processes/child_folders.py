"""Temporary folders of sandboxed children.

A folder is removed by its owner. If the owner was killed, the folder is removed when the next one is created
or when the workers end.
"""

import fcntl
import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

PREFIX = "anoncup-child-"


class ChildFolder:
    """A new folder, locked by this process until it removes the folder or ends, even by kill -9."""

    def __init__(self) -> None:
        remove_orphans()
        while True:
            self.path = Path(tempfile.mkdtemp(prefix=PREFIX))
            self.lock = os.open(self.path, os.O_DIRECTORY | os.O_CLOEXEC)
            fcntl.flock(self.lock, fcntl.LOCK_EX)
            if self.path.exists():  # else another process removed it as an orphan before it was locked
                return
            os.close(self.lock)

    def remove(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self.lock)


def remove_orphans() -> None:
    """Remove the folders that no process has locked."""
    for path in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError):  # locked, another user's, or just removed
            lock = os.open(path, os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(path, ignore_errors=True)
            finally:
                os.close(lock)
