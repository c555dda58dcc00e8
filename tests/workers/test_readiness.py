"""A worker without the store, a stored file or a key takes no work and uses up no attempts."""

from collections.abc import Callable
from pathlib import Path
from uuid import UUID

import pytest
from sqlalchemy import text
from structlog.testing import capture_logs

from app.config import Settings
from app.core import sealing
from app.core.db.models import Evaluation, State, Submission, ThresholdReport
from app.core.db.transaction import transaction
from app.core.storage import get_store
from tests.support.arena import Arena
from tests.support.database_rows import claim_evaluation, load_evaluation, submit_evaluation
from tests.support.queue import clear_retry_delays
from tests.support.setting_changes import change_settings
from tests.support.stored_files import build_blob_path
from workers import readiness, tasks

pytestmark = pytest.mark.full


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readiness, "READY_TIMEOUT_S", 0.0)
    monkeypatch.setattr(readiness, "POLL_INTERVAL_S", 0.0)


def score_evaluation(identifier: UUID) -> Evaluation:
    tasks.score()
    return load_evaluation(identifier)


def score(identifier: UUID) -> tuple[State, int]:
    """Score the next evaluation, and return state and attempt of this one."""
    evaluation = score_evaluation(identifier)
    return evaluation.state, evaluation.attempt


def test_worker_with_another_store_takes_no_work_until_fixed(arena: Arena, tmp_path: Path) -> None:
    identifier = submit_evaluation(arena)
    with capture_logs() as logs:
        with change_settings(ANONCUP_STORE=tmp_path):
            for _ in range(5):
                assert score(identifier) == (State.QUEUED, 0)
        assert score(identifier) == (State.SCORED, 1)
    refused, resumed = (entry for entry in logs if entry["event"].startswith("takes_"))
    assert (refused["event"], resumed["event"]) == ("takes_no_work", "takes_work_again")
    assert "is it the right store" in refused["reason"]


def test_worker_without_keys_takes_only_reports(arena: Arena, tmp_path: Path) -> None:
    identifier = submit_evaluation(arena)
    report = arena.post("/competitions/small/threshold-reports", json={}).json()["id"]
    with change_settings(ANONCUP_OPENING_KEYS_DIR=tmp_path):
        assert score(identifier) == (State.QUEUED, 0)
        tasks.advise()
    with transaction() as session:
        assert session.get_one(ThresholdReport, UUID(report)).state == State.SCORED


def test_claim_without_its_key_is_returned_uncounted_and_delayed(arena: Arena, tmp_path: Path) -> None:
    identifier = submit_evaluation(arena)
    sealing.create_keys(tmp_path / "other.pub", tmp_path / "private")
    with change_settings(ANONCUP_OPENING_KEYS_DIR=tmp_path / "private"):
        for attempt in range(1, 6):
            evaluation = score_evaluation(identifier)
            assert (evaluation.state, evaluation.attempt, evaluation.excused) == (
                State.QUEUED,
                attempt,
                attempt,
            )
            assert claim_evaluation(identifier) is None
            clear_retry_delays()
    assert (score_evaluation(identifier).state, load_evaluation(identifier).failure) == (State.SCORED, None)


@pytest.mark.parametrize(
    ("damage", "times"),
    [pytest.param(Path.unlink, 4, marks=pytest.mark.full), (lambda path: path.write_bytes(b"harmed"), 1)],
)
def test_damaged_file_costs_no_attempt_and_is_scored_once_restored(
    arena: Arena, settings: Settings, damage: Callable[[Path], object], times: int
) -> None:
    identifier = submit_evaluation(arena)
    blob = build_blob_path(settings.data, read_release_digest(identifier))
    content = blob.read_bytes()
    damage(blob)
    for attempt in range(1, times + 1):  # one more than the attempts of a submission
        evaluation = score_evaluation(identifier)
        assert (evaluation.state, evaluation.excused) == (State.QUEUED, attempt)
        clear_retry_delays()
    get_store().save(content)
    assert score_evaluation(identifier).state == State.SCORED


def test_lost_file_fails_only_its_own_submission(arena: Arena, settings: Settings) -> None:
    identifier, other_identifier = submit_evaluation(arena), submit_evaluation(arena, seed=2)
    build_blob_path(settings.data, read_release_digest(identifier)).unlink()
    assert score_evaluation(identifier).state == State.QUEUED
    readiness.SCORING_READINESS.backoff_until = 0.0
    assert score_evaluation(other_identifier).state == State.SCORED
    clear_retry_delays()
    with transaction() as session:
        seconds = settings.lost_after_s + 1
        session.execute(
            text(f"UPDATE evaluations SET missing_since = missing_since - interval '{seconds} seconds'")
        )
    assert score_evaluation(identifier).state == State.ERROR
    failure = load_evaluation(identifier).failure
    assert failure
    assert (failure.code, str(failure.message)) == ("file_lost", "the file is not in the store")


def read_release_digest(identifier: UUID) -> str:
    with transaction() as session:
        return str(session.get_one(Submission, load_evaluation(identifier).submission_id).files["anonymized"])
