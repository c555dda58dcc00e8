"""Lists of competitions need no more queries for many competitions than for one."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from fastapi.testclient import TestClient

from app.core.db.models import Competition, Round
from app.core.db.transaction import transaction
from app.lifecycle import contest_lifecycle
from tests.support.arena import API, build_competition_toml
from tests.support.query_counter import log_queries

pytestmark = pytest.mark.full

COMPETITION_COUNT = 30


def add_competitions(count: int, *, first_index: int = 0) -> None:
    """Insert ``count`` competitions in various states. They have files but no data."""
    now, day = datetime.now(UTC), timedelta(days=1)
    rows = []
    for index in range(first_index, first_index + count):
        opens = float(index % 5 - 3)
        file = build_competition_toml(f"cup-{index}", opens=opens, closes=opens + 2.5)
        created_at = now - index * day
        competition = Competition(
            slug=f"cup-{index}", file=file, created_at=created_at, published_at=created_at
        )
        paused_at = now - day if index % 3 == 0 else None
        rows.append(Round(competition=competition, scales={}, original={}, paused_at=paused_at))
    with transaction() as session:
        session.add_all(rows)


COMPETITION_QUERIES: dict[str, Callable[[TestClient], object]] = {
    "the list of the API": lambda client: client.get(f"{API}/competitions").text,
    "the front page": lambda client: client.get("/").text,
    "the clock's question": lambda _: find_due_work(),
}


def find_due_work() -> object:
    with transaction() as session:
        return contest_lifecycle.find_due_work(session)


@pytest.mark.parametrize("run_query", COMPETITION_QUERIES.values(), ids=COMPETITION_QUERIES.keys())
def test_number_of_queries_does_not_grow_with_the_competitions(
    client: TestClient, run_query: Callable[[TestClient], object]
) -> None:
    add_competitions(1)
    run_query(client)  # a new connection sends queries of its own
    with log_queries() as single_queries:
        first_answer = run_query(client)
    add_competitions(COMPETITION_COUNT, first_index=1)
    with log_queries() as many_queries:
        second_answer = run_query(client)
    assert len(many_queries.statements) == len(single_queries.statements) <= 4
    assert second_answer != first_answer
