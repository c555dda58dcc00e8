"""Two workers on one host, started as the documents say."""

import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from sqlalchemy import select

from anoncup.client import Client
from anoncup.schemas.roles import Role
from app.config import Settings
from app.db.models import Organizer, User
from app.db.privileges import CLOCK, WORKER
from app.db.transaction import transaction
from app.processes.supervisor import Program, scheduler_program
from app.services.accounts import accounts
from app.services.jobs import queue
from tests.e2e.stack import QUICK, acting, halted, running, small_contest
from tests.support.arena import PASSWORD, numbers
from tests.support.wait import eventually

pytestmark = pytest.mark.full


@contextmanager
def workers(folder: Path, *environments: dict[str, str]) -> Iterator[list["subprocess.Popen[bytes]"]]:
    """A clock, and `anoncup worker` once in each environment; back when all of them answer."""
    command = [sys.executable, "-m", "anoncup.cli", "worker", "--queues", "scores,guesses"]
    clock = scheduler_program(env=QUICK | acting(CLOCK), log=folder / "clock.log")
    with ExitStack() as started:
        started.enter_context(running(clock))
        processes = [
            started.enter_context(
                running(
                    Program(
                        name="worker",
                        command=command,
                        env=QUICK | acting(WORKER) | env,
                        log=folder / f"worker-{number}.log",
                    )
                )
            )
            for number, env in enumerate(environments)
        ]
        assert eventually(lambda: len(queue.list_workers() or ()) == len(processes))
        yield processes


def test_each_of_two_workers_on_one_host_has_its_name_and_scores_while_the_other_stands_still(
    settings: Settings, server: str, tmp_path: Path
) -> None:
    contest = small_contest(server)
    with workers(tmp_path, {}, {}) as (one, other):
        listed = queue.list_workers() or []
        assert {each.worker for each in listed} == {
            f"celery-{process.pid}@{socket.gethostname()}" for process in (one, other)
        }
        assert [each.kinds for each in listed] == [["scores", "guesses"]] * 2
        assert [each.lacks for each in listed] == [None, None]
        for seed, idle in enumerate((one, other)):
            with halted(idle):
                contest.until_state(contest.submit(seed=seed), "SCORED")


def test_organizers_read_which_worker_takes_no_work_and_administrators_why(
    settings: Settings, server: str, tmp_path: Path
) -> None:
    small_contest(server)
    name = f"root {next(numbers)}"
    with transaction() as session:
        accounts.create_user(session, name=name, password=PASSWORD, role=Role.ADMINISTRATOR)
        owner = session.scalars(select(User).join(Organizer, Organizer.user_id == User.id)).one()
        organizer = accounts.issue_token(session, owner, name="queue")
    with Client(server) as client:
        administrator = client.token(name, PASSWORD)
    (tmp_path / "empty").mkdir()
    with workers(tmp_path, {"ANONCUP_OPENING_KEYS_DIR": str(tmp_path / "empty")}) as (process,):
        with Client(server, administrator) as client:
            (seen,) = client.queue("small").workers or []
        with Client(server, organizer) as client:
            (hidden,) = client.queue("small").workers or []
    assert seen.name == f"celery-{process.pid}@{socket.gethostname()}"
    assert seen.lacks == "there is no private key in ANONCUP_OPENING_KEYS_DIR"
    assert hidden.lacks == "takes no work; administrators can read why"
    assert seen.serves == hidden.serves == ["scores", "guesses"]
