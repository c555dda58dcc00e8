"""The life of an evaluation against a real database: claims, leases, attempts, the sweep."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import text

from anoncup.errors import Unavailable
from anoncup.messages import Message, Statement
from app.config import Settings
from app.db.models import Evaluation, State
from app.db.transaction import transaction
from app.services.jobs import leases, queue
from app.services.submissions import evaluations
from app.services.submissions.evaluations import Claim
from tests.support.arena import Arena
from tests.support.evaluation_rows import LEASE, claim, row, submitted
from tests.support.queue import empty_queue
from tests.support.wait import PATIENCE_S, eventually
from workers import child_manager, clock, lease_runner, score
from workers.child_manager import Step

VERDICT: dict[str, Any] = {"verdict": "accepted", "overall": 0.5}


def taken(identifier: UUID, *, lease: timedelta = LEASE) -> Claim:
    found = claim(identifier, lease=lease)
    assert found is not None
    return found


def recorded(claimed: Claim, verdict: dict[str, Any] = VERDICT) -> bool:
    with transaction() as session:
        return evaluations.record(session, claimed, verdict=verdict, scorer="test")


def reason_of(identifier: UUID) -> tuple[str, dict[str, Any]]:
    """Code and values of its failure."""
    failure = row(identifier).failure
    assert failure
    return failure.code, failure.message.plain()


def waiting() -> int:
    return queue.depth() or 0


def age(identifier: UUID) -> None:
    """As if it had been queued a minute ago."""
    with transaction() as session:
        session.execute(
            text("UPDATE evaluations SET created_at = created_at - interval '1 minute' WHERE id = :id"),
            {"id": identifier},
        )


def test_only_one_of_two_workers_gets_an_evaluation(arena: Arena) -> None:
    identifier = submitted(arena)
    assert claim(identifier) is not None
    assert claim(identifier) is None


def test_a_claim_that_has_run_out_passes_to_the_next_and_only_that_one_records(arena: Arena) -> None:
    identifier = submitted(arena)
    slow = taken(identifier, lease=timedelta(0))
    quick = taken(identifier)
    assert (slow.attempt, quick.attempt) == (1, 2)
    assert recorded(quick)
    assert not recorded(slow, {"verdict": "rejected"})
    assert row(identifier).state == State.SCORED


def renewed(claimed: Claim, *, step: int, name: str, lease: timedelta = LEASE) -> bool:
    mine = (Evaluation, claimed.evaluation_id, claimed.attempt)
    with transaction() as session:
        return leases.renew(session, *mine, lease=lease, step=step, steps=9, step_name=name)


@pytest.mark.full
def test_a_renewed_claim_is_kept_and_a_lost_one_cannot_be_renewed(arena: Arena) -> None:
    identifier = submitted(arena)
    claimed = taken(identifier, lease=timedelta(0))
    assert renewed(claimed, step=3, name="euc1")
    assert claim(identifier) is None
    assert (row(identifier).step, row(identifier).steps, row(identifier).step_name) == (3, 9, "euc1")
    assert renewed(claimed, step=3, name="euc1", lease=timedelta(0))
    taken(identifier)
    assert not renewed(claimed, step=4, name="euc2")


@pytest.mark.full
def test_who_counts_other_steps_each_time_is_not_written_down_more_often(
    arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lease_runner, "TOLD_EVERY_S", PATIENCE_S)
    claimed = taken(submitted(arena))
    renew = lease_runner.renewal(Evaluation, claimed.evaluation_id, claimed.attempt, score.columns)
    told = []
    for number, of in ((0, 0), (1, 5), (2, 6), (3, 5)):
        renew(Step(number, of, "euc1"))
        told.append((row(claimed.evaluation_id).step, row(claimed.evaluation_id).steps))
    assert told == [(0, 0), (1, 5), (1, 5), (1, 5)]


@pytest.mark.full
def test_a_finished_evaluation_is_never_claimed_again(arena: Arena) -> None:
    identifier = submitted(arena)
    assert recorded(taken(identifier))
    assert claim(identifier) is None


def test_delivering_the_same_message_again_scores_once(arena: Arena) -> None:
    identifier = submitted(arena)
    for _ in range(3):
        score.score(str(identifier))
    assert (row(identifier).state, row(identifier).attempt) == (State.SCORED, 1)


@pytest.mark.full
def test_an_evaluation_that_was_tried_too_often_ends_in_error(arena: Arena) -> None:
    identifier = submitted(arena)
    for _ in range(3):
        taken(identifier, lease=timedelta(0))
    assert claim(identifier) is None
    assert row(identifier).state == State.ERROR
    assert reason_of(identifier) == ("attempts_used_up", {"times": 3, "last": "its worker was lost"})


def test_the_sweep_rings_for_queued_work_when_the_queue_was_emptied(arena: Arena) -> None:
    identifier = submitted(arena)
    age(identifier)
    empty_queue()
    clock.sweep()
    assert waiting() == 1


@pytest.mark.full
def test_the_sweep_does_not_ring_while_messages_wait(arena: Arena) -> None:
    identifier = submitted(arena)
    age(identifier)
    assert waiting() == 1
    clock.sweep()
    assert waiting() == 1


@pytest.mark.full
def test_the_sweep_rings_for_a_lease_that_has_run_out(arena: Arena) -> None:
    identifier = submitted(arena)
    taken(identifier, lease=timedelta(0))
    empty_queue()
    clock.sweep()
    assert waiting() == 1


@pytest.mark.full
def test_the_sweep_leaves_running_and_finished_work_alone(arena: Arena) -> None:
    running, finished = submitted(arena), submitted(arena, seed=2)
    taken(running)
    recorded(taken(finished))
    for identifier in (running, finished):
        age(identifier)
    empty_queue()
    clock.sweep()
    assert waiting() == 0


def test_nothing_is_published_when_the_transaction_fails(arena: Arena) -> None:
    submitted(arena)
    empty_queue()

    def interrupted() -> None:
        with transaction() as session:
            queue.defer(session, queue.SCORE)
            raise KeyError

    with pytest.raises(KeyError):
        interrupted()
    assert waiting() == 0


def test_a_child_that_is_killed_gives_the_evaluation_back_and_the_next_try_scores_it(
    arena: Arena, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    identifier = submitted(arena)
    ready = child_manager.keeper.ready(settings)
    send = ready.send

    def send_and_die(message: Mapping[str, Any], **rest: Any) -> None:
        send(message, **rest)
        ready.process.kill()

    monkeypatch.setattr(ready, "send", send_and_die)
    score.score(str(identifier))
    assert (row(identifier).state, row(identifier).failure) == (
        State.QUEUED,
        Statement("child_died", child_manager.DIED),
    )
    score.score(str(identifier))
    assert (row(identifier).state, row(identifier).attempt) == (State.SCORED, 2)
    assert row(identifier).failure is None


@pytest.mark.full
def test_a_child_that_is_asked_nothing_more_is_ended_and_another_scores_what_comes_next(
    arena: Arena, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    limited(settings, monkeypatch, scoring_idle_s=0)
    identifiers = [submitted(arena, seed=seed) for seed in (1, 2)]
    for identifier in identifiers:
        score.score(str(identifier))
        assert (row(identifier).state, row(identifier).attempt) == (State.SCORED, 1)
        assert eventually(lambda: child_manager.keeper.child is None)


@pytest.mark.full
def test_a_child_is_replaced_when_it_has_scored_as_much_as_it_may(
    arena: Arena, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    limited(settings, monkeypatch, scoring_recycle_after=2)
    left = []
    for seed in (1, 2):
        score.score(str(submitted(arena, seed=seed)))
        left.append(child_manager.keeper.child)
    assert left[0] is not None
    assert left[0].process.returncode is not None
    assert left[1] is None


def limited(settings: Settings, monkeypatch: pytest.MonkeyPatch, **limits: int) -> None:
    child_manager.keeper.discard()
    monkeypatch.setattr(score, "get_settings", lambda: settings.model_copy(update=limits))
    monkeypatch.setattr(child_manager.keeper, "child", None)


@pytest.mark.full
def test_scoring_beyond_the_time_limit_ends_in_error_with_the_reason(
    arena: Arena, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    identifier = submitted(arena)
    limited(settings, monkeypatch, scoring_time_limit_s=0)
    score.score(str(identifier))
    assert row(identifier).state == State.ERROR
    assert reason_of(identifier) == ("time_limit", {"limit": 0})


@pytest.mark.full
def test_scoring_that_never_fits_into_memory_ends_in_error(
    arena: Arena, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    identifier = submitted(arena)
    limited(settings, monkeypatch, scoring_memory_mb=64)
    for _ in range(4):
        score.score(str(identifier))
    child_manager.keeper.discard()
    assert row(identifier).state == State.ERROR
    failure = row(identifier).failure
    assert failure
    assert "memory" in str(failure.message)


@pytest.mark.full
def test_a_database_that_is_away_is_said_to_be_unavailable(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sqlalchemy import create_engine
    from sqlalchemy.orm import sessionmaker

    from app.db import engine

    nowhere = create_engine("postgresql+psycopg://nobody@/none?host=/nonexistent")
    monkeypatch.setattr(engine, "session_factory", lambda: sessionmaker(nowhere))
    with pytest.raises(Unavailable), transaction() as session:
        session.execute(text("SELECT 1"))


@pytest.mark.full
def test_who_has_lost_a_claim_neither_ends_nor_gives_back_what_another_has(arena: Arena) -> None:
    identifier = submitted(arena)
    late, now = taken(identifier, lease=timedelta(0)), taken(identifier)
    fault = Statement("scoring_failed", Message("a fault of ours"))
    with transaction() as session:
        assert not leases.fail(session, Evaluation, identifier, late.attempt, fault)
        leases.give_back(session, Evaluation, identifier, late.attempt, fault)
        leases.excuse(session, Evaluation, identifier, late.attempt, fault)
        leases.miss(session, Evaluation, identifier, late.attempt, fault, patience=timedelta(0))
    found = row(identifier)
    assert (found.state, found.attempt, found.failure) == (State.SCORING, now.attempt, None)
    assert recorded(now)
