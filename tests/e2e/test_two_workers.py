"""Two workers on one host, started as documented."""

import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from sqlalchemy import select

from anoncup import schemas
from anoncup.client import Client
from anoncup.schemas.roles import Role
from app.config import Settings
from app.core.db.models import Organizer, User
from app.core.db.privileges import WORKER
from app.core.db.transaction import transaction
from app.core.identity import tokens, users
from app.jobs import worker_reports
from app.operations.supervisor import Program, build_clock_program
from tests.support.arena import PASSWORD, serial_numbers
from tests.support.service_processes import (
    QUICK_SETTINGS,
    build_role_env,
    open_small_contest,
    run_program,
    suspend_tree,
)
from tests.support.wait import poll_until

pytestmark = pytest.mark.full


@contextmanager
def run_workers(folder: Path, *environments: dict[str, str]) -> Iterator[list["subprocess.Popen[bytes]"]]:
    """Run a clock and `anoncup worker` in each environment; yield the workers once all respond."""
    command = [sys.executable, "-m", "anoncup.cli", "worker", "--queues", "scores,guesses"]
    clock = build_clock_program(env=QUICK_SETTINGS | build_role_env(WORKER), log=folder / "clock.log")
    with ExitStack() as exit_stack:
        exit_stack.enter_context(run_program(clock))
        processes = [
            exit_stack.enter_context(
                run_program(
                    Program(
                        name="worker",
                        command=command,
                        env=QUICK_SETTINGS | build_role_env(WORKER) | env,
                        log=folder / f"worker-{number}.log",
                    )
                )
            )
            for number, env in enumerate(environments)
        ]
        assert poll_until(lambda: len(worker_reports.list_workers() or ()) == len(processes))
        yield processes


def test_two_workers_on_one_host_score_under_their_own_names(
    settings: Settings, server: str, tmp_path: Path
) -> None:
    contest = open_small_contest(server)
    with run_workers(tmp_path, {}, {}) as (first, second):
        reports = worker_reports.list_workers() or []
        assert {report.name for report in reports} == {
            f"celery-{process.pid}@{socket.gethostname()}" for process in (first, second)
        }
        assert [report.serves for report in reports] == [["scores", "guesses"]] * 2
        assert [report.lacks for report in reports] == [None, None]
        for seed, idle in enumerate((first, second)):
            with suspend_tree(idle):
                contest.wait_for_state(contest.submit(seed=seed), "SCORED")


def test_health_page_shows_workers_without_work_and_the_reason(
    settings: Settings, server: str, tmp_path: Path
) -> None:
    open_small_contest(server)
    name = f"root {next(serial_numbers)}"
    with transaction() as session:
        users.create_user(session, name=name, password=PASSWORD, role=Role.ADMINISTRATOR)
        owner = session.scalars(select(User).join(Organizer, Organizer.user_id == User.id)).one()
        organizer = tokens.issue_token(session, owner, name="queue")
    with Client(server) as client:
        administrator = client.create_token(name, PASSWORD)
    (tmp_path / "empty").mkdir()
    with run_workers(tmp_path, {"ANONCUP_OPENING_KEYS_DIR": str(tmp_path / "empty")}) as (process,):
        with Client(server, administrator) as client:
            (full_entry,) = client.get(schemas.Queue, "/competitions/small/queue").workers or []
        with Client(server, organizer) as client:
            (redacted_entry,) = client.get(schemas.Queue, "/competitions/small/queue").workers or []
    assert full_entry.name == f"celery-{process.pid}@{socket.gethostname()}"
    assert full_entry.lacks == "there is no private key in ANONCUP_OPENING_KEYS_DIR"
    assert redacted_entry.lacks == "takes no work; administrators can read why"
    assert full_entry.serves == redacted_entry.serves == ["scores", "guesses"]
