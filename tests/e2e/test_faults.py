"""What may fail is made to fail: real processes, killed."""

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
from app.db.models import Evaluation, Heartbeat
from app.db.transaction import transaction
from app.services.jobs import health, queue
from tests.e2e.stack import command_line, halted, kill, slow_contest, small_contest, web, worker
from tests.support.queue import empty_queue
from tests.support.wait import PATIENCE_S, eventually

pytestmark = pytest.mark.full


def evaluations() -> int:
    with transaction() as session:
        return session.scalars(select(func.count()).select_from(Evaluation)).one()


@pytest.fixture(scope="module")
def scorer(
    session_settings: Settings, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[subprocess.Popen[bytes]]:
    """A worker, and its clock."""
    with worker(tmp_path_factory.mktemp("worker")) as process:
        yield process


def sweeps() -> datetime | None:
    """When the clock last looked for lost work."""
    with transaction() as session:
        return session.scalar(select(Heartbeat.at).where(Heartbeat.task == health.SWEEP))


def another_sweep() -> bool:
    before = sweeps()
    return eventually(lambda: sweeps() != before)


def test_an_upload_is_scored_by_the_worker(
    settings: Settings, server: str, scorer: subprocess.Popen[bytes]
) -> None:
    contest = small_contest(server)
    found = contest.until_state(contest.submit(), "SCORED")
    assert found["attempt"] == 1


@pytest.mark.full
def test_a_worker_killed_while_scoring_is_followed_by_one_that_scores_once(
    settings: Settings, server: str, scorer: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    with halted(scorer):
        contest, anonymized, secret = slow_contest(server)
        with worker(tmp_path) as first:
            identifier = contest.send({"anonymized": anonymized}, secret)
            contest.until(identifier, lambda found: found["status"] == "SCORING" and bool(found["step"]))
            kill(first)
        assert contest.submission(identifier)["status"] == "SCORING"
    found = contest.until_state(identifier, "SCORED")
    assert found["attempt"] == 2
    assert another_sweep()  # which would ask again for what was lost
    assert another_sweep()
    assert eventually(lambda: queue.depth() == 0)
    assert contest.submission(identifier)["finished_at"] == found["finished_at"]
    assert evaluations() == 1


@pytest.mark.full
def test_a_queue_emptied_behind_its_back_loses_nothing(
    settings: Settings, server: str, scorer: subprocess.Popen[bytes]
) -> None:
    with halted(scorer):
        contest = small_contest(server)
        identifiers = [contest.submit(seed=seed) for seed in range(3)]
        empty_queue()
    for identifier in identifiers:
        assert contest.until_state(identifier, "SCORED")["attempt"] == 1


@dataclass
class Deaf:
    """A queue that takes every call, and hangs up or says nothing; ``calls`` counts them."""

    listener: socket.socket
    hangs_up: bool
    calls: list[socket.socket] = field(default_factory=list)

    def answer(self) -> None:
        with suppress(OSError):
            while True:
                self.calls.append(self.listener.accept()[0])
                if self.hangs_up:
                    self.calls[-1].close()


@contextmanager
def deaf(*, hangs_up: bool) -> Iterator[tuple[Deaf, dict[str, str]]]:
    """The queue, and the settings that lead to it."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        made = Deaf(listener, hangs_up)
        answering = threading.Thread(target=made.answer)
        answering.start()
        try:
            yield made, {"REDIS_URL": f"redis://127.0.0.1:{listener.getsockname()[1]}/0"}
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            answering.join()
            for call in made.calls:
                call.close()


@pytest.mark.full
@pytest.mark.parametrize("hangs_up", [True, False])
def test_a_queue_that_is_deaf_delays_the_scoring_but_never_the_upload(
    settings: Settings, scorer: subprocess.Popen[bytes], tmp_path: Path, hangs_up: bool
) -> None:
    """It is called a few times, for a second each, and then the sweep is relied upon."""
    with deaf(hangs_up=hangs_up) as (queue_, nowhere), web(tmp_path, nowhere) as url:
        contest = small_contest(url)
        before = len(queue_.calls)
        identifier = contest.submit()
        assert 0 < len(queue_.calls) - before < 10
        contest.until_state(identifier, "SCORED")


def test_a_web_server_killed_after_its_answer_has_lost_nothing(
    settings: Settings, server: str, scorer: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    with web(tmp_path) as url:
        contest = small_contest(url)
        with halted(scorer):
            identifier = contest.submit()
            (mine,) = (
                process
                for process in psutil.Process().children(recursive=True)
                if urlsplit(url).netloc.partition(":")[2] in command_line(process)
            )
            mine.kill()
            mine.wait(PATIENCE_S)
    moved = type(contest)(server, contest.slug, contest.token)
    moved.until_state(identifier, "SCORED")


@pytest.mark.parametrize("size_mb", [70, 200])
def test_an_upload_that_is_too_large_gets_its_answer(
    settings: Settings, server: str, tmp_path: Path, size_mb: int
) -> None:
    contest = small_contest(server)
    huge = tmp_path / "huge.csv"
    with huge.open("wb") as file:
        file.truncate(size_mb * 2**20)
    with huge.open("rb") as file:
        answer = httpx2.post(
            f"{server}/api/v1/competitions/small/submissions",
            headers={"Authorization": f"Bearer {contest.token}"},
            files={"anonymized": ("a.csv", file), "secret": ("s.csv", b"original_row\n1\n")},
            timeout=PATIENCE_S,
        )
    assert answer.status_code == 413
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["code"] == "too_large"
    assert evaluations() == 0
