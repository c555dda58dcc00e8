"""A separate Postgres server on a TCP port."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

from app.config import get_settings
from app.core.db import engine
from app.core.processes import child_process
from tests.support.service_processes import find_free_port, kill
from tests.support.wait import TIMEOUT_S, poll_until

POSTGRES = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"))
QUOTED_PASSWORD = "a%40b"
"""Quoted for URLs: the password has an ``@``."""


@contextmanager
def run_postgres(folder: Path) -> Iterator[str]:
    """Run Postgres on a TCP port, as an unprivileged user if this process is root. Yield its URL."""
    port, data = find_free_port(), folder / "postgres"
    binaries = POSTGRES[-1].parent
    (folder / "password").write_text("a@b")
    drops_root = os.geteuid() == 0
    initdb = [str(binaries / "initdb"), "-D", str(data), "-U", "cup", "-A", "scram-sha-256", "--no-sync"]
    initdb_process = child_process.start(
        [*initdb, f"--pwfile={folder / 'password'}"],
        log=folder / "initdb.log",
        hide_root=drops_root,
        cwd=Path("/"),
    )
    assert initdb_process.wait(TIMEOUT_S) == 0, child_process.read_tail(folder / "initdb.log")
    command = [str(POSTGRES[-1]), "-D", str(data), "-p", str(port), "-k", ""]
    command += ["-c", "listen_addresses=127.0.0.1"]
    process = child_process.start(command, log=folder / "postgres.log", hide_root=drops_root, cwd=Path("/"))
    address = f"cup:{QUOTED_PASSWORD}@127.0.0.1:{port}/postgres"
    try:
        assert poll_until(
            lambda: can_run(lambda: check_connection(f"postgresql://{address}"), psycopg.OperationalError)
        )
        yield f"postgresql+psycopg://{address}"
    finally:
        kill(process)


def check_connection(url: str) -> None:
    with psycopg.connect(url):
        pass


def can_run(action: Callable[[], object], error: type[Exception]) -> bool:
    try:
        action()
    except error:
        return False
    return True


def reset_connections() -> None:
    """Clear the caches, so that the next transaction reads the environment again."""
    if engine.get_engine.cache_info().currsize:
        engine.get_engine().dispose()
    for cached_function in (get_settings, engine.get_engine, engine.get_session_factory):
        cached_function.cache_clear()
