"""Lists of competitions: as quick for hundreds as for one."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import insert, select

from app.db.models import Competition
from app.db.transaction import transaction
from app.services.attacks import contest_lifecycle
from app.services.contests import competitions, guess_terms, phases
from app.services.contests.contest import parsed
from tests.support.arena import API, competition_file
from tests.support.query_counter import asked

pytestmark = pytest.mark.full

MANY = 30


def add(number: int, *, first: int = 0) -> None:
    """So many competitions in all states, with their files only."""
    now, day = datetime.now(UTC), timedelta(days=1)
    rows = []
    for each in range(first, first + number):
        opens = float(each % 5 - 3)
        file = competition_file(f"cup-{each}", opens=opens, closes=opens + 2.5)
        row = {"slug": f"cup-{each}", "file": file, "scales": {}, "original": {}}
        rows.append(row | {"paused_at": now - day if each % 3 == 0 else None, "created_at": now - each * day})
    with transaction() as session:
        session.execute(insert(Competition), rows)


ASKING: dict[str, Callable[[TestClient], object]] = {
    "the list of the API": lambda client: client.get(f"{API}/competitions").text,
    "the clock's question": lambda _: due(),
}


def due() -> object:
    with transaction() as session:
        return contest_lifecycle.due(session)


@pytest.mark.parametrize("ask", ASKING.values(), ids=ASKING.keys())
def test_many_competitions_take_as_many_statements_as_one(
    client: TestClient, ask: Callable[[TestClient], object]
) -> None:
    add(1)
    ask(client)  # a new connection asks things of its own
    with asked() as of_one:
        before = ask(client)
    add(MANY, first=1)
    with asked() as of_many:
        after = ask(client)
    assert len(of_many.statements) == len(of_one.statements) <= 4
    assert after != before


def test_all_standings_are_those_of_each_competition_by_itself(client: TestClient) -> None:
    add(MANY)
    with transaction() as session:
        rows = competitions.listed(session)
        alone = [(row.slug, one.state, one.paused) for row in rows for one in [phases.standing(session, row)]]
    together = client.get(f"{API}/competitions").json()
    assert [(one["slug"], one["state"], one["paused"]) for one in together] == alone
    assert {one["state"] for one in together} == {"draft", "anonymization", "settling"}


def test_due_are_exactly_those_whose_deadline_has_passed_by_their_own_clock(client: TestClient) -> None:
    add(MANY)
    with transaction() as session:
        rows = session.scalars(select(Competition)).all()
        for row in rows:
            guess_terms.note(session, row.id)
        ended = {row.id for row in rows if phases.has_ended(session, row, phases.ANONYMIZATION)}
        found = contest_lifecycle.due(session).due
    assert set(found) == ended
    assert 0 < len(found) < MANY
    assert found == [row.id for row in sorted(rows, key=lambda row: row.created_at) if row.id in ended]


def test_the_files_of_hundreds_of_competitions_stay_read(client: TestClient) -> None:
    add(200)
    client.get("/")
    before = parsed.cache_info().misses
    client.get("/")
    client.get(f"{API}/competitions")
    assert parsed.cache_info().misses == before
