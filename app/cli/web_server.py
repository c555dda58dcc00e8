"""The web server as a program: ``python -m app.cli.web_server HOST PORT``.

With ``ANONCUP_WEB_PROCESSES`` above 1, a parent process loads the application and forks the children, which
share the loaded memory. The parent serves no requests, has neither threads nor connections, and replaces
children that end.
"""

import asyncio
import gc
import hashlib
import multiprocessing
import os
import platform
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from multiprocessing.process import BaseProcess
from pathlib import Path

import structlog
from sqlalchemy.orm import configure_mappers
from starlette.types import Message
from uvicorn import Config, Server

from app.config import get_settings
from app.processes import child_process, parser_process
from workers import sandbox

_SHUTDOWN_GRACE_S = 7
"""Time that children have to end.

A child gives its running requests 5 s, and the supervisor of this process waits longer than this.
"""
_RESTART_PAUSE_S = 0.5
"""Time before an ended child is replaced, so that children that crash at once do not occupy a core."""
SHARED_MEMORY_FOLDER = Path("/dev/shm")  # noqa: S108 - a folder is made in it by mkdtemp
_HANDLED_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD)

log = structlog.get_logger("app.cli.web_server")  # the module is __main__
_fork_context = multiprocessing.get_context("fork")


def main() -> None:
    """Serve until a signal ends the process."""
    host, port = sys.argv[1], int(sys.argv[2])
    allow_open_files(2 * get_settings().connections)
    if get_settings().web_processes == 1:
        with suppress(KeyboardInterrupt):
            Server(_load_config(host, port)).run()
        parser_process.disable()
        return
    with _share_metrics(port):
        config = _load_config(host, port)
        listening_socket = config.bind_socket()
        _supervise(get_settings().web_processes, lambda: Server(config).run([listening_socket]))


def allow_open_files(count: int) -> None:
    """Raise the limit of open files to ``count`` or the hard limit. Never lower it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY:
        count = min(count, hard)
    if soft != resource.RLIM_INFINITY and soft < count:
        resource.setrlimit(resource.RLIMIT_NOFILE, (count, hard))


def _load_config(host: str, port: int) -> Config:
    """Load the application, prepare it for forking, and return the server's configuration."""
    config = Config(
        "app.main:create_served_app",
        factory=True,
        host=host,
        port=port,
        # Without this limit, one open event stream would keep the server from stopping.
        timeout_graceful_shutdown=5,
        # Timeout between requests; the protocol class adds the limits that the server does not have.
        timeout_keep_alive=5,
        http="app.http.connections:Connection",
        # Trust no proxy unless configured. uvicorn's default trusts local proxies, which may pass on headers
        # that clients invented.
        forwarded_allow_ips=os.environ.get("FORWARDED_ALLOW_IPS", ""),
        server_header=False,
    )
    gc.disable()  # loading creates hardly any garbage, and collections would traverse it repeatedly
    config.load()
    sandbox.announce(get_settings().sandbox)
    parser_process.enable(get_settings())
    import_module("kombu.transport.redis")  # otherwise each child imports it at its first upload
    configure_mappers()
    asyncio.run(_send_first_request(config))
    # Freeze the loaded objects, so that a full collection during a request neither traverses them nor writes
    # to pages that processes share.
    gc.collect()
    gc.freeze()
    gc.enable()
    return config


async def _send_first_request(config: Config) -> None:
    """Send a request to the application inside this process.

    The framework prepares its routes at the first request. If each child did this, it would cost 25 MB each.
    """
    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": "/healthz",
        "raw_path": b"/healthz",
        "query_string": b"",
        "root_path": "",
        "headers": [(b"host", b"here")],
    }

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        if message.get("status", 200) != 200:
            raise RuntimeError("the application does not answer itself")

    await config.loaded_app(scope, receive, send)


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


def _supervise(child_count: int, serve: Callable[[], None]) -> None:
    """Run children that call ``serve``, and replace those that end, until SIGTERM or SIGINT arrives."""
    signal.pthread_sigmask(signal.SIG_BLOCK, _HANDLED_SIGNALS)
    children = [_start_child(serve) for _ in range(child_count)]
    while signal.sigwait(_HANDLED_SIGNALS) == signal.SIGCHLD:
        for index, child in enumerate(children):
            if not child.is_alive():
                log.warning("web_process_ended", pid=child.pid, status=child.exitcode)
                time.sleep(_RESTART_PAUSE_S)
                children[index] = _start_child(serve)
    _stop_children(children)


def _start_child(serve: Callable[[], None]) -> BaseProcess:
    parent_pid = os.getpid()

    def run_child() -> None:
        child_process.end_with_parent(parent_pid, signal.SIGTERM)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _HANDLED_SIGNALS)
        serve()
        parser_process.disable()

    child = _fork_context.Process(target=run_child)
    child.start()
    return child


def _stop_children(children: list[BaseProcess]) -> None:
    """Send SIGTERM to the children, then SIGKILL after the grace period."""
    for child in children:
        child.terminate()
    deadline = time.monotonic() + _SHUTDOWN_GRACE_S
    for child in children:
        child.join(max(0.0, deadline - time.monotonic()))
        child.kill()
        child.join()


if __name__ == "__main__":
    main()
