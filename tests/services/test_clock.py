"""The clock's rounds: one competition in trouble, or a part that is away, holds up nothing else."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import create_engine, select, text, update
from sqlalchemy.orm import Session, sessionmaker
from structlog.testing import capture_logs

from app.config import Settings, get_settings
from app.db import engine
from app.db.models import Competition
from app.db.transaction import transaction
from app.services.attacks import contest_lifecycle
from app.services.jobs import health, queue
from tests.support.contest import Contest, Here, competition_id, turn
from tests.support.phase_changes import acts, quick
from workers.clock import Clock

pytestmark = pytest.mark.full


@pytest.fixture
def two(client: TestClient) -> tuple[Contest, Contest]:
    """Two contests whose first deadline has passed; the first is looked at first."""
    made = Contest.opened(client, slug="stuck"), Contest.opened(client, slug="free")
    for one in made:
        one.move(anonymization=(-3, -2), reidentification=(-1, 1))
    return made


def beats() -> dict[str, float]:
    with transaction() as session:
        return health.heartbeats(session)


@contextmanager
def held(slug: str) -> Iterator[None]:
    """Another connection has the competition's lock."""
    with engine.get_engine().begin() as connection:
        connection.execute(select(Competition.id).where(Competition.slug == slug).with_for_update())
        yield


def test_a_competition_that_somebody_holds_delays_no_other(two: tuple[Contest, Contest]) -> None:
    stuck, free = two
    with held("stuck"), capture_logs() as said:
        turn()
        assert (stuck.state(), free.state()) == ("settling", "reidentification")
    told = {line["competition"] for line in said if line["event"] == "turning_failed"}
    assert told == {str(competition_id("stuck"))}
    turn()
    assert stuck.state() == "reidentification"


def test_a_competition_whose_file_says_nothing_delays_no_other_and_is_told_once(
    two: tuple[Contest, Contest],
) -> None:
    stuck, free = two
    with transaction() as session:
        kept = session.scalars(select(Competition.file).where(Competition.slug == "stuck")).one()
        session.execute(update(Competition).where(Competition.slug == "stuck").values(file="format = 0"))
    with capture_logs() as said:
        turn()
    assert [line["event"] for line in said].count("competition_unreadable") == 1
    assert free.state() == "reidentification"
    with transaction() as session:
        session.execute(update(Competition).where(Competition.slug == "stuck").values(file=kept))
    turn()
    assert stuck.state() == "reidentification"


def test_an_error_that_nobody_expected_in_one_competition_stops_neither_the_others_nor_the_beat(
    two: tuple[Contest, Contest], monkeypatch: pytest.MonkeyPatch
) -> None:
    stuck, free = two
    broken, freeze = competition_id("stuck"), contest_lifecycle.freeze

    def failing(session: Session, identifier: UUID) -> bool:
        if identifier == broken:
            raise ZeroDivisionError("canary")
        return freeze(session, identifier)

    monkeypatch.setattr(contest_lifecycle, "freeze", failing)
    with capture_logs() as said:
        turn()
    told = {(line["competition"], line["reason"]) for line in said if line["event"] == "turning_failed"}
    assert told == {(str(broken), "ZeroDivisionError")}
    assert (stuck.state(), free.state()) == ("settling", "reidentification")
    assert "turn" in beats()


def test_what_fails_is_tried_again_after_a_pause_that_grows(client: TestClient) -> None:
    clock = Clock(get_settings(), Here())
    one = UUID(int=1)
    lengths = []
    for _ in range(9):
        clock.postpone(one)
        lengths.append(clock.pauses[one].length)
    assert lengths == [1, 2, 4, 8, 16, 32, 60, 60, 60]


def test_a_database_that_is_away_is_told_once_and_the_clock_goes_on_when_it_is_back(
    two: tuple[Contest, Contest], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, free = two
    clock = Clock(get_settings(), Here())
    nowhere = create_engine("postgresql+psycopg://nobody@/none?host=/nonexistent")
    with capture_logs() as said:
        with monkeypatch.context() as away:
            away.setattr(engine, "session_factory", lambda: sessionmaker(nowhere))
            for _ in range(3):
                clock.round()
        for _ in range(3):
            clock.round()
    told = [line["event"] for line in said if line["event"].startswith("clock_")]
    assert told == ["clock_hindered", "clock_goes_again"]
    assert free.state() == "reidentification"


def test_without_a_queue_competitions_turn_all_the_same(
    two: tuple[Contest, Contest], monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: Any, **__: Any) -> None:
        raise ConnectionRefusedError

    monkeypatch.setattr(queue.celery, "connection_for_read", away)
    monkeypatch.setattr(queue.celery, "connection_for_write", away)
    clock = Clock(get_settings(), Here())
    for _ in range(2):
        clock.round()
    assert {one.state() for one in two} == {"reidentification"}
    assert {"turn", "sweep"} <= set(beats())


def test_a_competition_that_waits_for_scores_is_left_to_those_who_upload(
    client: TestClient, settings: Settings
) -> None:
    """While it settles, a round does not hold the competition's lock for longer than a look."""
    contest = Contest.opened(client)
    contest.submit("red", scored=False)
    contest.move(anonymization=(-3, -2), reidentification=(1, 2))
    stopped = threading.Event()

    def tick() -> None:
        while not stopped.is_set():
            turn()

    ticking = threading.Thread(target=tick)
    ticking.start()
    with engine.get_engine().begin() as connection:
        connection.execute(text("SET LOCAL lock_timeout = '30s'"))
        for _ in range(20):
            connection.execute(select(Competition.id).with_for_update(read=True))
    stopped.set()
    ticking.join()
    assert contest.state() == "settling"


def test_a_turn_of_every_step_beats_and_leaves_one_entry_each(client: TestClient) -> None:
    contest = Contest.opened(client)
    quick(contest, "red")
    contest.move(anonymization=(-3, -2), reidentification=(-1, -0.5))
    turn()
    assert contest.state() == "closed"
    turns = ("finals.freeze", "targets.publish", "competition.close", "secrets.reveal")
    assert [act for act in acts() if act in turns] == list(turns)
