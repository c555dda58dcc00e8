"""The processes with Debian's Postgres and Redis instead of the embedded servers."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
import redis

from app.core import sealing
from app.core.processes import child_process
from app.operations.supervisor import Program, wait_until_healthy
from tests.support.postgres_server import POSTGRES, can_run, reset_connections, run_postgres
from tests.support.service_processes import (
    QUICK_SETTINGS,
    find_free_port,
    kill,
    open_small_contest,
    require_running,
)
from tests.support.wait import poll_until

REDIS = shutil.which("redis-server")
pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(
        not POSTGRES or REDIS is None, reason="Debian's postgresql and redis-server are not installed"
    ),
]


@contextmanager
def run_redis(folder: Path) -> Iterator[str]:
    port = find_free_port()
    assert REDIS is not None
    command = [REDIS, "--port", str(port), "--dir", str(folder), "--appendonly", "yes", "--bind", "127.0.0.1"]
    process = child_process.start([*command, "--requirepass", "pass"], log=folder / "redis.log")
    url = f"redis://:pass@127.0.0.1:{port}/0"
    try:
        with redis.Redis.from_url(url) as client:
            assert poll_until(lambda: can_run(client.ping, redis.ConnectionError))
        yield url
    finally:
        kill(process)


def build_command(*arguments: str) -> list[str]:
    return [sys.executable, "-c", "from anoncup.cli.main import main; main()", *arguments]


def start_program(
    stack: ExitStack, name: str, env: dict[str, str], log: Path, *arguments: str
) -> Callable[[], None]:
    """Start a program and return a function that fails once it has ended."""
    program = Program(name=name, command=build_command(*arguments), env=env, log=log / f"{name}.log")
    process = child_process.start(program.command, log=program.log, env=os.environ | program.env)
    stack.callback(kill, process)
    return lambda: require_running(process, log / f"{name}.log")


def test_manually_started_processes_score_an_upload(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    public, private = tmp_path / "sealing.pub", tmp_path / "private"
    sealing.create_keys(public, private)
    with ExitStack() as stack:
        shared = {
            "DATABASE_URL": stack.enter_context(run_postgres(tmp_path)),
            "REDIS_URL": stack.enter_context(run_redis(tmp_path)),
            "ANONCUP_DATA": str(tmp_path),
            **QUICK_SETTINGS,
        }
        for name, value in shared.items():
            monkeypatch.setenv(name, value)
        monkeypatch.delenv("ANONCUP_SEALING_KEY_FILE", raising=False)
        monkeypatch.delenv("ANONCUP_OPENING_KEYS_DIR", raising=False)
        subprocess.run(build_command("migrate"), check=True, capture_output=True)
        port = find_free_port()
        web_env = shared | {"ANONCUP_SEALING_KEY_FILE": str(public)}
        require_web_running = start_program(stack, "web", web_env, tmp_path, "serve", "--port", str(port))
        start_program(
            stack, "worker", shared | {"ANONCUP_OPENING_KEYS_DIR": str(private)}, tmp_path, "worker"
        )
        start_program(stack, "scheduler", shared, tmp_path, "scheduler")
        wait_until_healthy(f"http://127.0.0.1:{port}/readyz", check=require_web_running)
        reset_connections()
        contest = open_small_contest(f"http://127.0.0.1:{port}")
        contest.wait_for_state(contest.submit(), "SCORED")
        with redis.Redis.from_url(shared["REDIS_URL"]) as broker:
            broker.flushall()
        contest.wait_for_state(contest.submit(seed=2), "SCORED")
        reset_connections()
