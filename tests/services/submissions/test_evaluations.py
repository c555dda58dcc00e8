"""The life cycle of an evaluation on a real database: claims, leases, attempts and the sweep."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import text

from anoncup.errors import Unavailable
from anoncup.messages import CodedMessage, Message
from app.config import Settings
from app.db.models import Evaluation, State
from app.db.transaction import transaction
from app.services.jobs import leases, queue
from app.services.submissions import evaluations
from app.services.submissions.evaluations import EvaluationClaim
from tests.support.arena import Arena
from tests.support.database_rows import LEASE, claim_evaluation, load_evaluation, submit_evaluation
from tests.support.queue import empty_queue
from tests.support.wait import TIMEOUT_S, poll_until
from workers import child_manager, clock, lease_runner, score
from workers.child_manager import ProgressStep

VERDICT: dict[str, Any] = {"verdict": "accepted", "overall": 0.5}


def take_claim(identifier: UUID, *, lease: timedelta = LEASE) -> EvaluationClaim:
    claimed = claim_evaluation(identifier, lease=lease)
    assert claimed is not None
    return claimed


def record_verdict(claimed: EvaluationClaim, verdict: dict[str, Any] = VERDICT) -> bool:
    with transaction() as session:
        return evaluations.record(session, claimed, verdict=verdict, scorer="test")


def read_failure(identifier: UUID) -> tuple[str, dict[str, Any]]:
    """Return the code and the message values of an evaluation's failure."""
    failure = load_evaluation(identifier).failure
    assert failure
    return failure.code, failure.message.values_in_english()


def count_waiting_messages() -> int:
    return queue.count_messages() or 0


def backdate(identifier: UUID) -> None:
    """Move the evaluation's creation one minute into the past."""
    with transaction() as session:
        session.execute(
            text("UPDATE evaluations SET created_at = created_at - interval '1 minute' WHERE id = :id"),
            {"id": identifier},
        )


def test_only_one_of_two_workers_gets_an_evaluation(arena: Arena) -> None:
    identifier = submit_evaluation(arena)
    assert claim_evaluation(identifier) is not None
    assert claim_evaluation(identifier) is None


def test_a_claim_that_has_run_out_passes_to_the_next_and_only_that_one_records(arena: Arena) -> None:
    identifier = submit_evaluation(arena)
    slow = take_claim(identifier, lease=timedelta(0))
    quick = take_claim(identifier)
    assert (slow.attempt, quick.attempt) == (1, 2)
    assert record_verdict(quick)
    assert not record_verdict(slow, {"verdict": "rejected"})
    assert load_evaluation(identifier).state == State.SCORED


def renew_lease(claimed: EvaluationClaim, *, step: int, name: str, lease: timedelta = LEASE) -> bool:
    lease_key = (Evaluation, claimed.evaluation_id, claimed.attempt)
    with transaction() as session:
        return leases.renew(session, *lease_key, lease=lease, step=step, steps=9, step_name=name)


@pytest.mark.full
def test_a_lease_can_be_renewed_until_it_is_lost(arena: Arena) -> None:
    identifier = submit_evaluation(arena)
    claimed = take_claim(identifier, lease=timedelta(0))
    assert renew_lease(claimed, step=3, name="euc1")
    assert claim_evaluation(identifier) is None
    assert (
        load_evaluation(identifier).step,
        load_evaluation(identifier).steps,
        load_evaluation(identifier).step_name,
    ) == (3, 9, "euc1")
    assert renew_lease(claimed, step=3, name="euc1", lease=timedelta(0))
    take_claim(identifier)
    assert not renew_lease(claimed, step=4, name="euc2")


@pytest.mark.full
def test_changing_step_totals_do_not_bypass_the_progress_interval(
    arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lease_runner, "RENEW_INTERVAL_S", TIMEOUT_S)
    claimed = take_claim(submit_evaluation(arena))
    renew = lease_runner.make_renewal(
        Evaluation, claimed.evaluation_id, claimed.attempt, score.build_progress_columns
    )
    recorded_progress = []
    for number, total in ((0, 0), (1, 5), (2, 6), (3, 5)):
        renew(ProgressStep(number, total, "euc1"))
        recorded_progress.append(
            (load_evaluation(claimed.evaluation_id).step, load_evaluation(claimed.evaluation_id).steps)
        )
    assert recorded_progress == [(0, 0), (1, 5), (1, 5), (1, 5)]


@pytest.mark.full
def test_a_finished_evaluation_is_never_claimed_again(arena: Arena) -> None:
    identifier = submit_evaluation(arena)
    assert record_verdict(take_claim(identifier))
    assert claim_evaluation(identifier) is None


def test_delivering_the_same_message_again_scores_once(arena: Arena) -> None:
    identifier = submit_evaluation(arena)
    for _ in range(3):
        score.score(str(identifier))
    assert (load_evaluation(identifier).state, load_evaluation(identifier).attempt) == (State.SCORED, 1)


@pytest.mark.full
def test_an_evaluation_that_was_tried_too_often_ends_in_error(arena: Arena) -> None:
    identifier = submit_evaluation(arena)
    for _ in range(3):
        take_claim(identifier, lease=timedelta(0))
    assert claim_evaluation(identifier) is None
    assert load_evaluation(identifier).state == State.ERROR
    assert read_failure(identifier) == ("attempts_used_up", {"times": 3, "last": "its worker was lost"})


def test_the_sweep_requeues_work_when_the_queue_was_emptied(arena: Arena) -> None:
    identifier = submit_evaluation(arena)
    backdate(identifier)
    empty_queue()
    clock.sweep()
    assert count_waiting_messages() == 1


