"""The folder that the embedded servers live on: one process's at a time, with a place for their sockets."""

import fcntl
import logging
import os
import re
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from anoncup.errors import Unavailable

LONGEST_SOCKET_FOLDER = 85
"""A socket's path may have 107 bytes, and Postgres adds ``/.s.PGSQL.5432``."""

SERVERS = ("postgres", "initdb", "valkey-server")
"""As the system lists them."""

FINISHING_WITHIN = 20.0
"""Seconds that the servers of a killed process get to close their data before they are killed too."""

logger = logging.getLogger(__name__)


@contextmanager
def held(data: Path) -> Iterator[int]:
    """Hold the data folder; yields the lock that the servers inherit.

    Two locks: ``lock`` is this process's, ``servers.lock`` is free only once all servers have ended.
    Unavailable if another process holds it.
    """
    data.mkdir(mode=0o700, parents=True, exist_ok=True)
    with (data / "lock").open("a+") as own, (data / "servers.lock").open("a") as inherited:
        if not _locked(own.fileno()):
            own.seek(0)
            raise in_use(data, f"process {own.read()}")
        own.truncate(0)
        own.write(str(os.getpid()))
        own.flush()
        _take_over(inherited.fileno(), data)
        yield inherited.fileno()


def _take_over(lock: int, data: Path) -> None:
    """Wait for the servers of a process that was killed; they close their files and end.

    One that hangs while it ends would keep every later start out: nobody but us may hold ``lock``, so such
    servers are orphans, and both recover from SIGKILL.
    """
    if _locked(lock):
        return
    logger.info("waiting for the servers of an earlier run to end")
    if _locked_within(FINISHING_WITHIN, lock):
        return
    for orphan in _servers_holding(data / "servers.lock"):
        with suppress(ProcessLookupError):
            os.kill(orphan, signal.SIGKILL)
    if not _locked_within(FINISHING_WITHIN, lock):
        raise in_use(data, "servers that do not end")


def _servers_holding(file: Path) -> list[int]:
    """The processes of Postgres and Valkey that have it open, where the system tells."""
    return [
        int(process.name)
        for process in Path("/proc").glob("[0-9]*")
        if _reads(process / "comm").strip() in SERVERS and _has_open(process, file)
    ]


def _reads(path: Path) -> str:
    with suppress(OSError):
        return path.read_text()
    return ""


def runs_in(process: Path, folder: Path) -> bool:
    """Whether the process, as ``/proc`` lists it, works there."""
    with suppress(OSError):  # gone, or dead and not yet waited for
        return (process / "cwd").readlink() == folder
    return False


def _has_open(process: Path, file: Path) -> bool:
    with suppress(OSError):
        return any(each.samefile(file) for each in (process / "fd").iterdir())
    return False


def _locked_within(seconds: float, lock: int) -> bool:
    deadline = time.monotonic() + seconds
    while not _locked(lock):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def _locked(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def in_use(data: Path, user: str) -> Unavailable:
    """The refusal that names who has the folder and what to do."""
    return Unavailable(
        "The data folder {data} is in use by {user}. Stop that one, or give another folder (DATA=…, --data).",
        data=str(data),
        user=user,
    )


@contextmanager
def socket_folder(data: Path) -> Iterator[Path]:
    """A folder that only this user enters, with a path short enough for sockets and plain enough for URLs."""
    own = data / "run"
    if len(os.fsencode(own)) <= LONGEST_SOCKET_FOLDER and re.fullmatch(r"[\w./+-]+", str(own), re.ASCII):
        own.mkdir(mode=0o700, exist_ok=True)
        own.chmod(0o700)
        yield own
        return
    with tempfile.TemporaryDirectory(prefix="anoncup-", ignore_cleanup_errors=True) as made:
        if len(os.fsencode(made)) > LONGEST_SOCKET_FOLDER:
            raise Unavailable(
                "{made} is too long a path for sockets. Set TMPDIR to a shorter one.", made=str(made)
            )
        yield Path(made)
