"""A rehearsal that a real worker plays through a real web server."""

from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import func, select

from app.db.models import Submission
from app.db.transaction import transaction
from tests.support.contest import Contest
from tests.support.rehearsal import RehearsedContest
from tests.support.service_processes import kill, run_worker
from tests.support.wait import poll_until

pytestmark = [pytest.mark.full, pytest.mark.usefixtures("rehearsal_service")]


def test_rehearsal_goes_on_after_its_worker_was_killed(client: TestClient, tmp_path: Path) -> None:
    rehearsal = RehearsedContest.begin(Contest.create(client).arena)
    rehearsal.advance_time(5)
    due_count = 7
    with run_worker(tmp_path, "reports") as worker:
        assert poll_until(lambda: rehearsal.count_sent() >= 2)
        kill(worker)
    assert rehearsal.count_sent() < due_count
    with run_worker(tmp_path, "reports"):
        assert poll_until(lambda: rehearsal.count_sent() >= due_count)
    assert rehearsal.list_questions() == []
    with transaction() as session:
        assert session.scalars(select(func.count()).select_from(Submission)).one() == rehearsal.count_sent()
