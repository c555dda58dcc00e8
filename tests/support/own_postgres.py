"""A Postgres server of one's own."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

from app.config import get_settings
from app.db import engine
from app.processes import child_process
from tests.e2e.stack import free_port, kill
from tests.support.wait import PATIENCE_S, eventually

POSTGRES = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"))
PASSWORD = "a%40b"
"""With a sign that must survive every URL."""


@contextmanager
def own_postgres(folder: Path) -> Iterator[str]:
    """Postgres on a TCP port, as another user where this one is root."""
    port, data = free_port(), folder / "postgres"
    binaries = POSTGRES[-1].parent
    (folder / "password").write_text("a@b")
    unroot = os.geteuid() == 0
    initdb = [str(binaries / "initdb"), "-D", str(data), "-U", "cup", "-A", "scram-sha-256", "--no-sync"]
    made = child_process.start(
        [*initdb, f"--pwfile={folder / 'password'}"], log=folder / "initdb.log", unroot=unroot, cwd=Path("/")
    )
    assert made.wait(PATIENCE_S) == 0, child_process.tail(folder / "initdb.log")
    command = [str(POSTGRES[-1]), "-D", str(data), "-p", str(port), "-k", ""]
    command += ["-c", "listen_addresses=127.0.0.1"]
    process = child_process.start(command, log=folder / "postgres.log", unroot=unroot, cwd=Path("/"))
    place = f"cup:{PASSWORD}@127.0.0.1:{port}/postgres"
    try:
        assert eventually(lambda: works(lambda: greet(f"postgresql://{place}"), psycopg.OperationalError))
        yield f"postgresql+psycopg://{place}"
    finally:
        kill(process)


def greet(url: str) -> None:
    with psycopg.connect(url):
        pass


def works(act: Callable[[], object], error: type[Exception]) -> bool:
    try:
        act()
    except error:
        return False
    return True


def forget_connections() -> None:
    """Let the next transaction read the environment again."""
    if engine.get_engine.cache_info().currsize:
        engine.get_engine().dispose()
    for kept in (get_settings, engine.get_engine, engine.session_factory):
        kept.cache_clear()
