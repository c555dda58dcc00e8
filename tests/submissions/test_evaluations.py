"""The life cycle of an evaluation in the database: claims, leases, attempts and the sweep."""

import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import update

from anoncup.messages import CodedMessage, Message
from anoncup.plugins import TRACKS, InstalledParts, Package
from anoncup.runner.client import ProgressStep
from anoncup.runner.jobs import ScoreJob
from app.config import Settings
from app.core.db.models import Evaluation, State
from app.core.db.transaction import transaction
from app.core.processes import runners
from app.jobs import leases, queue
from app.organizing import workload
from app.submissions import evaluations
from app.submissions.evaluations import EvaluationClaim
from tests.support.arena import Arena
from tests.support.database_rows import claim_evaluation, execute, load_evaluation, submit_evaluation
from tests.support.hostile_jobs import CrashingScoreJob, GreedyScoreJob, LyingScoreJob
from tests.support.queue import empty_queue
from tests.support.wait import TIMEOUT_S
from workers import clock, jobs, lease_runner, tasks

VERDICT: dict[str, Any] = {"verdict": "accepted", "overall": 0.5}


def require_claim(identifier: UUID, *, lease: timedelta | None = None) -> EvaluationClaim:
    claim = claim_evaluation(identifier, lease=lease)
    assert claim is not None
    return claim


def record_verdict(claim: EvaluationClaim, verdict: dict[str, Any] = VERDICT) -> bool:
    with transaction() as session:
        return bool(evaluations.record_verdict(session, claim, verdict=verdict, scorer="test"))


def read_failure(identifier: UUID) -> tuple[str, dict[str, Any]]:
    """Return the code and the message values of an evaluation's failure."""
    failure = load_evaluation(identifier).failure
    assert failure
    return failure.code, failure.message.render_values_in_english()


def count_waiting_messages() -> int:
    return queue.count_messages() or 0


def test_expired_claim_passes_on_and_changes_nothing(arena: Arena) -> None:
    identifier, failure = submit_evaluation(arena), CodedMessage("scoring_failed", Message("a fault of ours"))
    expired_claim = require_claim(identifier, lease=timedelta(0))
    current_claim = require_claim(identifier, lease=timedelta(0))
    assert (expired_claim.lease.attempt, current_claim.lease.attempt) == (1, 2)
    with transaction() as session:
        assert not leases.renew(session, expired_claim.lease)
        assert leases.renew(session, current_claim.lease)
        leases.fail(session, expired_claim.lease, failure)
        for is_file_missing in (False, True):
            leases.release(session, expired_claim.lease, failure, is_file_missing=is_file_missing)
    assert claim_evaluation(identifier) is None
    assert (load_evaluation(identifier).state, load_evaluation(identifier).failure) == (State.SCORING, None)
    assert record_verdict(current_claim)
    assert not record_verdict(expired_claim, {"verdict": "rejected"})
    assert load_evaluation(identifier).state == State.SCORED


@pytest.mark.full
@pytest.mark.parametrize(
    ("interval_s", "expected_progress"),
    [(0.0, [(0, 0), (1, 5), (2, 6), (3, 5)]), (TIMEOUT_S, [(0, 0)] * 4)],
    ids=["every step", "too soon after the claim"],
)
def test_progress_is_written_at_most_once_in_an_interval(
    arena: Arena, monkeypatch: pytest.MonkeyPatch, interval_s: float, expected_progress: list[tuple[int, int]]
) -> None:
    monkeypatch.setattr(lease_runner, "RENEW_INTERVAL_S", interval_s)
    claim = require_claim(submit_evaluation(arena))
    renew = lease_runner.make_renewal(claim.lease)
    recorded_progress = []
    for number, total in ((0, 0), (1, 5), (2, 6), (3, 5)):
        renew(ProgressStep(number, total, "euc1"))
        evaluation = load_evaluation(claim.lease.job_id)
        recorded_progress.append((evaluation.step, evaluation.steps))
    assert recorded_progress == expected_progress


def test_message_delivered_repeatedly_scores_once(arena: Arena) -> None:
    identifier = submit_evaluation(arena)
    for _ in range(3):
        tasks.score()
    assert (load_evaluation(identifier).state, load_evaluation(identifier).attempt) == (State.SCORED, 1)


@pytest.mark.full
def test_evaluation_fails_after_too_many_attempts(arena: Arena) -> None:
    identifier = submit_evaluation(arena)
    for _ in range(3):
        require_claim(identifier, lease=timedelta(0))
    assert claim_evaluation(identifier) is None
    assert load_evaluation(identifier).state == State.ERROR
    assert read_failure(identifier) == ("attempts_used_up", {"times": 3, "last": "its worker was lost"})


