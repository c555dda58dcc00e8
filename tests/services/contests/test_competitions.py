"""Lists of competitions need as few queries for hundreds of competitions as for one."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import insert, select

from app.db.models import Competition
from app.db.transaction import transaction
from app.services.attacks import contest_lifecycle
from app.services.contests import competitions, phases, upload_terms
from app.services.contests.contest import parse_rules
from tests.support.arena import API, build_competition_toml
from tests.support.query_counter import log_queries

pytestmark = pytest.mark.full

MANY = 30


def add_competitions(count: int, *, first: int = 0) -> None:
    """Insert ``count`` competitions in various states, with their files only."""
    now, day = datetime.now(UTC), timedelta(days=1)
    rows = []
    for index in range(first, first + count):
        opens = float(index % 5 - 3)
        file = build_competition_toml(f"cup-{index}", opens=opens, closes=opens + 2.5)
        row = {"slug": f"cup-{index}", "file": file, "scales": {}, "original": {}}
        rows.append(
            row | {"paused_at": now - day if index % 3 == 0 else None, "created_at": now - index * day}
        )
    with transaction() as session:
        session.execute(insert(Competition), rows)


QUERIES: dict[str, Callable[[TestClient], object]] = {
    "the list of the API": lambda client: client.get(f"{API}/competitions").text,
    "the clock's question": lambda _: find_due(),
}


def find_due() -> object:
    with transaction() as session:
        return contest_lifecycle.find_due_work(session)


@pytest.mark.parametrize("run_query", QUERIES.values(), ids=QUERIES.keys())
def test_many_competitions_take_as_many_statements_as_one(
    client: TestClient, run_query: Callable[[TestClient], object]
) -> None:
    add_competitions(1)
    run_query(client)  # a new connection sends queries of its own
    with log_queries() as single_queries:
        first_answer = run_query(client)
    add_competitions(MANY, first=1)
    with log_queries() as many_queries:
        second_answer = run_query(client)
    assert len(many_queries.statements) == len(single_queries.statements) <= 4
    assert second_answer != first_answer


def test_all_standings_are_those_of_each_competition_by_itself(client: TestClient) -> None:
    add_competitions(MANY)
    with transaction() as session:
        rows = competitions.list_competitions(session)
        expected = [
            (row.slug, entry.state, entry.paused)
            for row in rows
            for entry in [phases.get_status(session, row)]
        ]
    listed = client.get(f"{API}/competitions").json()
    assert [(entry["slug"], entry["state"], entry["paused"]) for entry in listed] == expected
    assert {entry["state"] for entry in listed} == {"draft", "anonymization", "settling"}


def test_due_are_exactly_those_whose_deadline_has_passed_by_their_own_clock(client: TestClient) -> None:
    add_competitions(MANY)
    with transaction() as session:
        rows = session.scalars(select(Competition)).all()
        for row in rows:
            upload_terms.record_terms(session, row.id)
        ended = {row.id for row in rows if phases.has_phase_ended(session, row, phases.ANONYMIZATION)}
        due_ids = contest_lifecycle.find_due_work(session).due
    assert set(due_ids) == ended
    assert 0 < len(due_ids) < MANY
    assert due_ids == [row.id for row in sorted(rows, key=lambda row: row.created_at) if row.id in ended]


def test_the_files_of_hundreds_of_competitions_stay_read(client: TestClient) -> None:
    add_competitions(200)
    client.get("/")
    misses = parse_rules.cache_info().misses
    client.get("/")
    client.get(f"{API}/competitions")
    assert parse_rules.cache_info().misses == misses
