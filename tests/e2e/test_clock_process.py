"""The clock as a real process: alone, several at once, stopped, killed, and without a database."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest
from fastapi.testclient import TestClient
from sqlalchemy import func, select, text

from app.core.db import engine
from app.core.db.models import AuditEntry
from app.core.db.transaction import transaction
from app.lifecycle import contest_lifecycle
from app.operations.embedded_servers import run_embedded_services
from app.operations.supervisor import Program, build_clock_program
from migrations.run import migrate
from tests.support.contest import Contest, load_round_id
from tests.support.phase_changes import submit_with_verdict
from tests.support.service_processes import (
    QUICK_SETTINGS,
    kill,
    run_program,
)
from tests.support.wait import TIMEOUT_S, poll_until

pytestmark = pytest.mark.full

NO_QUEUE = {"REDIS_URL": "redis://127.0.0.1:1/0"}


@contextmanager
def run_clock(logs: Path, **env: str) -> Iterator[subprocess.Popen[bytes]]:
    log = logs / f"clock-{len(list(logs.glob('clock-*')))}.log"
    with run_program(build_clock_program(env=QUICK_SETTINGS | env, log=log)) as process:
        yield process


def require_eventually(condition: Callable[[], bool]) -> None:
    assert poll_until(condition)


def open_ended_contest(client: TestClient) -> Contest:
    """Open a contest with finals of two teams, past both deadlines, before any transition."""
    contest = Contest.create(client)
    for team in ("red", "blue"):
        submit_with_verdict(contest, team)
    contest.move_phases(anonymization=(-3, -2), reidentification=(-1, -0.5))
    return contest


def open_frozen_contest(client: TestClient) -> None:
    """Open an ended contest with frozen finals; the next transition is done by a child."""
    contest = open_ended_contest(client)
    with transaction() as session:
        assert contest_lifecycle.freeze(session, load_round_id(contest.arena.slug))


def count_transitions() -> dict[str, int]:
    """Return how often each transition was made."""
    with transaction() as session:
        query = select(AuditEntry.action, func.count().label("number")).where(AuditEntry.user_id.is_(None))
        return {row.action: row.number for row in session.execute(query.group_by(AuditEntry.action))}


EACH_TRANSITION_ONCE = {"finals.freeze": 1, "targets.publish": 1, "competition.close": 1, "secrets.reveal": 1}


@contextmanager
def lock_targets() -> Iterator[None]:
    """Lock the targets, so that a process that records their files waits in the middle of its work."""
    with engine.get_engine().begin() as connection:
        connection.execute(text("LOCK TABLE targets IN SHARE MODE"))
        yield


def list_children(process: subprocess.Popen[bytes]) -> list[psutil.Process]:
    return psutil.Process(process.pid).children(recursive=True)


def is_child_waiting(process: subprocess.Popen[bytes]) -> bool:
    """Return whether a child of the clock waits for the lock on the targets."""
    waits = text("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query ~ 'targets'")
    with engine.get_engine().begin() as connection:
        return bool(connection.scalar(waits)) and bool(list_children(process))


@pytest.mark.full
def test_clock_makes_all_transitions_without_worker_and_queue(client: TestClient, tmp_path: Path) -> None:
    contest = open_ended_contest(client)
    with run_clock(tmp_path, **NO_QUEUE) as process:
        require_eventually(lambda: contest.get_state() == "closed")
        require_eventually(lambda: count_transitions() == EACH_TRANSITION_ONCE)
        require_eventually(lambda: not list_children(process))


@pytest.mark.parametrize("number", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.full)])
def test_signal_ends_the_clock_and_its_children(
    client: TestClient, tmp_path: Path, number: signal.Signals
) -> None:
    open_frozen_contest(client)
    old_handler = signal.signal(number, signal.default_int_handler)  # background jobs ignore SIGINT
    with run_clock(tmp_path) as process, lock_targets():
        signal.signal(number, old_handler)
        require_eventually(lambda: is_child_waiting(process))
        workers = list_children(process)
        process.send_signal(number)
        assert process.wait(TIMEOUT_S) == 0
        assert len(workers) >= 2  # the one that waits, and the runner that reads the releases for it
        assert psutil.wait_procs(workers, timeout=TIMEOUT_S)[1] == []
    assert "Traceback" not in (tmp_path / "clock-0.log").read_text()


@pytest.mark.full
def test_clock_killed_midway_leaves_no_child_and_is_resumed(client: TestClient, tmp_path: Path) -> None:
    open_frozen_contest(client)
    with run_clock(tmp_path) as first, lock_targets():
        require_eventually(lambda: is_child_waiting(first))
        workers = list_children(first)
        kill(first)
        assert psutil.wait_procs(workers, timeout=TIMEOUT_S)[1] == []
    with run_clock(tmp_path):
        require_eventually(lambda: count_transitions() == EACH_TRANSITION_ONCE)


def test_clock_starts_while_the_database_cannot_be_reached(tmp_path: Path) -> None:
    env = NO_QUEUE | {"DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none"}
    command, log = [sys.executable, "-m", "anoncup.cli", "scheduler"], tmp_path / "clock.log"
    with run_program(Program(name="scheduler", command=command, env=env, log=log)):
        require_eventually(lambda: "the database cannot be reached right now" in log.read_text())


@pytest.mark.full
def test_clock_survives_a_database_outage(tmp_path: Path) -> None:
    with run_embedded_services(tmp_path / "servers") as services:
        migrate(services.database_url)
        with run_clock(tmp_path, DATABASE_URL=services.database_url, REDIS_URL=services.redis_url) as process:
            log = tmp_path / "clock-0.log"
            require_eventually(lambda: "clock_starts" in log.read_text())
            os.kill(services.supervisor.get_pids()["Postgres"], signal.SIGKILL)
            require_eventually(lambda: "clock_hindered" in log.read_text())

            def goes_again() -> bool:
                services.supervisor.restart_ended()
                return "clock_goes_again" in log.read_text()

            require_eventually(goes_again)
            assert process.poll() is None
            assert log.read_text().count("clock_hindered") == 1
