"""Workers as real processes: what they do first, how they are stopped, and what they report."""

import socket
import sys
from contextlib import ExitStack
from pathlib import Path

import psutil
import pytest
from fastapi.testclient import TestClient
from sqlalchemy import func, insert, select

from anoncup import schemas
from anoncup.schemas.fields import Role
from app.config import Settings
from app.core.db.models import State, ThresholdReport
from app.core.db.privileges import WORKER
from app.core.db.transaction import transaction
from app.core.worker_queues import QUEUE_BY_KIND
from app.jobs import queue, worker_reports
from app.operations.supervisor import Program
from tests.support.accounts import sign_in_new_person
from tests.support.arena import Arena, serial_numbers
from tests.support.contest import Contest
from tests.support.service_processes import (
    QUICK_SETTINGS,
    build_role_env,
    open_slow_contest,
    run_program,
    run_worker,
    suspend,
)
from tests.support.wait import TIMEOUT_S, poll_until

pytestmark = pytest.mark.full

NUMBER_OF_REPORTS = 121


def count_reports(*states: State) -> int:
    with transaction() as session:
        query = select(func.count()).where(ThresholdReport.state.in_(states))
        return session.scalars(query).one()


def queue_long_reports(arena: Arena, number: int) -> None:
    """Queue ``number`` reports that each outlast the test; more than a competition may request."""
    response = arena.post(f"/competitions/{arena.slug}/threshold-reports", json={"draws": 100_000})
    assert response.status_code == 202, response.text
    with transaction() as session:
        report = session.scalars(select(ThresholdReport)).one()
        report.question = report.question | {"draws": 5_000_000}
        values = {"round_id": report.round_id, "user_id": report.user_id, "file": report.file}
        values |= {"original": report.original, "question": report.question}
        session.execute(insert(ThresholdReport), [values] * (number - 1))
    queue.publish([queue.ADVISE] * number)


def test_many_reports_delay_no_other_competition(client: TestClient, tmp_path: Path) -> None:
    """Another contest scores, changes phases, judges and closes before any report has ended."""
    queue_long_reports(Arena.create(client, slug="busy"), NUMBER_OF_REPORTS)
    contest = Contest.create(client)
    with run_worker(tmp_path, *QUEUE_BY_KIND):
        assert poll_until(lambda: count_reports(State.SCORING) == 1)
        red = contest.submit("red", score=False)
        assert poll_until(lambda: contest.arena.get_submission(red, "red")["status"] == "SCORED")
        contest.arena.get_team_token("blue")
        contest.move_phases(anonymization=(-3, -2), reidentification=(-1, 1))
        assert poll_until(lambda: contest.get_state() == "reidentification")
        target = contest.find_target(red)["id"]
        guess = contest.submit_guess("blue", target, contest.build_guess(red, 3))
        assert guess.status_code == 202
        contest.move_phases(reidentification=(-1, -0.1))
        assert poll_until(lambda: contest.get_state() == "closed")
        assert (count_reports(State.SCORING), count_reports(State.QUEUED)) == (1, NUMBER_OF_REPORTS - 1)


def test_reports_have_lower_priority_than_scores_and_these_than_the_web_server(
    client: TestClient, tmp_path: Path
) -> None:
    queue_long_reports(Arena.create(client, slug="busy"), 2)
    with run_worker(tmp_path, *QUEUE_BY_KIND) as process:
        assert poll_until(lambda: len(psutil.Process(process.pid).children(recursive=True)) == 2)
        family = psutil.Process(process.pid).children(recursive=True)
        # None can be nicer than 19, as when these tests are nice themselves.
        expected = [min(19, psutil.Process().nice() + added) for added in (10, 15)]
        assert poll_until(lambda: [member.nice() for member in family] == expected)


def build_worker(folder: Path, *options: str, **env: str) -> Program:
    """Return the command of a worker as it is documented."""
    return Program(
        name="worker",
        command=[sys.executable, "-m", "anoncup.cli", "worker", *options],
        env=QUICK_SETTINGS | build_role_env(WORKER) | env,
        log=folder / f"worker-{next(serial_numbers)}.log",
    )


def list_kinds() -> list[list[str]]:
    """Return the kinds of jobs of each worker that answers."""
    return [worker.serves for worker in worker_reports.list_workers() or ()]


def test_stopped_worker_answers_until_its_job_is_done(
    settings: Settings, server: str, tmp_path: Path
) -> None:
    contest, anonymized, secret = open_slow_contest(server)
    with run_program(build_worker(tmp_path, "--name", "all")) as process:
        identifier = contest.submit_files({"anonymized": anonymized}, secret)
        contest.wait_until(
            identifier, lambda submission: submission["status"] == "SCORING" and bool(submission["step"])
        )
        descendants = psutil.Process(process.pid).children(recursive=True)
        assert len(descendants) == 2
        with suspend(descendants):
            assert poll_until(lambda: list_kinds() == [["scores", "guesses", "reports"]])
            assert contest.read_submission(identifier)["status"] == "SCORING"
            process.terminate()
        assert process.wait(TIMEOUT_S) == 0
        assert not psutil.wait_procs(descendants, timeout=TIMEOUT_S)[1]
    submission = contest.read_submission(identifier)
    assert (submission["status"], submission["attempt"]) == ("SCORED", 1)


def list_workers(arena: Arena, token: str) -> dict[str, schemas.Worker]:
    response = arena.get(f"/competitions/{arena.slug}/queue", token=token)
    return {worker.name: worker for worker in schemas.Queue.model_validate(response.json()).workers or ()}


def test_workers_report_their_name_work_sandbox_and_what_they_lack(arena: Arena, tmp_path: Path) -> None:
    administrator = sign_in_new_person(arena.client, "Root", Role.ADMINISTRATOR)
    (tmp_path / "empty").mkdir()
    environments = {"ANONCUP_SANDBOX": "off"}, {"ANONCUP_OPENING_KEYS_DIR": str(tmp_path / "empty")}
    with ExitStack() as stack:
        processes = [
            stack.enter_context(run_program(build_worker(tmp_path, "--queues", "scores,guesses", **env)))
            for env in environments
        ]
        assert poll_until(lambda: len(list_kinds()) == len(processes))
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
