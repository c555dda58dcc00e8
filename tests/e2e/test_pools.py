"""Pools of workers: a backlog of one kind of work, or of one competition, stands before nobody else's."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest
from fastapi.testclient import TestClient
from sqlalchemy import func, insert, select

from app.config import Settings
from app.db.models import State, ThresholdReport
from app.db.privileges import CLOCK, WORKER
from app.db.transaction import transaction
from app.processes.supervisor import POOLS, forked_program, worker_programs
from app.services.jobs import queue
from tests.e2e.stack import QUICK, acting, forks, running
from tests.support.arena import Arena
from tests.support.contest import Contest
from tests.support.phase_changes import quick
from tests.support.wait import eventually

pytestmark = pytest.mark.full

MANY = 121


@contextmanager
def everything(logs: Path) -> Iterator[dict[str, psutil.Process]]:
    """The clock and both pools, as one machine runs them; the processes of the pools by name."""
    with running(
        forked_program(
            jobs=1, env=QUICK | acting(WORKER), logs=logs, name="pools", clock=acting(CLOCK)["DATABASE_URL"]
        )
    ) as process:
        names = {pool.name for pool in POOLS}
        assert eventually(lambda: names <= forks(process.pid).keys())
        yield {name: forks(process.pid)[name] for name in names}


def reports(*states: State) -> int:
    with transaction() as session:
        counted = select(func.count()).where(ThresholdReport.state.in_(states))
        return session.scalars(counted).one()


def hour_long_reports(arena: Arena, number: int) -> None:
    """So many reports, of which the first outlasts the test; more than a competition may ask for."""
    asked = arena.post(f"/competitions/{arena.slug}/threshold-reports", json={"draws": 100_000})
    assert asked.status_code == 202, asked.text
    with transaction() as session:
        first = session.scalars(select(ThresholdReport)).one()
        first.question = first.question | {"draws": 5_000_000}
        copied = {"competition_id": first.competition_id, "user_id": first.user_id, "file": first.file}
        copied |= {"original": first.original, "question": first.question}
        session.execute(insert(ThresholdReport), [copied] * (number - 1))
    queue.publish([queue.ADVISE] * number)


@pytest.mark.full
def test_a_hundred_reports_of_one_competition_delay_neither_anothers_scores_nor_its_phases(
    client: TestClient, tmp_path: Path
) -> None:
    """While not one of the reports has ended, another contest scores, turns, judges, closes and reveals."""
    hour_long_reports(Arena.opened(client, slug="busy"), MANY)
    contest = Contest.opened(client)
    with everything(tmp_path):
        assert eventually(lambda: reports(State.SCORING) == 1)
        red = contest.submit("red", scored=False)
        assert eventually(lambda: contest.arena.submission(red, "red")["status"] == "SCORED")
        contest.arena.team("blue")
        contest.move(anonymization=(-3, -2), reidentification=(-1, 1))
        assert eventually(lambda: contest.state() == "reidentification")
        target = contest.target_of(red)["id"]
        guess = contest.guess("blue", target, contest.right_on(red, 3))
        assert guess.status_code == 202
        contest.move(reidentification=(-1, -0.1))
        assert eventually(lambda: contest.state() == "closed")
        assert (reports(State.SCORING), reports(State.QUEUED)) == (1, MANY - 1)


def test_workers_stand_back_from_the_web_server_and_reports_behind_scores(
    settings: Settings, tmp_path: Path
) -> None:
    own = psutil.Process().nice()
    niceness = {pool.name: min(19, own + pool.niceness) for pool in POOLS}
    assert own < niceness["worker"] < niceness["reports"]

    def pool_processes(worker: psutil.Process) -> list[int]:
        return [child.nice() for child in worker.children()]

    with everything(tmp_path) as pools:
        for name, process in pools.items():
            assert eventually(lambda: pool_processes(process) == [niceness[name]])  # noqa: B023


def test_the_queues_that_are_rung_are_the_queues_that_are_served(settings: Settings) -> None:
    served = [word for program in worker_programs() for word in program.command]
    queues = [served[place + 1] for place, word in enumerate(served) if word == "--queues"]
    assert sorted(",".join(queues).split(",")) == sorted(queue.QUEUES.values())


@pytest.mark.full
def test_work_of_a_contest_that_needs_its_scores_is_not_held_up_by_a_worker_of_reports_alone(
    client: TestClient, tmp_path: Path
) -> None:
    """A worker of one kind leaves the other kinds' messages to those who serve them."""
    contest = Contest.opened(client)
    waiting = contest.submit("red", scored=False)
    (alone,) = worker_programs(queues=["reports"], env=QUICK, logs=tmp_path, name="alone")
    asked = contest.arena.post(f"{contest.path}/threshold-reports", json={"draws": 0})
    assert asked.status_code == 202
    with running(alone):
        assert eventually(lambda: reports(State.SCORED) == 1)
    assert alone.log is not None
    assert {type(json.loads(line)) for line in alone.log.read_text().splitlines()} == {dict}
    assert contest.arena.submission(waiting, "red")["status"] == "QUEUED"
    assert quick(contest, "blue")
