"""The data folder of the embedded servers: locked by one process at a time, with a folder for sockets."""

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
from typing import TextIO

from anoncup.errors import Unavailable

_MAX_SOCKET_FOLDER_BYTES = 85
"""A socket's path may have 107 bytes, and Postgres appends ``/.s.PGSQL.5432``."""

_SERVER_NAMES = ("postgres", "initdb", "valkey-server")
"""Process names as in ``/proc/PID/comm``."""

ORPHAN_TIMEOUT_S = 20.0
"""Seconds that servers whose parent was killed get to close their data before they are killed too."""

logger = logging.getLogger(__name__)


@contextmanager
def lock_folder(data: Path) -> Iterator[int]:
    """Lock the data folder; yield the file descriptor of the lock that the servers inherit.

    There are two locks: ``lock`` is held by this process, and ``servers.lock`` is free only once all servers
    have ended. Raises Unavailable if another process has locked the folder, or if it cannot be written.
    """
    with _open_lock(data, "lock") as process_lock, _open_lock(data, "servers.lock") as servers_lock:
        if not _try_lock(process_lock.fileno()):
            process_lock.seek(0)
            raise build_in_use_error(data, f"process {process_lock.read()}")
        process_lock.truncate(0)
        process_lock.write(str(os.getpid()))
        process_lock.flush()
        _acquire_servers_lock(servers_lock.fileno(), data)
        yield servers_lock.fileno()


def _open_lock(data: Path, name: str) -> TextIO:
    try:
        data.mkdir(mode=0o700, parents=True, exist_ok=True)
        return (data / name).open("a+")
    except OSError as problem:
        raise Unavailable(
            "The data folder {data} cannot be written: {reason}. Give another folder (DATA=…, --data).",
            data=str(data),
            reason=problem.strerror,
        ) from problem


def _acquire_servers_lock(lock: int, data: Path) -> None:
    """Acquire the servers' lock once the servers of a killed process have ended.

    Servers that hang are killed, because they would block every later start. They must be orphans, since this
    process holds ``lock``. Both servers recover from SIGKILL.
    """
    if _try_lock(lock):
        return
    logger.info("waiting for the servers of an earlier run to end")
    if _wait_for_lock(ORPHAN_TIMEOUT_S, lock):
        return
    _kill_servers(data)
    if not _wait_for_lock(ORPHAN_TIMEOUT_S, lock):
        raise build_in_use_error(data, "servers that do not end")


def _kill_servers(data: Path) -> None:
    """Kill the servers that have the folder's lock open, the children of Postgres among them."""
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended, or is another user's
            is_server = (process / "comm").read_text().strip() in _SERVER_NAMES
            if is_server and any(file.samefile(data / "servers.lock") for file in (process / "fd").iterdir()):
                os.kill(int(process.name), signal.SIGKILL)


def is_running_in(process: Path, folder: Path) -> bool:
    """Return whether ``folder`` is the working directory of a process, given as its folder in ``/proc``."""
    with suppress(OSError):  # it has ended, or is a zombie
        return (process / "cwd").readlink() == folder
    return False


def _wait_for_lock(seconds: float, lock: int) -> bool:
    deadline = time.monotonic() + seconds
    while not _try_lock(lock):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def _try_lock(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def build_in_use_error(data: Path, holder: str) -> Unavailable:
    """Return the error that names the holder of the folder and says what to do."""
    return Unavailable(
        "The data folder {data} is in use by {user}. Stop that one, or give another folder (DATA=…, --data).",
        data=str(data),
        user=holder,
    )


@contextmanager
def provide_socket_folder(data: Path) -> Iterator[Path]:
    """Yield a folder that only this user may enter, with a path short enough for sockets and safe in URLs."""
    folder = data / "run"
    if len(os.fsencode(folder)) <= _MAX_SOCKET_FOLDER_BYTES and re.fullmatch(
        r"[\w./+-]+", str(folder), re.ASCII
    ):
        folder.mkdir(mode=0o700, exist_ok=True)
        folder.chmod(0o700)
        yield folder
        return
    with tempfile.TemporaryDirectory(prefix="anoncup-", ignore_cleanup_errors=True) as temporary_folder:
        if len(os.fsencode(temporary_folder)) > _MAX_SOCKET_FOLDER_BYTES:
            raise Unavailable(
                "{made} is too long a path for sockets. Set TMPDIR to a shorter one.",
                made=str(temporary_folder),
            )
        yield Path(temporary_folder)
