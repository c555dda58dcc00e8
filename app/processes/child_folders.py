"""Temporary folders of scoring children: gone with their owner, with the next one made, or when all end."""

import fcntl
import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

PREFIX = "anoncup-child-"


class OwnFolder:
    """A new folder, which this process holds by a lock until it removes it or ends, even by kill -9."""

    def __init__(self) -> None:
        remove_orphans()
        while True:
            self.path = Path(tempfile.mkdtemp(prefix=PREFIX))
            self.lock = os.open(self.path, os.O_DIRECTORY | os.O_CLOEXEC)
            fcntl.flock(self.lock, fcntl.LOCK_EX)
            if self.path.exists():  # else another took it for an orphan before it was held
                return
            os.close(self.lock)

    def remove(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self.lock)


def remove_orphans() -> None:
    """Those that nobody holds any more."""
    for path in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError):  # somebody else's, or just gone
            lock = os.open(path, os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(path, ignore_errors=True)
            finally:
                os.close(lock)
