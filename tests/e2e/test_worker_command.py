"""``anoncup worker`` becomes a Celery worker, whose jobs run in threads."""

import sys
from pathlib import Path

import psutil
import pytest

from app.config import Settings
from app.core.db.privileges import WORKER
from app.jobs import worker_reports
from app.operations.supervisor import Program
from tests.support.service_processes import (
    QUICK_SETTINGS,
    build_role_env,
    open_slow_contest,
    run_program,
    suspend,
)
from tests.support.wait import TIMEOUT_S, poll_until

pytestmark = pytest.mark.full

COMMAND = [sys.executable, "-m", "anoncup.cli", "worker", "--name", "all"]


def list_kinds() -> list[list[str]]:
    """Return the kinds of jobs of each worker that answers."""
    return [worker.serves for worker in worker_reports.list_workers() or ()]


def test_stopped_worker_answers_until_its_job_is_done(
    settings: Settings, server: str, tmp_path: Path
) -> None:
    contest, anonymized, secret = open_slow_contest(server)
    env = QUICK_SETTINGS | build_role_env(WORKER)
    with run_program(Program(name="worker", command=COMMAND, env=env, log=tmp_path / "log")) as process:
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
