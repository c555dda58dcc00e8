"""The clock's rounds: a failing competition or an unreachable service delays nothing else."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import create_engine, select, update
from sqlalchemy.orm import Session, sessionmaker
from structlog.testing import capture_logs

from app.config import get_settings
from app.core.db import engine
from app.core.db.models import Competition
from app.core.db.transaction import transaction
from app.jobs import health, queue
from app.lifecycle import contest_lifecycle
from tests.support.contest import Contest, InProcessTransitions, load_round_id, run_clock
from workers.clock import Clock

pytestmark = pytest.mark.full


@pytest.fixture
def contests(client: TestClient) -> tuple[Contest, Contest]:
    """Two contests whose first deadline has passed; the clock checks them in this order."""
    pair = Contest.create(client, slug="stuck"), Contest.create(client, slug="free")
    for contest in pair:
        contest.move_phases(anonymization=(-3, -2), reidentification=(-1, 1))
    return pair


def read_heartbeats() -> dict[str, float]:
    with transaction() as session:
        return health.load_heartbeat_ages(session)


@contextmanager
def hold_lock(slug: str) -> Iterator[None]:
    """Hold the competition's lock on another connection."""
    with engine.get_engine().begin() as connection:
        connection.execute(select(Competition.id).where(Competition.slug == slug).with_for_update())
        yield


def test_locked_competition_does_not_delay_others(contests: tuple[Contest, Contest]) -> None:
    stuck_contest, free_contest = contests
    with hold_lock("stuck"), capture_logs() as logs:
        run_clock()
        assert (stuck_contest.get_state(), free_contest.get_state()) == ("settling", "reidentification")
    failed_rounds = {line["round"] for line in logs if line["event"] == "turning_failed"}
    assert failed_rounds == {str(load_round_id("stuck"))}
    run_clock()
    assert stuck_contest.get_state() == "reidentification"


def test_unreadable_competition_file_does_not_delay_others(contests: tuple[Contest, Contest]) -> None:
    stuck_contest, free_contest = contests
    with transaction() as session:
        file = session.scalars(select(Competition.file).where(Competition.slug == "stuck")).one()
        session.execute(update(Competition).where(Competition.slug == "stuck").values(file="format = 0"))
    with capture_logs() as logs:
        run_clock()
    assert [line["event"] for line in logs].count("competition_unreadable") == 1
    assert free_contest.get_state() == "reidentification"
    with transaction() as session:
        session.execute(update(Competition).where(Competition.slug == "stuck").values(file=file))
    run_clock()
    assert stuck_contest.get_state() == "reidentification"


def test_unexpected_error_stops_neither_others_nor_the_heartbeat(
    contests: tuple[Contest, Contest], monkeypatch: pytest.MonkeyPatch
) -> None:
    stuck_contest, free_contest = contests
    stuck_id, freeze = load_round_id("stuck"), contest_lifecycle.freeze

    def freeze_or_fail(session: Session, identifier: UUID) -> bool:
        if identifier == stuck_id:
            raise ZeroDivisionError("canary")
        return freeze(session, identifier)

    monkeypatch.setattr(contest_lifecycle, "freeze", freeze_or_fail)
    with capture_logs() as logs:
        run_clock()
    failures = {(line["round"], line["reason"]) for line in logs if line["event"] == "turning_failed"}
    assert failures == {(str(stuck_id), "ZeroDivisionError")}
    assert (stuck_contest.get_state(), free_contest.get_state()) == ("settling", "reidentification")
    assert "turn" in read_heartbeats()


def test_failed_transition_is_retried_with_growing_delays(client: TestClient) -> None:
    clock = Clock(get_settings(), InProcessTransitions())
    identifier = UUID(int=1)
    lengths = []
    for _ in range(9):
        clock.postpone(identifier)
        lengths.append(clock.retries[identifier][1])
    assert lengths == [1, 2, 4, 8, 16, 32, 60, 60, 60]


def test_unreachable_database_is_logged_once_until_recovery(
    contests: tuple[Contest, Contest], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, free_contest = contests
    clock = Clock(get_settings(), InProcessTransitions())
    unreachable = create_engine("postgresql+psycopg://nobody@/none?host=/nonexistent")
    with capture_logs() as logs:
        with monkeypatch.context() as patch:
            patch.setattr(engine, "get_session_factory", lambda: sessionmaker(unreachable))
            for _ in range(3):
                clock.tick()
        for _ in range(3):
            clock.tick()
    events = [line["event"] for line in logs if line["event"].startswith("clock_")]
    assert events == ["clock_hindered", "clock_goes_again"]
    assert free_contest.get_state() == "reidentification"


def test_competitions_change_phase_without_a_queue(
    contests: tuple[Contest, Contest], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse_connection(*_: Any, **__: Any) -> None:
        raise ConnectionRefusedError

    monkeypatch.setattr(queue.celery, "connection_for_read", refuse_connection)
    monkeypatch.setattr(queue.celery, "connection_for_write", refuse_connection)
    clock = Clock(get_settings(), InProcessTransitions())
    for _ in range(2):
        clock.tick()
    assert {contest.get_state() for contest in contests} == {"reidentification"}
    assert {"turn", "sweep"} <= set(read_heartbeats())
