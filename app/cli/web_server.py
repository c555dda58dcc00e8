"""The web server as a program: ``python -m app.cli.web_server HOST PORT``.

uvicorn runs one process, or ``ANONCUP_WEB_PROCESSES`` below a parent process that replaces those that end.
"""

import hashlib
import os
import platform
import resource
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import uvicorn

from app import logs
from app.config import get_settings

SHARED_MEMORY_FOLDER = Path("/dev/shm")  # noqa: S108 - a folder is made in it by mkdtemp


def main() -> None:
    """Serve until a signal ends the process."""
    host, port = sys.argv[1], int(sys.argv[2])
    settings = get_settings()
    logs.configure()
    allow_open_files(2 * settings.connections)
    with _share_metrics(port) if settings.web_processes > 1 else nullcontext():
        uvicorn.run(
            "app.main:create_served_app",
            factory=True,
            host=host,
            port=port,
            workers=settings.web_processes,
            # A busy process may take long to answer its parent, and is not to be replaced for it.
            timeout_worker_healthcheck=60,
            # Without this limit, one open event stream would keep the server from stopping.
            timeout_graceful_shutdown=5,
            # Timeout between requests; the protocol class adds the limits that the server does not have.
            timeout_keep_alive=5,
            http="app.http.connections:Connection",
            # Trust no proxy unless configured. uvicorn's default trusts local proxies, which may pass on
            # headers that clients invented.
            forwarded_allow_ips=os.environ.get("FORWARDED_ALLOW_IPS", ""),
            server_header=False,
            log_config=None,
        )


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
