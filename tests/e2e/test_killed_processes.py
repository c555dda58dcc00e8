"""Real processes that are killed, and an unresponsive queue."""

import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import psutil
import pytest
from sqlalchemy import func, select

from app.config import Settings
from app.core.db.models import Evaluation, Heartbeat
from app.core.db.transaction import transaction
from app.jobs import health, queue
from tests.support.queue import empty_queue
from tests.support.service_processes import (
    kill,
    open_slow_contest,
    open_small_contest,
    read_command_line,
    run_web_server,
    run_worker,
    suspend_tree,
)
from tests.support.wait import TIMEOUT_S, poll_until

pytestmark = pytest.mark.full


def count_evaluations() -> int:
    with transaction() as session:
        return session.scalars(select(func.count()).select_from(Evaluation)).one()


@pytest.fixture(scope="module")
def scoring_worker(
    session_settings: Settings, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[subprocess.Popen[bytes]]:
    """A worker and its clock."""
    with run_worker(tmp_path_factory.mktemp("worker")) as process:
        yield process


def read_last_sweep() -> datetime | None:
    """Return when the clock last looked for lost jobs."""
    with transaction() as session:
        return session.scalar(select(Heartbeat.at).where(Heartbeat.task == health.SWEEP_TASK))


def wait_for_sweep() -> bool:
    last_sweep = read_last_sweep()
    return poll_until(lambda: read_last_sweep() != last_sweep)


def test_submission_of_a_killed_worker_is_scored_once(
    settings: Settings, server: str, scoring_worker: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    with suspend_tree(scoring_worker):
        contest, anonymized, secret = open_slow_contest(server)
        with run_worker(tmp_path) as first:
            identifier = contest.submit_files({"anonymized": anonymized}, secret)
            contest.wait_until(
                identifier, lambda submission: submission["status"] == "SCORING" and bool(submission["step"])
            )
            kill(first)
        assert contest.read_submission(identifier)["status"] == "SCORING"
    submission = contest.wait_for_state(identifier, "SCORED")
    assert submission["attempt"] == 2
    assert wait_for_sweep()  # a sweep would queue a lost job again
    assert wait_for_sweep()
    assert poll_until(lambda: queue.count_messages() == 0)
    assert contest.read_submission(identifier)["finished_at"] == submission["finished_at"]
    assert count_evaluations() == 1


def test_emptied_queue_loses_no_jobs(
    settings: Settings, server: str, scoring_worker: subprocess.Popen[bytes]
) -> None:
    with suspend_tree(scoring_worker):
        contest = open_small_contest(server)
        identifiers = [contest.submit(seed=seed) for seed in range(3)]
        empty_queue()
    for identifier in identifiers:
        assert contest.wait_for_state(identifier, "SCORED")["attempt"] == 1


@dataclass
class UnresponsiveQueue:
    """A queue that accepts every connection and then closes it or never responds."""

    listener: socket.socket
    closes_connections: bool
    connections: list[socket.socket] = field(default_factory=list)

    def accept_calls(self) -> None:
        with suppress(OSError):
            while True:
                self.connections.append(self.listener.accept()[0])
                if self.closes_connections:
                    self.connections[-1].close()


@contextmanager
def run_unresponsive_queue(*, closes_connections: bool) -> Iterator[tuple[UnresponsiveQueue, dict[str, str]]]:
    """Run an unresponsive queue; yield it with the settings that lead to it."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        unresponsive_queue = UnresponsiveQueue(listener, closes_connections)
        thread = threading.Thread(target=unresponsive_queue.accept_calls)
        thread.start()
        try:
            yield unresponsive_queue, {"REDIS_URL": f"redis://127.0.0.1:{listener.getsockname()[1]}/0"}
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()
            for connection in unresponsive_queue.connections:
                connection.close()


@pytest.mark.parametrize("closes_connections", [True, False])
def test_unresponsive_queue_delays_scoring_but_not_uploads(
    settings: Settings, scoring_worker: subprocess.Popen[bytes], tmp_path: Path, closes_connections: bool
) -> None:
    """Publishing is tried a few times for a second each; then the sweep repairs it."""
    with (
        run_unresponsive_queue(closes_connections=closes_connections) as (queue_, env),
        run_web_server(tmp_path, env) as url,
    ):
        contest = open_small_contest(url)
        connections_before = len(queue_.connections)
        identifier = contest.submit()
        assert 0 < len(queue_.connections) - connections_before < 10
        contest.wait_for_state(identifier, "SCORED")


def test_accepted_upload_survives_a_killed_web_server(
    settings: Settings, server: str, scoring_worker: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    with run_web_server(tmp_path) as url:
        contest = open_small_contest(url)
        with suspend_tree(scoring_worker):
            identifier = contest.submit()
            (server_process,) = (
                process
                for process in psutil.Process().children(recursive=True)
                if urlsplit(url).netloc.partition(":")[2] in read_command_line(process)
            )
            server_process.kill()
            server_process.wait(TIMEOUT_S)
    contest_elsewhere = type(contest)(server, contest.slug, contest.token)
    contest_elsewhere.wait_for_state(identifier, "SCORED")


def test_oversized_upload_gets_a_response(settings: Settings, server: str, tmp_path: Path) -> None:
    contest = open_small_contest(server)
    oversized_file = tmp_path / "huge.csv"
    with oversized_file.open("wb") as file:
        file.truncate(200 * 2**20)
    with oversized_file.open("rb") as file:
        response = httpx2.post(
            f"{server}/api/v1/competitions/small/submissions",
            headers={"Authorization": f"Bearer {contest.token}"},
            files={"anonymized": ("a.csv", file), "secret": ("s.csv", b"original_row\n1\n")},
            timeout=TIMEOUT_S,
        )
    assert response.status_code == 413
    assert response.headers["content-type"] == "application/problem+json"
    assert response.json()["code"] == "too_large"
    assert count_evaluations() == 0
