"""Judging guesses when processes, files, keys and queues fail: judged once, or given back."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

import pytest
from celery.exceptions import Ignore
from fastapi.testclient import TestClient
from sqlalchemy import create_engine, select, text
from sqlalchemy.orm import sessionmaker

from anoncup.errors import Unavailable
from app.config import Settings
from app.db import engine
from app.db.models import Guess, State
from app.db.transaction import transaction
from app.services.attacks.guesses import Claim, claim_next, record
from app.services.jobs import queue
from tests.support.contest import Contest, judge_everything, linked, turn
from tests.support.queue import empty_queue, rested
from tests.support.stored_files import file_of
from workers import clock, judge, readiness

RIGHT = 7


@dataclass
class Attack:
    """A guess that is right on ``RIGHT`` rows and waits to be judged."""

    contest: Contest
    guess: UUID

    @property
    def row(self) -> Guess:
        with transaction() as session:
            return session.get_one(Guess, self.guess)


@pytest.fixture
def attack(client: TestClient) -> Attack:
    contest = Contest.opened(client)
    red = contest.submit("red")
    contest.arena.team("blue")
    contest.attack()
    target = contest.target_of(red)["id"]
    answer = contest.guess("blue", target, contest.right_on(red, RIGHT))
    return Attack(contest, UUID(answer.json()["id"]))


def claim(attack: Attack, *, lease: timedelta = timedelta(0)) -> Claim:
    with transaction() as session:
        found = claim_next(session, lease=lease, attempts=3)
    assert found is not None
    return found


def age(attack: Attack) -> None:
    with transaction() as session:
        session.execute(text("UPDATE guesses SET created_at = created_at - interval '1 minute'"))


def test_a_guess_is_judged_once_however_often_it_is_delivered(attack: Attack) -> None:
    with ThreadPoolExecutor(6) as pool:
        for done in [pool.submit(judge.judge, str(attack.guess)) for _ in range(12)]:
            done.result()
    row = attack.row
    assert (row.state, row.correct, row.attempt) == (State.SCORED, RIGHT, 1)


@pytest.mark.full
def test_a_worker_that_comes_too_late_records_nothing(attack: Attack) -> None:
    slow, quick = claim(attack), claim(attack)
    with transaction() as session:
        assert record(session, quick, outcome=linked(RIGHT))
    with transaction() as session:
        assert not record(session, slow, outcome=linked(0))
    assert (attack.row.correct, attack.row.attempt) == (RIGHT, 2)


@pytest.mark.full
def test_a_guess_whose_worker_was_killed_is_asked_for_again(attack: Attack) -> None:
    claim(attack)
    empty_queue()
    clock.sweep()
    assert queue.depth() == 1
    judge.judge(str(attack.guess))
    assert (attack.row.state, attack.row.attempt) == (State.SCORED, 2)


@pytest.mark.full
def test_a_guess_whose_message_is_lost_is_asked_for_again(attack: Attack) -> None:
    age(attack)
    empty_queue()
    clock.sweep()
    assert queue.depth() == 1


@pytest.mark.full
def test_a_guess_that_kills_its_workers_ends_in_error_and_the_contest_goes_on(attack: Attack) -> None:
    for _ in range(3):
        claim(attack)
    judge.judge(str(attack.guess))
    assert (attack.row.state, attack.row.correct) == (State.ERROR, None)
    assert attack.row.failure
    assert (attack.row.failure.code, attack.row.failure.message.values["times"]) == ("attempts_used_up", 3)
    attack.contest.move(reidentification=(-1, -0.1))
    turn()
    assert attack.contest.state() == "closed"


def test_the_contest_closes_only_when_the_last_guess_is_judged(attack: Attack) -> None:
    attack.contest.move(reidentification=(-1, -0.1))
    turn()
    assert attack.contest.state() == "settling"
    claim(attack, lease=timedelta(minutes=1))
    turn()
    assert attack.contest.state() == "settling"
    with transaction() as session:
        session.execute(text("UPDATE guesses SET leased_until = now() - interval '1 second'"))
    judge.judge(str(attack.guess))
    turn()
    assert attack.contest.state() == "closed"


@pytest.mark.full
def test_a_guess_that_cannot_be_read_for_a_while_is_tried_again(attack: Attack, settings: Settings) -> None:
    blob = file_of(settings.data, attack.row.file)
    kept = blob.read_bytes()
    blob.unlink()
    judge.judge(str(attack.guess))
    assert (attack.row.state, attack.row.failure and attack.row.failure.code) == (State.QUEUED, "file_lost")
    blob.write_bytes(kept)
    rested()
    judge.judge(str(attack.guess))
    assert (attack.row.state, attack.row.correct, attack.row.failure) == (State.SCORED, RIGHT, None)


@pytest.mark.full
def test_a_missing_key_delays_a_guess_and_loses_nothing(
    attack: Attack, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    keyless = settings.model_copy(update={"opening_keys_dir": None})
    monkeypatch.setattr(judge, "get_settings", lambda: keyless)
    judge.judge(str(attack.guess))
    assert attack.row.state == State.QUEUED
    assert attack.row.failure
    assert attack.row.failure.code == "opening_key_missing"
    monkeypatch.undo()
    rested()
    judge.judge(str(attack.guess))
    assert attack.row.correct == RIGHT


@pytest.mark.full
def test_a_database_that_is_away_leaves_the_guess_to_the_sweep(
    attack: Attack, monkeypatch: pytest.MonkeyPatch
) -> None:
    nowhere = create_engine("postgresql+psycopg://nobody@/none?host=/nonexistent")
    with monkeypatch.context() as away:
        away.setattr(engine, "session_factory", lambda: sessionmaker(nowhere))
        away.setattr(readiness, "WAITING_S", 0.0)
        with suppress(Ignore):  # it may have found itself fit a moment before
            judge.judge(str(attack.guess))
        with pytest.raises(Unavailable):
            clock.sweep()
    rested()
    age(attack)
    empty_queue()
    clock.sweep()
    judge.judge(str(attack.guess))
    assert attack.row.correct == RIGHT


@pytest.mark.full
def test_a_queue_that_is_away_delays_the_judging_and_never_the_guess(
    attack: Attack, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: object, **__: object) -> None:
        raise ConnectionRefusedError

    contest = attack.contest
    with transaction() as session:
        target = str(session.scalars(select(Guess.target_id)).one())
    with monkeypatch.context() as broken:
        broken.setattr(queue.celery, "send_task", away)
        broken.setattr(queue.celery, "connection_for_read", away)
        answer = contest.guess("blue", target, contest.right_on(next(iter(contest.secrets)), 3))
        assert answer.status_code == 202
        assert queue.depth() is None
        clock.sweep()
    judge_everything()
    with transaction() as session:
        assert sorted(one.correct or 0 for one in session.scalars(select(Guess))) == [3, RIGHT]


@pytest.mark.full
def test_a_guess_of_a_team_disqualified_meanwhile_is_judged_and_counts_only_when_it_is_back(
    attack: Attack,
) -> None:
    contest = attack.contest
    with transaction() as session:
        team = session.get_one(Guess, attack.guess).team_id
    assert contest.organize(f"{contest.path}/teams/{team}/disqualify").status_code == 200
    judge.judge(str(attack.guess))
    assert attack.row.correct == RIGHT
    assert [row["team"] for row in contest.board("reidentification", organizer=True)["rows"]] == ["red"]
    assert contest.organize(f"{contest.path}/teams/{team}/reinstate").status_code == 200
    rows = contest.board("reidentification", organizer=True)["rows"]
    assert rows[0]["identified"] == RIGHT
