"""What may fail is made to fail: real processes, killed."""

import os
import signal
import socket
import time
from pathlib import Path

import psutil
import pytest
from sqlalchemy import func, select

from app.config import Settings
from app.db.models import Evaluation
from app.transaction import transaction
from tests.conftest import empty_queue
from tests.e2e.stack import kill, slow_contest, small_contest, web, worker


def evaluations() -> int:
    with transaction() as session:
        return session.scalars(select(func.count()).select_from(Evaluation)).one()


def test_an_upload_is_scored_by_the_worker(settings: Settings, tmp_path: Path) -> None:
    with web(tmp_path) as url, worker(tmp_path):
        contest = small_contest(url)
        found = contest.until_state(contest.submit(), "SCORED")
        assert found["attempt"] == 1


def test_a_worker_killed_while_scoring_is_followed_by_one_that_scores_once(
    settings: Settings, tmp_path: Path
) -> None:
    with web(tmp_path) as url:
        contest, anonymized, secret = slow_contest(url)
        with worker(tmp_path) as first:
            identifier = contest.send({"anonymized": anonymized}, secret)
            contest.until(identifier, lambda found: found["status"] == "SCORING" and bool(found["step"]))
            children = psutil.Process(first.pid).children(recursive=True)
            kill(first)
            psutil.wait_procs(children, timeout=5)
            assert not [child.cmdline() for child in children if child.is_running()]
        assert contest.submission(identifier)["status"] == "SCORING"
        with worker(tmp_path):
            found = contest.until_state(identifier, "SCORED")
            assert found["attempt"] == 2
            time.sleep(2)  # the lost message may come back
            assert contest.submission(identifier)["finished_at"] == found["finished_at"]
        assert evaluations() == 1


def test_a_queue_emptied_behind_its_back_loses_nothing(settings: Settings, tmp_path: Path) -> None:
    with web(tmp_path) as url:
        contest = small_contest(url)
        identifiers = [contest.submit(seed=seed) for seed in range(3)]
        empty_queue()
        with worker(tmp_path):
            for identifier in identifiers:
                assert contest.until_state(identifier, "SCORED")["attempt"] == 1


def test_a_dead_queue_delays_the_scoring_but_never_the_upload(settings: Settings, tmp_path: Path) -> None:
    nowhere = {"REDIS_URL": "redis://127.0.0.1:1/0"}
    with web(tmp_path, nowhere) as url:
        contest = small_contest(url)
        started = time.monotonic()
        identifier = contest.submit()
        assert time.monotonic() - started < 3
        with worker(tmp_path):
            contest.until_state(identifier, "SCORED")


@pytest.mark.long
def test_a_queue_that_hangs_delays_nothing_but_the_scoring(settings: Settings, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:  # accepts, and never says a word
        hanging = {"REDIS_URL": f"redis://127.0.0.1:{silent.getsockname()[1]}/0"}
        with web(tmp_path, hanging) as url:
            contest = small_contest(url)
            started = time.monotonic()
            identifier = contest.submit()
            assert time.monotonic() - started < 8
            with worker(tmp_path):
                contest.until_state(identifier, "SCORED")


def test_a_web_server_killed_after_its_answer_has_lost_nothing(settings: Settings, tmp_path: Path) -> None:
    with web(tmp_path) as url:
        contest = small_contest(url)
        identifier = contest.submit()
        servers = [
            process
            for process in psutil.Process().children(recursive=True)
            if any("uvicorn" in part for part in process.cmdline())
        ]
        for server in servers:
            os.kill(server.pid, signal.SIGKILL)
    with web(tmp_path) as again, worker(tmp_path):
        moved = type(contest)(again, contest.slug, contest.token)
        moved.until_state(identifier, "SCORED")


@pytest.mark.parametrize("size_mb", [70, 200])
def test_an_upload_that_is_too_large_gets_its_answer(
    settings: Settings, tmp_path: Path, size_mb: int
) -> None:
    import httpx2

    with web(tmp_path) as url:
        contest = small_contest(url)
        huge = tmp_path / "huge.csv"
        with huge.open("wb") as file:
            file.truncate(size_mb * 2**20)
        with huge.open("rb") as file:
            answer = httpx2.post(
                f"{url}/api/v1/competitions/small/submissions",
                headers={"Authorization": f"Bearer {contest.token}"},
                files={"anonymized": ("a.csv", file), "secret": ("s.csv", b"original_row\n1\n")},
                timeout=60,
            )
        assert answer.status_code == 413
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.json()["code"] == "too_large"
        assert evaluations() == 0
