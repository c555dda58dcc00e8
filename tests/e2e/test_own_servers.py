"""The same processes against a Postgres and a Redis of one's own, as Debian ships them."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psycopg
import pytest
import redis

from app.config import get_settings
from app.crypto import sealing
from app.db import engine
from app.processes import child_process
from app.processes.supervisor import Program, wait_until_healthy
from tests.e2e.stack import QUICK, check_runs, free_port, kill, small_contest
from tests.support.wait import PATIENCE_S, eventually

POSTGRES = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"))
REDIS = shutil.which("redis-server")
pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(
        not POSTGRES or REDIS is None, reason="Debian's postgresql and redis-server are not installed"
    ),
]
PASSWORD = "a%40b"
"""With a sign that must survive every URL."""


@contextmanager
def own_redis(folder: Path) -> Iterator[str]:
    port = free_port()
    assert REDIS is not None
    command = [REDIS, "--port", str(port), "--dir", str(folder), "--appendonly", "yes", "--bind", "127.0.0.1"]
    process = child_process.start([*command, "--requirepass", "pass"], log=folder / "redis.log")
    url = f"redis://:pass@127.0.0.1:{port}/0"
    try:
        with redis.Redis.from_url(url) as client:
            assert eventually(lambda: works(client.ping, redis.ConnectionError))
        yield url
    finally:
        kill(process)


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


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-c", "from anoncup.cli.main import main; main()", *arguments]


def start(stack: ExitStack, name: str, env: dict[str, str], log: Path, *arguments: str) -> Callable[[], None]:
    """Returns what fails once it has ended."""
    program = Program(name=name, command=command(*arguments), env=env, log=log / f"{name}.log")
    process = child_process.start(program.command, log=program.log, env=os.environ | program.env)
    stack.callback(kill, process)
    return lambda: check_runs(process, log / f"{name}.log")


def test_web_worker_and_scheduler_started_by_hand_score_an_upload(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    public, private = tmp_path / "sealing.pub", tmp_path / "private"
    sealing.create_keys(public, private)
    with ExitStack() as stack:
        shared = {
            "DATABASE_URL": stack.enter_context(own_postgres(tmp_path)),
            "REDIS_URL": stack.enter_context(own_redis(tmp_path)),
            "ANONCUP_DATA": str(tmp_path),
            **QUICK,
        }
        for name, value in shared.items():
            monkeypatch.setenv(name, value)
        monkeypatch.delenv("ANONCUP_SEALING_KEY_FILE", raising=False)
        monkeypatch.delenv("ANONCUP_OPENING_KEYS_DIR", raising=False)
        subprocess.run(command("migrate"), check=True, capture_output=True)
        port = free_port()
        web = shared | {"ANONCUP_SEALING_KEY_FILE": str(public)}
        check = start(stack, "web", web, tmp_path, "serve", "--port", str(port))
        start(stack, "worker", shared | {"ANONCUP_OPENING_KEYS_DIR": str(private)}, tmp_path, "worker")
        start(stack, "scheduler", shared, tmp_path, "scheduler")
        wait_until_healthy(f"http://127.0.0.1:{port}/readyz", check=check)
        forget_connections()
        contest = small_contest(f"http://127.0.0.1:{port}")
        contest.until_state(contest.submit(), "SCORED")
        with redis.Redis.from_url(shared["REDIS_URL"]) as broker:
            broker.flushall()
        contest.until_state(contest.submit(seed=2), "SCORED")
        forget_connections()


def forget_connections() -> None:
    """Let the next transaction read the environment again."""
    if engine.get_engine.cache_info().currsize:
        engine.get_engine().dispose()
    for kept in (get_settings, engine.get_engine, engine.session_factory):
        kept.cache_clear()
