"""What an upload costs the database: few questions, nothing slow under its locks, few bells."""

from collections.abc import Callable
from datetime import timedelta

import pytest
import redis
from fastapi.testclient import TestClient
from sqlalchemy import QueuePool

from app.config import Settings
from app.db import engine
from app.db.transaction import transaction
from app.http.redis_client import redis_py_url
from app.services.jobs import queue
from app.services.submissions import evaluations
from app.services.submissions.evaluations import Claim
from app.storage.store import Store
from tests.support.arena import Arena
from tests.support.contest import Contest
from tests.support.query_counter import asked
from tests.support.wait import eventually

pytestmark = pytest.mark.full

MOST_STATEMENTS = 21
MOST_OF_A_VERDICT = 9
"""With two for a savepoint."""


def test_an_upload_asks_the_database_a_few_things_however_many_came_before(arena: Arena) -> None:
    counts = []
    for seed in range(1, 5):
        with asked() as noted:
            assert arena.submit("red", seed=seed).status_code == 202
        counts.append(len(noted.statements))
    signing_up = counts[0] - counts[1]
    assert signing_up > 0
    assert counts[1:] == [counts[1]] * 3
    assert counts[1] <= MOST_STATEMENTS


@pytest.fixture
def connections_at_put(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many connections to the database were in use at each writing to the store."""
    put: Callable[[Store, bytes], str] = Store.put
    found: list[int] = []

    def watched(store: Store, content: bytes) -> str:
        pool = engine.get_engine().pool
        assert isinstance(pool, QueuePool)
        found.append(pool.checkedout())
        return put(store, content)

    monkeypatch.setattr(Store, "put", watched)
    return found


def test_nothing_is_locked_while_a_guess_is_stored(client: TestClient, connections_at_put: list[int]) -> None:
    contest = Contest.opened(client)
    red = contest.submit("red")
    contest.attack()
    target = contest.target_of(red)["id"]
    guess = contest.right_on(red, 3)
    contest.arena.team("blue")
    del connections_at_put[:]
    assert contest.guess("blue", target, guess).status_code == 202
    assert connections_at_put == [0]


def test_nothing_is_locked_while_a_release_is_stored(arena: Arena, connections_at_put: list[int]) -> None:
    arena.team("red")
    del connections_at_put[:]
    assert arena.submit("red").status_code == 202
    assert connections_at_put == [0]


def connections_made(settings: Settings) -> int:
    with redis.Redis.from_url(redis_py_url(settings.redis_url)) as client:
        return int(client.info("stats")["total_connections_received"])


def test_ringing_opens_no_connection_of_its_own(settings: Settings) -> None:
    queue.publish([queue.SCORE])
    before = connections_made(settings)
    for _ in range(5):
        queue.publish([queue.SCORE, queue.JUDGE])
    assert connections_made(settings) == before + 1  # which asks
    assert queue.depths() == {queue.SCORE: 6, queue.JUDGE: 5, queue.ADVISE: 0}


def test_a_ring_after_the_queue_has_closed_its_connections_is_heard(settings: Settings) -> None:
    queue.publish([queue.SCORE])
    with redis.Redis.from_url(redis_py_url(settings.redis_url)) as client:
        client.client_kill_filter(_type="normal", skipme=True)
    queue.publish([queue.SCORE])
    assert eventually(lambda: queue.depths() == {queue.SCORE: 2, queue.JUDGE: 0, queue.ADVISE: 0})


def test_a_claim_and_a_verdict_are_a_few_statements_however_much_waits(arena: Arena) -> None:
    for seed in range(1, 5):
        assert arena.submit("red", seed=seed).status_code == 202
    counts = []
    for _ in range(2):
        with asked() as noted:
            claimed = claim()
            record(claimed)
        counts.append(len(noted.statements))
    assert counts[0] == counts[1] <= MOST_OF_A_VERDICT


def claim() -> Claim:
    with transaction() as session:
        claimed = evaluations.claim_next(session, lease=timedelta(minutes=1), attempts=3)
    assert claimed is not None
    return claimed


def record(claimed: Claim) -> None:
    with transaction() as session:
        assert evaluations.record(session, claimed, verdict={"verdict": "accepted"}, scorer="0")
