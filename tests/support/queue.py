"""Resets of the queue and of retry delays."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import redis
from sqlalchemy import text

from app.core.db import engine
from app.core.processes import child_process
from app.jobs import queue
from app.operations import embedded_servers
from tests.support.postgres_server import can_run
from tests.support.wait import poll_until
from workers import readiness


def clear_retry_delays() -> None:
    """End all retry delays, those of jobs and those of this process as a worker."""
    with engine.get_engine().begin() as connection:
        for table in ("evaluations", "guesses", "rejudgements", "threshold_reports"):
            connection.execute(text(f"UPDATE {table} SET not_before = NULL"))
    for worker in (readiness.SCORING_READINESS, readiness.REPORT_READINESS):
        worker.reason, worker.check_valid_until, worker.backoff_until = None, 0.0, 0.0


@contextmanager
def run_full_queue(folder: Path) -> Iterator[str]:
    """Run a Valkey that accepts no writes, and yield its URL."""
    socket = folder / "full.sock"
    command = [
        str(embedded_servers._find_valkey_binary()),
        "--port",
        "0",
        "--unixsocket",
        str(socket),
        "--maxmemory",
        "1",
    ]
    process = child_process.start([*command, "--save", ""], log=folder / "valkey.log", cwd=folder)
    try:
        with redis.Redis(unix_socket_path=str(socket)) as client:
            assert poll_until(lambda: can_run(client.ping, redis.ConnectionError))
        yield f"redis+socket://{socket}"
    finally:
        process.kill()
        process.wait()


def empty_queue() -> None:
    with queue.celery.connection_for_write() as connection:
        connection.default_channel.client.flushall()
