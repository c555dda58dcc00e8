"""The web server as a program: ``python -m app.operations.web_server HOST PORT``.

uvicorn runs one process, or ``ANONCUP_WEB_PROCESSES`` below a parent process that replaces those that end or
do not answer.
"""

import os
import resource
import secrets
import sys
import tempfile
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
    with share_metrics(settings.data):
        supervisor = Multiprocess(config, sockets=[config.bind_socket()])
        supervisor.run()
    if any(process.exitcode == STARTUP_FAILURE for process in supervisor.processes):
        sys.exit(STARTUP_FAILURE)


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
    # In a rush, each step of a board waits this long for every thread that reads an upload (5 ms by default).
    sys.setswitchinterval(0.0005)
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
def share_metrics(data_folder: Path) -> Iterator[None]:
    """Provide a folder in which all processes count requests, so that each can report the totals.

    It is in shared memory if possible: on a full disk, writing to a memory-mapped file would kill a process.
    """
    is_shared = os.access(SHARED_MEMORY_FOLDER, os.W_OK | os.X_OK)
    parent = SHARED_MEMORY_FOLDER if is_shared else data_folder
    with tempfile.TemporaryDirectory(prefix="anoncup-", dir=parent, ignore_cleanup_errors=True) as folder:
        # prometheus_client reads the variable when the application imports it.
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = folder
        yield


if __name__ == "__main__":
    main()
