"""Worker pools: a backlog of one kind of job or one competition does not delay the others."""

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psutil
import pytest
from fastapi.testclient import TestClient
from sqlalchemy import func, insert, select

from app.config import Settings
from app.db.models import State, ThresholdReport
from app.db.privileges import WORKER
from app.db.transaction import transaction
from app.processes.supervisor import POOLS, build_clock_program, build_worker_programs
from app.services.jobs import queue
from tests.support.arena import Arena
from tests.support.contest import Contest
from tests.support.phase_changes import submit_with_verdict
from tests.support.service_processes import QUICK_SETTINGS, build_role_env, run_program
from tests.support.wait import poll_until

pytestmark = pytest.mark.full

NUMBER_OF_REPORTS = 121


@contextmanager
def run_pools(logs: Path) -> Iterator[dict[str, psutil.Process]]:
    """Run the clock and both pools as on one machine; yield the processes of the pools by name."""
    env = QUICK_SETTINGS | build_role_env(WORKER)
    programs = build_worker_programs(env=env, log_folder=logs, name="pools")
    clock = build_clock_program(env=env, log=logs / "scheduler.log")
    with ExitStack() as exit_stack:
        exit_stack.enter_context(run_program(clock))
        processes = [exit_stack.enter_context(run_program(program)) for program in programs]
        yield {
            program.name: psutil.Process(process.pid)
            for program, process in zip(programs, processes, strict=True)
        }


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
    with run_pools(tmp_path):
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


def test_workers_have_lower_priority_than_the_web_server(settings: Settings, tmp_path: Path) -> None:
    own_niceness = psutil.Process().nice()
    niceness = {pool.name: min(19, own_niceness + pool.niceness) for pool in POOLS}
    assert own_niceness < niceness["worker"] < niceness["reports"]

    def list_niceness(worker: psutil.Process) -> list[int]:
        return [child.nice() for child in worker.children()]

    with run_pools(tmp_path) as pools:
        for name, process in pools.items():
            assert poll_until(lambda: list_niceness(process) == [niceness[name]])  # noqa: B023


def test_every_queue_is_served(settings: Settings) -> None:
    words = [word for program in build_worker_programs() for word in program.command]
    queues = [words[position + 1] for position, word in enumerate(words) if word == "--queues"]
    assert sorted(",".join(queues).split(",")) == sorted(queue.QUEUES.values())


def test_report_worker_takes_no_scoring_jobs(contest: Contest, tmp_path: Path) -> None:
    """A worker for one queue leaves the messages of other queues to their workers."""
    waiting_id = contest.submit("red", score=False)
    (reports_program,) = build_worker_programs(
        kinds=["reports"], env=QUICK_SETTINGS, log_folder=tmp_path, name="alone"
    )
    response = contest.arena.post(f"{contest.path}/threshold-reports", json={"draws": 0})
    assert response.status_code == 202
    with run_program(reports_program):
        assert poll_until(lambda: count_reports(State.SCORED) == 1)
    assert reports_program.log is not None
    assert {type(json.loads(line)) for line in reports_program.log.read_text().splitlines()} == {dict}
    assert contest.arena.get_submission(waiting_id, "red")["status"] == "QUEUED"
    assert submit_with_verdict(contest, "blue")
