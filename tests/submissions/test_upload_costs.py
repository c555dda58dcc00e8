"""Database and queue costs of an upload: queries, locks and connections."""

from collections.abc import Callable

import pytest
import redis
from sqlalchemy import QueuePool

from app.config import Settings
from app.core.db import engine
from app.core.db.transaction import transaction
from app.core.http.redis_client import convert_celery_url
from app.core.storage.store import Store
from app.jobs import queue
from app.submissions import evaluations
from app.submissions.evaluations import EvaluationClaim
from tests.support.arena import Arena
from tests.support.contest import Contest
from tests.support.query_counter import log_queries

pytestmark = pytest.mark.full

MAX_UPLOAD_STATEMENTS = 21
MAX_VERDICT_STATEMENTS = 10
"""Two of these are for a savepoint, and one inserts the verdict, which has a table of its own."""


def test_upload_needs_a_constant_number_of_queries(arena: Arena) -> None:
    counts = []
    for seed in range(1, 5):
        with log_queries() as queries:
            assert arena.submit("red", seed=seed).status_code == 202
        counts.append(len(queries.statements))
    sign_up_statements = counts[0] - counts[1]
    assert sign_up_statements > 0
    assert counts[1:] == [counts[1]] * 3
    assert counts[1] <= MAX_UPLOAD_STATEMENTS


@pytest.fixture
def connections_at_store(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Database connections in use at each write to the store."""
    put_content: Callable[[Store, bytes], str] = Store.save
    counts: list[int] = []

    def put_and_count(store: Store, content: bytes) -> str:
        pool = engine.get_engine().pool
        assert isinstance(pool, QueuePool)
        counts.append(pool.checkedout())
        return put_content(store, content)

    monkeypatch.setattr(Store, "save", put_and_count)
    return counts


def test_no_locks_are_held_while_a_guess_is_stored(contest: Contest, connections_at_store: list[int]) -> None:
    (red,) = contest.publish_targets("red")
    target = contest.find_target(red)["id"]
    guess = contest.build_guess(red, 3)
    contest.arena.get_team_token("blue")
    del connections_at_store[:]
    assert contest.submit_guess("blue", target, guess).status_code == 202
    assert connections_at_store == [0]


def test_no_locks_are_held_while_a_release_is_stored(arena: Arena, connections_at_store: list[int]) -> None:
    arena.get_team_token("red")
    del connections_at_store[:]
    assert arena.submit("red").status_code == 202
    assert connections_at_store == [0]


def count_connections(settings: Settings) -> int:
    with redis.Redis.from_url(convert_celery_url(settings.redis_url)) as client:
        return int(client.info("stats")["total_connections_received"])


def test_publishing_opens_no_extra_connection(settings: Settings) -> None:
    queue.publish([queue.SCORE])
    connections_before = count_connections(settings)
    for _ in range(5):
        queue.publish([queue.SCORE, queue.JUDGE])
    assert count_connections(settings) == connections_before + 1  # the connection of the count itself
    assert queue.count_messages_by_task() == {queue.SCORE: 6, queue.JUDGE: 5, queue.ADVISE: 0}


def test_claim_and_verdict_need_a_constant_number_of_queries(arena: Arena) -> None:
    for seed in range(1, 5):
        assert arena.submit("red", seed=seed).status_code == 202
    counts = []
    for _ in range(2):
        with log_queries() as queries:
            evaluation_claim = claim_next()
            record_verdict(evaluation_claim)
        counts.append(len(queries.statements))
    assert counts[0] == counts[1] <= MAX_VERDICT_STATEMENTS


def claim_next() -> EvaluationClaim:
    with transaction() as session:
        evaluation_claim = evaluations.claim_next(session)
    assert evaluation_claim is not None
    return evaluation_claim


def record_verdict(evaluation_claim: EvaluationClaim) -> None:
    with transaction() as session:
        assert evaluations.record_verdict(
            session, evaluation_claim, verdict={"verdict": "accepted"}, scorer="0"
        )
