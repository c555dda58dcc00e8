"""The web server as a program: ``python -m app.operations.web_server HOST PORT``.

uvicorn runs one process, or ``ANONCUP_WEB_PROCESSES`` below a parent process that replaces those that end or
do not answer.
"""

import hashlib
import os
import platform
import resource
import secrets
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import structlog
from uvicorn import Config, Server
from uvicorn.config import STARTUP_FAILURE
from uvicorn.supervisors import Multiprocess

from anoncup.errors import DomainError
from app.config import get_settings
from app.core import logs

if TYPE_CHECKING:
    from fastapi import FastAPI

log = structlog.get_logger(__name__)

_MAX_CONNECTIONS = 1600
"""Maximum number of open connections; requests beyond it get a 503."""
_SHUTDOWN_GRACE_S = 7.0
"""Time for processes to end. Each gives its requests 5 s, and the supervisor waits longer than this."""
SHARED_MEMORY_FOLDER = Path("/dev/shm")  # noqa: S108 - a folder is made in it by mkdtemp


def main() -> None:
    """Serve until a signal ends the process. Its status is uvicorn's for a failed start if there is one."""
    host, port = sys.argv[1], int(sys.argv[2])
    settings = get_settings()
    logs.configure()
    allow_open_files(2 * _MAX_CONNECTIONS)
    config = _build_config(host, port)
    if settings.web_processes == 1:
        server = Server(config)
        with suppress(KeyboardInterrupt):
            server.run()
        if not server.started:
            sys.exit(STARTUP_FAILURE)
        return
    # All processes sign with the same key.
    os.environ["ANONCUP_COOKIE_KEY"] = settings.cookie_key or secrets.token_urlsafe(32)
    with _share_metrics(port):
        supervisor = _WebProcesses(config, sockets=[config.bind_socket()])
        supervisor.run()
    if any(process.exitcode == STARTUP_FAILURE for process in supervisor.processes):
        sys.exit(STARTUP_FAILURE)


class _WebProcesses(Multiprocess):
    """uvicorn's parent process. When it stops, it does not wait for a process that hangs."""

    def join_all(self) -> None:
        deadline = time.monotonic() + _SHUTDOWN_GRACE_S
        for process in self.processes:
            process.process.join(max(0.0, deadline - time.monotonic()))
            process.process.kill()  # does nothing if it has ended
            process.join()


def _build_config(host: str, port: int) -> Config:
    return Config(
        "app.operations.web_server:_create_application",
        factory=True,
        host=host,
        port=port,
        workers=get_settings().web_processes,
        # A busy machine may delay the answer of a process to its parent, which then replaces the process.
        timeout_worker_healthcheck=30,
        # Without this limit, one slow download would keep the server from stopping.
        timeout_graceful_shutdown=5,
        timeout_keep_alive=5,
        limit_concurrency=get_settings().compute_process_share(_MAX_CONNECTIONS),
        http="h11",
        # Trust no proxy unless configured. uvicorn's default trusts local proxies, which may pass on headers
        # that clients invented.
        forwarded_allow_ips=os.environ.get("FORWARDED_ALLOW_IPS", ""),
        server_header=False,
        log_config=None,
    )


def _create_application() -> "FastAPI":
    """Return the application; if it cannot be loaded, end this process so that its parent ends as well."""
    try:
        from app.main import create_served_app

        return create_served_app()
    except (DomainError, OSError) as problem:
        log.error("web_process_cannot_start", reason=str(problem))
        sys.exit(STARTUP_FAILURE)
    except Exception:
        log.exception("web_process_cannot_start")
        sys.exit(STARTUP_FAILURE)


def allow_open_files(count: int) -> None:
    """Raise the limit of open files to ``count`` or the hard limit. Never lower it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY:
        count = min(count, hard)
    if soft != resource.RLIM_INFINITY and soft < count:
        resource.setrlimit(resource.RLIMIT_NOFILE, (count, hard))


@contextmanager
def _share_metrics(port: int) -> Iterator[None]:
    """Provide a folder in which all processes count requests, so that each can report the totals."""
    folder = create_metrics_folder(get_settings().data, port)
    # prometheus_client reads the variable when the application imports it.
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(folder)
    try:
        yield
    finally:
        _remove_folder(folder)


def create_metrics_folder(data_folder: Path, port: int) -> Path:
    """Create the folder, if possible in shared memory.

    On a full disk, writing to a memory-mapped file would kill the process.
    """
    parent = (
        SHARED_MEMORY_FOLDER
        if os.access(SHARED_MEMORY_FOLDER, os.W_OK | os.X_OK)
        else data_folder.resolve() / "metrics"
    )
    parent.mkdir(parents=True, exist_ok=True)
    data_digest = hashlib.sha256(bytes(data_folder.resolve())).hexdigest()[:16]
    prefix = f"anoncup-{platform.node()}-{port}-{data_digest}-"
    for leftover in parent.glob(f"{prefix}*"):  # left by killed processes
        _remove_folder(leftover)
    return Path(tempfile.mkdtemp(prefix=prefix, dir=parent))


def _remove_folder(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
