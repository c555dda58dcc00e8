"""Judging guesses when processes, files, keys and queues fail: each is judged once or returned."""

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
from app.services.attacks.guesses import GuessClaim, claim_next, record
from app.services.jobs import queue
from tests.support.contest import Contest, build_outcome, judge_everything, run_clock
from tests.support.queue import clear_retry_delays, empty_queue
from tests.support.stored_files import build_blob_path
from workers import clock, judge, readiness

RIGHT = 7


@dataclass
class PendingGuess:
    """A guess that is right on ``RIGHT`` rows and waits to be judged."""

    contest: Contest
    guess: UUID

    @property
    def row(self) -> Guess:
        with transaction() as session:
            return session.get_one(Guess, self.guess)


@pytest.fixture
def pending_guess(client: TestClient) -> PendingGuess:
    contest = Contest.create(client)
    red = contest.submit("red")
    contest.arena.get_team_token("blue")
    contest.open_attacks()
    target = contest.find_target(red)["id"]
    response = contest.submit_guess("blue", target, contest.build_guess(red, RIGHT))
    return PendingGuess(contest, UUID(response.json()["id"]))


def claim_guess(pending_guess: PendingGuess, *, lease: timedelta = timedelta(0)) -> GuessClaim:
    with transaction() as session:
        claimed = claim_next(session, lease=lease, attempts=3)
    assert claimed is not None
    return claimed


def backdate_guesses(pending_guess: PendingGuess) -> None:
    with transaction() as session:
        session.execute(text("UPDATE guesses SET created_at = created_at - interval '1 minute'"))


def test_a_guess_is_judged_once_however_often_it_is_delivered(pending_guess: PendingGuess) -> None:
    with ThreadPoolExecutor(6) as pool:
        for future in [pool.submit(judge.judge, str(pending_guess.guess)) for _ in range(12)]:
            future.result()
    row = pending_guess.row
    assert (row.state, row.correct, row.attempt) == (State.SCORED, RIGHT, 1)


@pytest.mark.full
def test_a_worker_that_comes_too_late_records_nothing(pending_guess: PendingGuess) -> None:
    slow, quick = claim_guess(pending_guess), claim_guess(pending_guess)
    with transaction() as session:
        assert record(session, quick, outcome=build_outcome(RIGHT))
    with transaction() as session:
        assert not record(session, slow, outcome=build_outcome(0))
    assert (pending_guess.row.correct, pending_guess.row.attempt) == (RIGHT, 2)


@pytest.mark.full
def test_a_guess_whose_worker_was_killed_is_requeued(pending_guess: PendingGuess) -> None:
    claim_guess(pending_guess)
    empty_queue()
    clock.sweep()
    assert queue.count_messages() == 1
    judge.judge(str(pending_guess.guess))
    assert (pending_guess.row.state, pending_guess.row.attempt) == (State.SCORED, 2)


@pytest.mark.full
def test_a_guess_whose_message_is_lost_is_requeued(pending_guess: PendingGuess) -> None:
    backdate_guesses(pending_guess)
    empty_queue()
    clock.sweep()
    assert queue.count_messages() == 1


@pytest.mark.full
def test_a_guess_that_kills_its_workers_ends_in_error_and_the_contest_goes_on(
    pending_guess: PendingGuess,
) -> None:
    for _ in range(3):
        claim_guess(pending_guess)
    judge.judge(str(pending_guess.guess))
    assert (pending_guess.row.state, pending_guess.row.correct) == (State.ERROR, None)
    assert pending_guess.row.failure
    assert (pending_guess.row.failure.code, pending_guess.row.failure.message.values["times"]) == (
        "attempts_used_up",
        3,
    )
    pending_guess.contest.move_phases(reidentification=(-1, -0.1))
    run_clock()
    assert pending_guess.contest.get_state() == "closed"


def test_the_contest_closes_only_when_the_last_guess_is_judged(pending_guess: PendingGuess) -> None:
    pending_guess.contest.move_phases(reidentification=(-1, -0.1))
    run_clock()
    assert pending_guess.contest.get_state() == "settling"
    claim_guess(pending_guess, lease=timedelta(minutes=1))
    run_clock()
    assert pending_guess.contest.get_state() == "settling"
    with transaction() as session:
        session.execute(text("UPDATE guesses SET leased_until = now() - interval '1 second'"))
    judge.judge(str(pending_guess.guess))
    run_clock()
    assert pending_guess.contest.get_state() == "closed"