@pytest.mark.full
def test_the_sweep_does_not_requeue_while_messages_wait(arena: Arena) -> None:
    identifier = submit_evaluation(arena)
    backdate(identifier)
    assert count_waiting_messages() == 1
    clock.sweep()
    assert count_waiting_messages() == 1


@pytest.mark.full
def test_the_sweep_requeues_work_whose_lease_has_expired(arena: Arena) -> None:
    identifier = submit_evaluation(arena)
    take_claim(identifier, lease=timedelta(0))
    empty_queue()
    clock.sweep()
    assert count_waiting_messages() == 1


@pytest.mark.full
def test_the_sweep_leaves_running_and_finished_work_alone(arena: Arena) -> None:
    running, finished = submit_evaluation(arena), submit_evaluation(arena, seed=2)
    take_claim(running)
    record_verdict(take_claim(finished))
    for identifier in (running, finished):
        backdate(identifier)
    empty_queue()
    clock.sweep()
    assert count_waiting_messages() == 0


def test_nothing_is_published_when_the_transaction_fails(arena: Arena) -> None:
    submit_evaluation(arena)
    empty_queue()

    def publish_and_fail() -> None:
        with transaction() as session:
            queue.enqueue_after_commit(session, queue.SCORE)
            raise KeyError

    with pytest.raises(KeyError):
        publish_and_fail()
    assert count_waiting_messages() == 0


def test_an_evaluation_whose_child_is_killed_is_scored_by_the_next_attempt(
    arena: Arena, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    identifier = submit_evaluation(arena)
    child = child_manager.manager.get_child(settings)
    send = child.send

    def send_and_die(message: Mapping[str, Any], **options: Any) -> None:
        send(message, **options)
        child.process.kill()

    monkeypatch.setattr(child, "send", send_and_die)
    score.score(str(identifier))
    assert (load_evaluation(identifier).state, load_evaluation(identifier).failure) == (
        State.QUEUED,
        CodedMessage("child_died", child_manager.DIED_MESSAGE),
    )
    score.score(str(identifier))
    assert (load_evaluation(identifier).state, load_evaluation(identifier).attempt) == (State.SCORED, 2)
    assert load_evaluation(identifier).failure is None


@pytest.mark.full
def test_an_idle_child_is_ended_and_another_scores_the_next_evaluation(
    arena: Arena, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_limits(settings, monkeypatch, scoring_idle_s=0)
    identifiers = [submit_evaluation(arena, seed=seed) for seed in (1, 2)]
    for identifier in identifiers:
        score.score(str(identifier))
        assert (load_evaluation(identifier).state, load_evaluation(identifier).attempt) == (State.SCORED, 1)
        assert poll_until(lambda: child_manager.manager.child is None)


@pytest.mark.full
def test_a_child_is_replaced_after_its_maximum_of_evaluations(
    arena: Arena, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_limits(settings, monkeypatch, scoring_recycle_after=2)
    children = []
    for seed in (1, 2):
        score.score(str(submit_evaluation(arena, seed=seed)))
        children.append(child_manager.manager.child)
    assert children[0] is not None
    assert children[0].process.returncode is not None
    assert children[1] is None


def set_limits(settings: Settings, monkeypatch: pytest.MonkeyPatch, **limits: int) -> None:
    child_manager.manager.discard()
    monkeypatch.setattr(score, "get_settings", lambda: settings.model_copy(update=limits))
    monkeypatch.setattr(child_manager.manager, "child", None)


@pytest.mark.full
def test_scoring_beyond_the_time_limit_ends_in_error_with_the_reason(
    arena: Arena, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    identifier = submit_evaluation(arena)
    set_limits(settings, monkeypatch, scoring_time_limit_s=0)
    score.score(str(identifier))
    assert load_evaluation(identifier).state == State.ERROR
    assert read_failure(identifier) == ("time_limit", {"limit": 0})


@pytest.mark.full
def test_scoring_that_never_fits_into_memory_ends_in_error(
    arena: Arena, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    identifier = submit_evaluation(arena)
    set_limits(settings, monkeypatch, scoring_memory_mb=64)
    for _ in range(4):
        score.score(str(identifier))
    child_manager.manager.discard()
    assert load_evaluation(identifier).state == State.ERROR
    failure = load_evaluation(identifier).failure
    assert failure
    assert "memory" in str(failure.message)


@pytest.mark.full
def test_an_unreachable_database_raises_unavailable(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sqlalchemy import create_engine
    from sqlalchemy.orm import sessionmaker

    from app.db import engine

    unreachable = create_engine("postgresql+psycopg://nobody@/none?host=/nonexistent")
    monkeypatch.setattr(engine, "get_session_factory", lambda: sessionmaker(unreachable))
    with pytest.raises(Unavailable), transaction() as session:
        session.execute(text("SELECT 1"))


@pytest.mark.full
def test_a_worker_that_lost_its_claim_neither_ends_nor_returns_the_evaluation(arena: Arena) -> None:
    identifier = submit_evaluation(arena)
    lost_claim, current_claim = take_claim(identifier, lease=timedelta(0)), take_claim(identifier)
    fault = CodedMessage("scoring_failed", Message("a fault of ours"))
    with transaction() as session:
        assert not leases.fail(session, Evaluation, identifier, lost_claim.attempt, fault)
        leases.release(session, Evaluation, identifier, lost_claim.attempt, fault)
        leases.release_uncounted(session, Evaluation, identifier, lost_claim.attempt, fault)
        leases.release_for_missing_file(
            session, Evaluation, identifier, lost_claim.attempt, fault, max_wait=timedelta(0)
        )
    evaluation = load_evaluation(identifier)
    assert (evaluation.state, evaluation.attempt, evaluation.failure) == (
        State.SCORING,
        current_claim.attempt,
        None,
    )
    assert record_verdict(current_claim)
