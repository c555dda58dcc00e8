"""The web server, as a program: ``python -m app.cli.web_server HOST PORT``.

One process, or as many as ``ANONCUP_WEB_PROCESSES`` says, forked by a parent that has loaded the application:
what is loaded before the fork is in memory once. The parent answers nothing, has neither threads nor
connections, and replaces a child that ends.
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

GRACE_S = 7
"""Seconds that children have to end; a child itself gives its requests fewer, a supervisor gives us more."""
PAUSE_S = 0.5
"""Before a child that ended is replaced: one that always ends at once must not take a core."""
MEMORY = Path("/dev/shm")  # noqa: S108 - a folder is made in it by mkdtemp
WATCHED = (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD)

log = structlog.get_logger("app.cli.web_server")  # which is run as a program
forking = multiprocessing.get_context("fork")


def main() -> None:
    """Serve until a signal ends it."""
    host, port = sys.argv[1], int(sys.argv[2])
    allow_open_files(2 * get_settings().connections)
    if get_settings().web_processes == 1:
        with suppress(KeyboardInterrupt):
            Server(loaded(host, port)).run()
        parser_process.disable()
        return
    with shared_counts(port):
        config = loaded(host, port)
        listening = config.bind_socket()
        keep(get_settings().web_processes, lambda: Server(config).run([listening]))


def allow_open_files(count: int) -> None:
    """Raise the limit of open files to ``count``, or as near as the hard limit allows. Never lower it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY:
        count = min(count, hard)
    if soft != resource.RLIM_INFINITY and soft < count:
        resource.setrlimit(resource.RLIMIT_NOFILE, (count, hard))


def loaded(host: str, port: int) -> Config:
    """The application, ready to be served."""
    config = Config(
        "app.main:served_app",
        factory=True,
        host=host,
        port=port,
        # Without it, one browser that listens to live events keeps the server from ending.
        timeout_graceful_shutdown=5,
        # A connection that is silent between requests, and the limits the server does not have.
        timeout_keep_alive=5,
        http="app.http.connections:Connection",
        # Believed of nobody unless told: by default a proxy on this machine may pass on what clients invent.
        forwarded_allow_ips=os.environ.get("FORWARDED_ALLOW_IPS", ""),
        server_header=False,
    )
    gc.disable()  # next to nothing of what is loaded is garbage, and it would be walked over again and again
    config.load()
    sandbox.announce(get_settings().sandbox)
    parser_process.enable(get_settings())
    import_module("kombu.transport.redis")  # or each child would, at its first upload
    configure_mappers()
    asyncio.run(asked(config))
    # What is loaded now stays: a full collection in the middle of a request need not walk over all of it, nor
    # write on pages that processes share.
    gc.collect()
    gc.freeze()
    gc.enable()
    return config


async def asked(config: Config) -> None:
    """A first request, within the process: the framework prepares its routes at the first one.

    Each child would do so for itself, in 25 MB of its own.
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
def shared_counts(port: int) -> Iterator[None]:
    """A folder in which the processes count their requests, so that any of them knows the sums."""
    folder = made_for_counts(get_settings().data, port)
    # Read when prometheus_client is imported, with the application.
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(folder)
    try:
        yield
    finally:
        clear(folder)


def made_for_counts(data: Path, port: int) -> Path:
    """In memory, where it can be: on a full disk a write to a mapped file ends the process."""
    parent = MEMORY if os.access(MEMORY, os.W_OK | os.X_OK) else data.resolve() / "metrics"
    parent.mkdir(parents=True, exist_ok=True)
    whose = hashlib.sha256(bytes(data.resolve())).hexdigest()[:16]
    prefix = f"anoncup-{platform.node()}-{port}-{whose}-"
    for left in parent.glob(f"{prefix}*"):  # by a kill
        clear(left)
    return Path(tempfile.mkdtemp(prefix=prefix, dir=parent))


def clear(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)


def keep(count: int, serve: Callable[[], None]) -> None:
    """So many children that ``serve``; one that ends is replaced, until SIGTERM or SIGINT ends them all."""
    signal.pthread_sigmask(signal.SIG_BLOCK, WATCHED)
    children = [started(serve) for _ in range(count)]
    while signal.sigwait(WATCHED) == signal.SIGCHLD:
        for place, child in enumerate(children):
            if not child.is_alive():
                log.warning("web_process_ended", pid=child.pid, status=child.exitcode)
                time.sleep(PAUSE_S)
                children[place] = started(serve)
    end(children)


def started(serve: Callable[[], None]) -> BaseProcess:
    parent = os.getpid()

    def begin() -> None:
        child_process.end_with_parent(parent, signal.SIGTERM)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, WATCHED)
        serve()
        parser_process.disable()

    child = forking.Process(target=begin)
    child.start()
    return child


def end(children: list[BaseProcess]) -> None:
    """SIGTERM, then SIGKILL."""
    for child in children:
        child.terminate()
    deadline = time.monotonic() + GRACE_S
    for child in children:
        child.join(max(0.0, deadline - time.monotonic()))
        child.kill()
        child.join()


if __name__ == "__main__":
    main()
