"""A backlog of one kind of job or one competition does not delay the others."""

from pathlib import Path

import psutil
import pytest
from fastapi.testclient import TestClient
from sqlalchemy import func, insert, select

from app.core.db.models import State, ThresholdReport
from app.core.db.transaction import transaction
from app.core.worker_queues import QUEUE_BY_KIND
from app.jobs import queue
from tests.support.arena import Arena
from tests.support.contest import Contest
from tests.support.service_processes import run_worker
from tests.support.wait import poll_until

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
