"""What workers of one host, started as documented, report about themselves."""

import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from anoncup import schemas
from anoncup.schemas.fields import Role
from app.core.db.privileges import WORKER
from app.jobs import worker_reports
from app.operations.supervisor import Program
from tests.support.accounts import sign_in_new_person
from tests.support.arena import Arena
from tests.support.service_processes import QUICK_SETTINGS, build_role_env, run_program
from tests.support.wait import poll_until

pytestmark = pytest.mark.full


@contextmanager
def run_workers(folder: Path, *environments: dict[str, str]) -> Iterator[list["subprocess.Popen[bytes]"]]:
    """Run `anoncup worker` in each environment; yield the workers once all respond."""
    command = [sys.executable, "-m", "anoncup.cli", "worker", "--queues", "scores,guesses"]
    with ExitStack() as exit_stack:
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


def list_workers(arena: Arena, token: str) -> dict[str, schemas.Worker]:
    response = arena.get(f"/competitions/{arena.slug}/queue", token=token)
    return {worker.name: worker for worker in schemas.Queue.model_validate(response.json()).workers or ()}


def test_workers_report_their_name_work_sandbox_and_what_they_lack(arena: Arena, tmp_path: Path) -> None:
    administrator = sign_in_new_person(arena.client, "Root", Role.ADMINISTRATOR)
    (tmp_path / "empty").mkdir()
    environments = {"ANONCUP_SANDBOX": "off"}, {"ANONCUP_OPENING_KEYS_DIR": str(tmp_path / "empty")}
    with run_workers(tmp_path, *environments) as processes:
        unconfined, keyless = (f"celery-{process.pid}@{socket.gethostname()}" for process in processes)
        workers = list_workers(arena, administrator)
        assert workers.keys() == {unconfined, keyless}
        assert all(worker.serves == ["scores", "guesses"] for worker in workers.values())
        assert workers[unconfined].lacks is None
        assert workers[keyless].lacks == "there is no private key in ANONCUP_OPENING_KEYS_DIR"
        redacted = list_workers(arena, arena.organizer_token)[keyless]
        assert redacted.lacks == "takes no work; administrators can read why"
        sandboxes = {
            report.name: report.is_sandbox_complete for report in worker_reports.list_workers() or ()
        }
        assert not sandboxes[unconfined]
