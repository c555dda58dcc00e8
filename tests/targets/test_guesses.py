"""Judging guesses when processes, files, keys and queues fail: each is judged once or returned."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import text

from app.core.db.models import Guess, State
from app.core.db.transaction import read_clock, transaction
from app.jobs import queue
from app.targets.guesses import GuessClaim, claim_next, record
from tests.support.contest import Contest, build_outcome, run_clock
from tests.support.database_rows import execute
from tests.support.queue import empty_queue
from workers import clock, tasks

CORRECT_ROWS = 7


@dataclass
class PendingGuess:
    """A guess that waits to be judged and is correct on ``CORRECT_ROWS`` rows."""

    contest: Contest
    guess_id: UUID

    @property
    def row(self) -> Guess:
        with transaction() as session:
            return session.get_one(Guess, self.guess_id)


@pytest.fixture
def pending_guess(client: TestClient) -> PendingGuess:
    contest = Contest.create(client)
    red = contest.submit("red")
    contest.arena.get_team_token("blue")
    contest.open_attacks()
    target = contest.find_target(red)["id"]
    response = contest.submit_guess("blue", target, contest.build_guess(red, CORRECT_ROWS))
    return PendingGuess(contest, UUID(response.json()["id"]))


def claim_guess(pending_guess: PendingGuess, *, lease: timedelta = timedelta(0)) -> GuessClaim:
    with transaction() as session:
        claim = claim_next(session)
        session.get_one(Guess, pending_guess.guess_id).leased_until = read_clock(session) + lease
    assert claim is not None
    return claim


def test_guess_delivered_repeatedly_is_judged_once(pending_guess: PendingGuess) -> None:
    with ThreadPoolExecutor(6) as pool:
        for future in [pool.submit(tasks.judge) for _ in range(12)]:
            future.result()
    row = pending_guess.row
    assert (row.state, row.correct, row.attempt) == (State.SCORED, CORRECT_ROWS, 1)


@pytest.mark.full
@pytest.mark.parametrize(("correct", "expected_count"), [(CORRECT_ROWS - 0.5, None), (7.0, 7)])
def test_fractional_score_is_exact_without_a_count(
    pending_guess: PendingGuess, correct: float, expected_count: int | None
) -> None:
    outcome = build_outcome(CORRECT_ROWS) | {"correct": correct}
    with transaction() as session:
        assert record(session, claim_guess(pending_guess), outcome=outcome)
    row = pending_guess.row
    assert (row.state, row.correct, row.risk) == (State.SCORED, expected_count, outcome["value"])
    assert row.outcome == outcome


@pytest.mark.full
def test_worker_with_an_expired_claim_records_nothing(pending_guess: PendingGuess) -> None:
    expired_claim, current_claim = claim_guess(pending_guess), claim_guess(pending_guess)
    with transaction() as session:
        assert record(session, current_claim, outcome=build_outcome(CORRECT_ROWS))
    with transaction() as session:
        assert not record(session, expired_claim, outcome=build_outcome(0))
    assert (pending_guess.row.correct, pending_guess.row.attempt) == (CORRECT_ROWS, 2)


def test_guess_whose_worker_was_killed_is_requeued(pending_guess: PendingGuess) -> None:
    claim_guess(pending_guess)
    empty_queue()
    clock.sweep()
    assert queue.count_messages() == 1
    tasks.judge()
    assert (pending_guess.row.state, pending_guess.row.attempt) == (State.SCORED, 2)


@pytest.mark.full
def test_guess_that_kills_its_workers_fails_and_the_contest_closes(
    pending_guess: PendingGuess,
) -> None:
    for _ in range(3):
        claim_guess(pending_guess)
    tasks.judge()
    assert (pending_guess.row.state, pending_guess.row.correct) == (State.ERROR, None)
    assert pending_guess.row.failure
    assert (pending_guess.row.failure.code, pending_guess.row.failure.message.values["times"]) == (
        "attempts_used_up",
        3,
    )
    pending_guess.contest.move_phases(reidentification=(-1, -0.1))
    run_clock()
    assert pending_guess.contest.get_state() == "closed"


def test_contest_closes_only_when_the_last_guess_is_judged(pending_guess: PendingGuess) -> None:
    pending_guess.contest.move_phases(reidentification=(-1, -0.1))
    run_clock()
    assert pending_guess.contest.get_state() == "settling"
    claim_guess(pending_guess, lease=timedelta(minutes=1))
    run_clock()
    assert pending_guess.contest.get_state() == "settling"
    execute(text("UPDATE guesses SET leased_until = now() - interval '1 second'"))
    tasks.judge()
    run_clock()
    assert pending_guess.contest.get_state() == "closed"