@pytest.mark.full
def test_a_guess_that_cannot_be_read_for_a_while_is_tried_again(
    pending_guess: PendingGuess, settings: Settings
) -> None:
    blob = build_blob_path(settings.data, pending_guess.row.file)
    content = blob.read_bytes()
    blob.unlink()
    judge.judge(str(pending_guess.guess))
    assert (pending_guess.row.state, pending_guess.row.failure and pending_guess.row.failure.code) == (
        State.QUEUED,
        "file_lost",
    )
    blob.write_bytes(content)
    clear_retry_delays()
    judge.judge(str(pending_guess.guess))
    assert (pending_guess.row.state, pending_guess.row.correct, pending_guess.row.failure) == (
        State.SCORED,
        RIGHT,
        None,
    )


@pytest.mark.full
def test_a_missing_key_delays_a_guess_and_loses_nothing(
    pending_guess: PendingGuess, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    keyless = settings.model_copy(update={"opening_keys_dir": None})
    monkeypatch.setattr(judge, "get_settings", lambda: keyless)
    judge.judge(str(pending_guess.guess))
    assert pending_guess.row.state == State.QUEUED
    assert pending_guess.row.failure
    assert pending_guess.row.failure.code == "opening_key_missing"
    monkeypatch.undo()
    clear_retry_delays()
    judge.judge(str(pending_guess.guess))
    assert pending_guess.row.correct == RIGHT


@pytest.mark.full
def test_a_guess_is_left_to_the_sweep_while_the_database_is_unreachable(
    pending_guess: PendingGuess, monkeypatch: pytest.MonkeyPatch
) -> None:
    unreachable = create_engine("postgresql+psycopg://nobody@/none?host=/nonexistent")
    with monkeypatch.context() as patch:
        patch.setattr(engine, "get_session_factory", lambda: sessionmaker(unreachable))
        patch.setattr(readiness, "READY_TIMEOUT_S", 0.0)
        with suppress(Ignore):  # the worker may have been ready a moment before
            judge.judge(str(pending_guess.guess))
        with pytest.raises(Unavailable):
            clock.sweep()
    clear_retry_delays()
    backdate_guesses(pending_guess)
    empty_queue()
    clock.sweep()
    judge.judge(str(pending_guess.guess))
    assert pending_guess.row.correct == RIGHT


@pytest.mark.full
def test_an_unreachable_queue_delays_the_judging_and_never_the_guess(
    pending_guess: PendingGuess, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse_connection(*_: object, **__: object) -> None:
        raise ConnectionRefusedError

    contest = pending_guess.contest
    with transaction() as session:
        target = str(session.scalars(select(Guess.target_id)).one())
    with monkeypatch.context() as patch:
        patch.setattr(queue.celery, "send_task", refuse_connection)
        patch.setattr(queue.celery, "connection_for_read", refuse_connection)
        response = contest.submit_guess("blue", target, contest.build_guess(next(iter(contest.secrets)), 3))
        assert response.status_code == 202
        assert queue.count_messages() is None
        clock.sweep()
    judge_everything()
    with transaction() as session:
        assert sorted(guess.correct or 0 for guess in session.scalars(select(Guess))) == [3, RIGHT]


@pytest.mark.full
def test_a_guess_of_a_disqualified_team_is_judged_and_counts_only_after_reinstatement(
    pending_guess: PendingGuess,
) -> None:
    contest = pending_guess.contest
    with transaction() as session:
        team = session.get_one(Guess, pending_guess.guess).team_id
    assert contest.post_as_organizer(f"{contest.path}/teams/{team}/disqualify").status_code == 200
    judge.judge(str(pending_guess.guess))
    assert pending_guess.row.correct == RIGHT
    assert [row["team"] for row in contest.get_board("reidentification", organizer=True)["rows"]] == ["red"]
    assert contest.post_as_organizer(f"{contest.path}/teams/{team}/reinstate").status_code == 200
    rows = contest.get_board("reidentification", organizer=True)["rows"]
    assert rows[0]["identified"] == RIGHT
