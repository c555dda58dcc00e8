"""The clock as a real process: alone, twice at once, stopped, killed, with the database away."""

import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest
from fastapi.testclient import TestClient
from sqlalchemy import func, select, text

from app.config import Settings
from app.db import engine
from app.db.models import AuditEntry
from app.db.transaction import transaction
from app.processes.embedded_servers import embedded_services
from app.processes.supervisor import scheduler_program
from app.services.attacks import contest_lifecycle
from app.services.jobs import queue
from migrations.run import migrate
from tests.e2e.stack import QUICK, kill, running, small_contest, web, worker
from tests.support.contest import Contest, competition_id
from tests.support.phase_changes import quick
from tests.support.wait import PATIENCE_S, eventually

pytestmark = pytest.mark.full

NO_QUEUE = {"REDIS_URL": "redis://127.0.0.1:1/0"}


@contextmanager
def clock(logs: Path, **env: str) -> Iterator[subprocess.Popen[bytes]]:
    log = logs / f"clock-{len(list(logs.glob('clock-*')))}.log"
    with running(scheduler_program(env=QUICK | env, log=log)) as process:
        yield process


def until(condition: Callable[[], bool]) -> None:
    assert eventually(condition)


def over(client: TestClient) -> Contest:
    """A contest with finals of two teams, past both deadlines; nothing has turned yet."""
    contest = Contest.opened(client)
    for team in ("red", "blue"):
        quick(contest, team)
    contest.move(anonymization=(-3, -2), reidentification=(-1, -0.5))
    return contest


def frozen(client: TestClient) -> None:
    """The same with the finals taken: what comes next is a child's work."""
    contest = over(client)
    with transaction() as session:
        assert contest_lifecycle.freeze(session, competition_id(contest.arena.slug))


def turned() -> dict[str, int]:
    """How often each step was taken."""
    with transaction() as session:
        counted = select(AuditEntry.action, func.count().label("number")).where(AuditEntry.user_id.is_(None))
        return {row.action: row.number for row in session.execute(counted.group_by(AuditEntry.action))}


EACH_ONCE = {"finals.freeze": 1, "targets.publish": 1, "competition.close": 1, "secrets.reveal": 1}


@contextmanager
def targets_held() -> Iterator[None]:
    """Nobody can write down a target's files meanwhile: who tries waits in the middle of its work."""
    with engine.get_engine().begin() as connection:
        connection.execute(text("LOCK TABLE targets IN SHARE MODE"))
        yield


def children(process: subprocess.Popen[bytes]) -> list[psutil.Process]:
    return psutil.Process(process.pid).children(recursive=True)


def at_work(process: subprocess.Popen[bytes]) -> bool:
    """Whether a child of the clock waits for the targets."""
    waits = text("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query ~ 'targets'")
    with engine.get_engine().begin() as connection:
        return bool(connection.scalar(waits)) and bool(children(process))


@pytest.mark.full
def test_the_clock_turns_a_whole_contest_without_a_worker_and_without_a_queue(
    client: TestClient, tmp_path: Path
) -> None:
    contest = over(client)
    with clock(tmp_path, **NO_QUEUE) as process:
        until(lambda: contest.state() == "closed")
        until(lambda: turned() == EACH_ONCE)
        until(lambda: not children(process))


@pytest.mark.full
def test_two_clocks_turn_once(client: TestClient, tmp_path: Path) -> None:
    over(client)
    with clock(tmp_path), clock(tmp_path), clock(tmp_path):
        until(lambda: turned() == EACH_ONCE)


@pytest.mark.parametrize("number", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.full)])
def test_a_signal_ends_the_clock_and_its_children(
    client: TestClient, tmp_path: Path, number: signal.Signals
) -> None:
    frozen(client)
    before = signal.signal(number, signal.default_int_handler)  # a shell's background ignores SIGINT
    with clock(tmp_path) as process, targets_held():
        signal.signal(number, before)
        until(lambda: at_work(process))
        workers = children(process)
        process.send_signal(number)
        assert process.wait(PATIENCE_S) == 0
        gone, alive = psutil.wait_procs(workers, timeout=PATIENCE_S)
        assert (len(gone), alive) == (2, [])  # with the one that reads the releases
    assert "Traceback" not in (tmp_path / "clock-0.log").read_text()


@pytest.mark.full
def test_a_clock_killed_in_the_middle_leaves_no_child_and_the_next_one_finishes(
    client: TestClient, tmp_path: Path
) -> None:
    frozen(client)
    with clock(tmp_path) as first, targets_held():
        until(lambda: at_work(first))
        workers = children(first)
        kill(first)
        assert psutil.wait_procs(workers, timeout=PATIENCE_S)[1] == []
    with clock(tmp_path):
        until(lambda: turned() == EACH_ONCE)


@pytest.mark.full
def test_a_child_killed_in_the_middle_is_followed_by_another(client: TestClient, tmp_path: Path) -> None:
    frozen(client)
    with clock(tmp_path) as process:
        with targets_held():
            until(lambda: at_work(process))
            child = next(one for one in children(process) if "workers.lifecycle" in one.cmdline())
            os.kill(child.pid, signal.SIGKILL)
            until(lambda: not child.is_running())
        until(lambda: turned() == EACH_ONCE)


@pytest.mark.full
def test_the_clock_survives_a_database_that_goes_away_and_comes_back(tmp_path: Path) -> None:
    with embedded_services(tmp_path / "servers") as own:
        migrate(own.database_url)
        with clock(tmp_path, DATABASE_URL=own.database_url, REDIS_URL=own.redis_url) as process:
            log = tmp_path / "clock-0.log"
            until(lambda: "clock_starts" in log.read_text())
            (postgres,) = [server for server in own.servers if server.name == "Postgres"]
            kill(postgres.process)
            until(lambda: "clock_hindered" in log.read_text())
            own.check()
            until(lambda: "clock_goes_again" in log.read_text())
            assert process.poll() is None
            assert log.read_text().count("clock_hindered") == 1


@pytest.mark.full
def test_messages_that_an_older_clock_left_in_the_queue_end_no_worker(
    settings: Settings, tmp_path: Path
) -> None:
    with queue.celery.connection_for_write() as connection:
        for name in ("turn", "sweep"):
            queue.celery.send_task(name, connection=connection)
    with web(tmp_path) as url, worker(tmp_path) as process:
        contest = small_contest(url)
        contest.until_state(contest.submit(), "SCORED")
        assert process.poll() is None
    assert queue.depth() == 0
