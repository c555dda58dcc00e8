"""Temporary folders that are removed even if their owner is killed.

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
"""Prefix of the folders of sandboxed children."""


class LockedFolder:
    """A new folder, locked by this process until it removes the folder or ends, even by kill -9.

    It is one for a sandboxed child unless another parent and prefix are given.
    """

    def __init__(self, parent: Path | None = None, prefix: str = PREFIX) -> None:
        remove_orphans(parent, prefix)
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


def remove_orphans(parent: Path | None = None, prefix: str = PREFIX) -> None:
    """Remove the folders that no process has locked."""
    for path in (parent or Path(tempfile.gettempdir())).glob(f"{prefix}*"):
        with suppress(OSError):  # locked, another user's, or just removed
            lock = os.open(path, os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(path, ignore_errors=True)
            finally:
                os.close(lock)