@pytest.mark.full
@pytest.mark.parametrize("lease", [timedelta(0), timedelta(hours=1)])
def test_sweep_requeues_evaluations_with_expired_leases_and_leases_from_the_future(
    arena: Arena, lease: timedelta
) -> None:
    identifier = submit_evaluation(arena)
    require_claim(identifier, lease=lease)
    empty_queue()
    clock.sweep()
    assert count_waiting_messages() == 1
    require_claim(identifier)
    empty_queue()
    clock.sweep()
    assert count_waiting_messages() == 0


@pytest.mark.full
def test_jobs_from_the_future_do_not_wait_for_it(arena: Arena) -> None:
    identifier = submit_evaluation(arena)
    future = datetime.now(UTC) + timedelta(hours=1)
    execute(update(Evaluation).values(created_at=future, not_before=future))
    empty_queue()
    clock.sweep()
    assert count_waiting_messages() == 1
    require_claim(identifier)


def test_failed_transaction_sends_no_message(arena: Arena) -> None:
    submit_evaluation(arena)
    empty_queue()

    def enqueue_and_fail() -> None:
        with transaction() as session:
            queue.enqueue_after_commit(session, queue.SCORE)
            raise KeyError

    with pytest.raises(KeyError):
        enqueue_and_fail()
    assert count_waiting_messages() == 0


def test_evaluation_is_retried_after_its_child_is_killed(
    arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    identifier = submit_evaluation(arena)
    with monkeypatch.context() as patch:
        patch.setattr(tasks, "ScoreJob", CrashingScoreJob)
        tasks.score()
    assert (load_evaluation(identifier).state, load_evaluation(identifier).failure) == (
        State.QUEUED,
        CodedMessage("child_died", jobs.DIED_MESSAGE),
    )
    tasks.score()
    assert (load_evaluation(identifier).state, load_evaluation(identifier).attempt) == (State.SCORED, 2)
    assert load_evaluation(identifier).failure is None


@pytest.mark.full
@pytest.mark.parametrize(
    ("job", "python", "limit_s", "words"),
    [
        (CrashingScoreJob, None, 60, "the package mine ended the scoring process"),
        (ScoreJob, Path("missing"), 60, "the interpreter of the package mine does not start"),
        (GreedyScoreJob, None, 60, "LimitExcess('memory')"),
        (ScoreJob, None, 0, "LimitExcess('time')"),
        (LyingScoreJob, None, 60, "InvalidAnswer()"),
    ],
)
def test_failure_of_a_package_names_it_on_the_health_page(
    arena: Arena,
    *,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    job: type[ScoreJob],
    python: Path | None,
    limit_s: int,
    words: str,
) -> None:
    package = Package("mine", "", "mine:PLUGIN", parts=("tracks.microdata",))
    monkeypatch.setattr(jobs, "INSTALLED", InstalledParts(TRACKS, (package,)))
    monkeypatch.setattr(tasks, "ScoreJob", job)
    set_limits(settings, monkeypatch, scoring_memory_mb=2000, scoring_time_limit_s=limit_s)
    if python is not None:
        runners.end_all()
        monkeypatch.setattr(sys, "executable", str(python))
    identifier = submit_evaluation(arena)
    for _ in range(4):
        tasks.score()
    evaluation = load_evaluation(identifier)
    assert (evaluation.state, "mine" in str(evaluation.failure)) == (State.ERROR, True)
    with transaction() as session:
        failures = workload.list_failures(session, evaluation.round_id)
    assert [(failure.id, words in (failure.traceback or "")) for failure in failures] == [(identifier, True)]
    runners.end_all()


def set_limits(settings: Settings, monkeypatch: pytest.MonkeyPatch, **limits: int) -> None:
    monkeypatch.setattr(tasks, "get_settings", lambda: settings.model_copy(update=limits))


@pytest.mark.full
@pytest.mark.parametrize(
    ("job", "limits", "failure"),
    [
        (ScoreJob, {"scoring_time_limit_s": 0}, ("time_limit", {"limit": 0})),
        (GreedyScoreJob, {"scoring_memory_mb": 2000}, ("memory_limit", {"limit": 2000})),
    ],
)
def test_scoring_beyond_a_limit_fails_with_the_limit(
    arena: Arena,
    *,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    job: type[ScoreJob],
    limits: dict[str, int],
    failure: tuple[str, dict[str, Any]],
) -> None:
    identifier = submit_evaluation(arena)
    set_limits(settings, monkeypatch, **limits)
    monkeypatch.setattr(tasks, "ScoreJob", job)
    tasks.score()
    assert load_evaluation(identifier).state == State.ERROR
    assert read_failure(identifier) == failure
