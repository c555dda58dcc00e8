"""Live progress streams: their events, when they end, and who may read them."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

import httpx2
import pytest
from fastapi.testclient import TestClient
from sqlalchemy import delete, func, select, text, update

from anoncup.errors import Forbidden, NotFound, TooManyRequests
from anoncup.schemas.roles import Role
from app.db import engine
from app.db.models import Evaluation, Member, Submission, Token, User
from app.db.transaction import transaction
from app.http import progress_stream
from app.http.progress_stream import STREAMS_PER_USER, ProgressHub, Subscriber, stream_progress
from app.services.accounts import users
from app.services.accounts.principal import Principal
from app.services.accounts.tokens import authenticate, hash_token, issue_token, revoke_current
from app.services.jobs import leases
from app.services.submissions import evaluations, progress, submissions
from app.services.submissions.evaluations import EvaluationClaim
from app.services.submissions.progress import EvaluationProgress, Follower
from tests.support.arena import API, PASSWORD, Arena, serial_numbers
from tests.support.database_rows import execute
from tests.support.job_claims import claim_evaluation
from tests.support.uploads import score_everything
from tests.support.wait import TIMEOUT_S

pytestmark = pytest.mark.full

LEASE = timedelta(seconds=30)
VERDICT: dict[str, Any] = {"verdict": "accepted", "overall": 0.5}


def load_principal(token: str) -> Principal:
    with transaction() as session:
        return authenticate(session, token)


def load_progress(principal: Principal, submission_id: str) -> EvaluationProgress:
    with transaction() as session:
        return progress.load_progress(session, principal, UUID(submission_id))


def claim_submission(submission_id: str) -> EvaluationClaim:
    with transaction() as session:
        condition = Evaluation.submission_id == UUID(submission_id)
        identifier = session.scalars(select(Evaluation.id).where(condition)).one()
        return claim_evaluation(session, identifier)


def report_step(claim: EvaluationClaim, number: int) -> None:
    with transaction() as session:
        values = {"step": number, "steps": 9, "step_name": f"step {number}"}
        assert leases.renew(session, Evaluation, claim.evaluation_id, claim.attempt, lease=LEASE, **values)


def record_verdict(claim: EvaluationClaim) -> None:
    with transaction() as session:
        assert evaluations.record_verdict(session, claim, verdict=VERDICT, scorer="test")


@dataclass
class PollCounts:
    """Number of polls, and of failed ones."""

    polls: int = 0
    failures: int = 0


@pytest.fixture
def poll_counts(monkeypatch: pytest.MonkeyPatch) -> PollCounts:
    counts, poll = PollCounts(), progress_stream.load_progress

    def count_poll(followers: Sequence[Follower], recheck: bool) -> dict[Follower, EvaluationProgress]:
        counts.polls += 1
        try:
            return poll(followers, recheck)
        except Exception:
            counts.failures += 1
            raise

    monkeypatch.setattr(progress_stream, "load_progress", count_poll)
    monkeypatch.setattr(progress_stream, "POLL_INTERVAL_S", 0.02)
    monkeypatch.setattr(progress_stream, "RECHECK_INTERVAL_S", 0.0)
    return counts


async def wait_until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(TIMEOUT_S):
        while not condition():
            await asyncio.sleep(0.01)


@asynccontextmanager
async def open_stream(
    hub: ProgressHub, token: str, submission_id: str
) -> AsyncIterator[tuple[Subscriber, AsyncIterator[EvaluationProgress | None]]]:
    principal = load_principal(token)
    follower = Follower(principal.token_id, UUID(submission_id))
    with hub.subscribe(principal.user_id, follower, load_progress(principal, submission_id)) as subscriber:
        yield subscriber, stream_progress(subscriber, ping_every_s=2 * TIMEOUT_S)


async def next_progress(updates: AsyncIterator[EvaluationProgress | None]) -> EvaluationProgress:
    latest = await asyncio.wait_for(anext(updates), TIMEOUT_S)
    assert latest is not None
    return latest


async def has_ended(updates: AsyncIterator[EvaluationProgress | None]) -> bool:
    return await asyncio.wait_for(anext(updates, None), TIMEOUT_S) is None


def parse_events(body: str) -> list[dict[str, str]]:
    blocks = [block for block in body.split("\n\n") if block]
    return [dict(line.split(": ", 1) for line in block.splitlines()) for block in blocks]


def test_stream_of_a_finished_submission_sends_its_state_and_ends(arena: Arena) -> None:
    identifier = arena.submit("red").json()["id"]
    score_everything()
    response = arena.get(f"/submissions/{identifier}/events", team="red")
    assert response.headers["content-type"].startswith("text/event-stream")
    assert response.headers["cache-control"] == "no-store"
    assert response.headers["x-accel-buffering"] == "no"
    retry, done_event = parse_events(response.text)
    assert int(retry["retry"]) > 0
    assert done_event["event"] == "done"
    data = json.loads(done_event["data"])
    assert (data["id"], data["status"], data["queue_position"]) == (identifier, "SCORED", None)
    assert data["step"] == data["steps"] > 10


def test_client_that_saw_the_last_event_does_not_reconnect(arena: Arena) -> None:
    identifier = arena.submit("red").json()["id"]
    score_everything()
    path = f"/api/v1/submissions/{identifier}/events"
    headers = {"Authorization": f"Bearer {arena.get_team_token('red')}"}
    last = parse_events(arena.client.get(path, headers=headers).text)[-1]["id"]
    assert arena.client.get(path, headers=headers | {"Last-Event-ID": last}).status_code == 204
    assert arena.client.get(path, headers=headers | {"Last-Event-ID": "another"}).status_code == 200


def test_stream_sends_the_current_state_then_changes(arena: Arena, poll_counts: PollCounts) -> None:
    first, second = (arena.submit("red", seed=seed).json()["id"] for seed in (1, 2))

    async def follow() -> None:
        async with open_stream(ProgressHub(), arena.get_team_token("red"), second) as (_, updates):
            current = await next_progress(updates)
            assert (current.state, current.queue_position) == ("QUEUED", 1)
            first_claim = await asyncio.to_thread(claim_submission, first)
            assert (await next_progress(updates)).queue_position == 0
            await asyncio.to_thread(record_verdict, first_claim)
            claim = await asyncio.to_thread(claim_submission, second)
            current = await next_progress(updates)
            assert (current.state, current.attempt, current.queue_position) == ("SCORING", 1, None)
            for number in (1, 2):
                await asyncio.to_thread(report_step, claim, number)
                current = await next_progress(updates)
                assert (current.step, current.steps, current.step_name) == (number, 9, f"step {number}")
            await asyncio.to_thread(record_verdict, claim)
            assert (await next_progress(updates)).state == "SCORED"
            assert await has_ended(updates)

    asyncio.run(follow())


def test_one_poller_serves_all_streams_and_stops_after_the_last(
    arena: Arena, poll_counts: PollCounts
) -> None:
    identifiers = [arena.submit("red", seed=seed).json()["id"] for seed in range(3)]

    async def follow() -> None:
        hub, token = ProgressHub(), arena.get_team_token("red")
        async with open_stream(hub, token, identifiers[0]), open_stream(hub, token, identifiers[1]):
            poller = hub.poller
            async with open_stream(hub, token, identifiers[2]):
                assert hub.poller is poller
                polls_before = poll_counts.polls
                await wait_until(lambda: poll_counts.polls > polls_before + 1)
            assert len(hub.subscribers) == 2
            assert poller is not None
            assert not poller.done()
        assert not hub.subscribers
        await asyncio.wait_for(poller, TIMEOUT_S)
        async with open_stream(hub, token, identifiers[0]):
            assert hub.poller is not poller

    asyncio.run(follow())


def test_slow_reader_may_miss_steps_but_gets_the_last_event(arena: Arena, poll_counts: PollCounts) -> None:
    identifier = arena.submit("red").json()["id"]

    async def follow() -> None:
        async with open_stream(ProgressHub(), arena.get_team_token("red"), identifier) as (
            subscriber,
            updates,
        ):
            await next_progress(updates)
            claim = await asyncio.to_thread(claim_submission, identifier)
            for number in range(1, 9):
                await asyncio.to_thread(report_step, claim, number)
                await wait_until(lambda: subscriber.latest.step == number)  # noqa: B023  awaited before the next
            await asyncio.to_thread(record_verdict, claim)
            await wait_until(lambda: subscriber.is_finished)
            assert (await next_progress(updates)).state == "SCORED"
            assert await has_ended(updates)

    asyncio.run(follow())


def test_pings_keep_an_idle_stream_open(arena: Arena, poll_counts: PollCounts) -> None:
    identifier = arena.submit("red").json()["id"]

    async def follow() -> None:
        async with open_stream(ProgressHub(), arena.get_team_token("red"), identifier) as (subscriber, _):
            updates = stream_progress(subscriber, ping_every_s=0.05)
            assert await anext(updates) is not None
            assert [await anext(updates), await anext(updates)] == [None, None]

    asyncio.run(follow())


def test_streams_survive_a_short_database_outage(arena: Arena, poll_counts: PollCounts) -> None:
    identifier = arena.submit("red").json()["id"]

    async def follow() -> None:
        async with open_stream(ProgressHub(), arena.get_team_token("red"), identifier) as (
            subscriber,
            updates,
        ):
            await next_progress(updates)
            with renamed_table("evaluations"):
                await wait_until(lambda: poll_counts.failures > 1)
            assert not subscriber.is_finished
            await asyncio.to_thread(lambda: record_verdict(claim_submission(identifier)))
            current = await next_progress(updates)
            assert "SCORED" in {
                current.state,
                (await next_progress(updates)).state if not current.has_ended else "",
            }

    asyncio.run(follow())


@contextmanager
def renamed_table(table: str) -> Iterator[None]:
    """Rename the table during the block, so that every query on it fails."""
    with engine.get_engine().begin() as connection:
        connection.execute(text(f"ALTER TABLE {table} RENAME TO away"))
    try:
        yield
    finally:
        with engine.get_engine().begin() as connection:
            connection.execute(text(f"ALTER TABLE away RENAME TO {table}"))


def revoke_token(principal: Principal) -> None:
    with transaction() as session:
        revoke_current(session, principal)


def expire_token(principal: Principal) -> None:
    statement = update(Token).where(Token.id == principal.token_id)
    execute(statement.values(expires_at=func.clock_timestamp()))


def leave_team(principal: Principal) -> None:
    execute(delete(Member).where(Member.user_id == principal.user_id))


@pytest.mark.parametrize("end_access", [revoke_token, expire_token, leave_team])
def test_stream_ends_when_the_user_loses_access(
    arena: Arena, poll_counts: PollCounts, end_access: Any
) -> None:
    identifier = arena.submit("red").json()["id"]
    token = arena.get_team_token("red")

    async def follow() -> None:
        async with open_stream(ProgressHub(), token, identifier) as (_, updates):
            await next_progress(updates)
            await asyncio.to_thread(end_access, load_principal(token))
            await asyncio.to_thread(claim_submission, identifier)
            while (current := await asyncio.wait_for(anext(updates, None), TIMEOUT_S)) is not None:
                assert not current.has_ended

    asyncio.run(follow())


@pytest.mark.parametrize("end_access", [revoke_token, expire_token])
def test_http_stream_ends_when_its_token_is_revoked(arena: Arena, server: str, end_access: Any) -> None:
    identifier, token = arena.submit("red").json()["id"], arena.get_team_token("red")
    path, headers = f"{API}/submissions/{identifier}/events", {"Authorization": f"Bearer {token}"}
    with httpx2.stream("GET", server + path, headers=headers, timeout=TIMEOUT_S) as response:
        lines = response.iter_lines()
        assert next(line for line in lines if line.startswith("event: ")) == "event: progress"
        end_access(load_principal(token))
        assert "event: done" not in list(lines)
    assert httpx2.get(server + path, headers=headers, timeout=TIMEOUT_S).status_code == 401


def test_bulk_access_check_matches_the_single_check(client: TestClient) -> None:
    other_arena, arena = Arena.create(client, slug="elsewhere"), Arena.create(client)
    submission_id = UUID(arena.submit("red").json()["id"])
    with transaction() as session:
        name = f"administrator {next(serial_numbers)}"
        user = users.create_user(session, name=name, password=PASSWORD, role=Role.ADMINISTRATOR)
        session.flush()
        administrator = issue_token(session, user, name="all")
        owner = session.get_one(User, load_principal(arena.get_team_token("red")).user_id)
        submit_only_token = issue_token(session, owner, name="no reading", scopes=("submit",))
        expired_token = issue_token(session, owner, name="gone", lifetime=timedelta(seconds=-1))
    tokens = [
        arena.get_team_token("red"),
        arena.get_team_token("blue"),
        arena.organizer_token,
        other_arena.organizer_token,
    ]
    principals = [
        load_principal(token)
        for token in [*tokens, other_arena.get_team_token("red"), administrator, submit_only_token]
    ]
    followers = [Follower(candidate.token_id, submission_id) for candidate in principals]
    with transaction() as session:
        expired = session.scalars(select(Token.id).where(Token.digest == hash_token(expired_token))).one()
        allowed = progress.filter_allowed(session, [*followers, Follower(expired, submission_id)])
        expected = [
            candidate
            for candidate, principal in zip(followers, principals, strict=True)
            if can_see(session, principal, submission_id)
        ]
    assert allowed == set(expected)
    assert len(expected) == 3


def can_see(session: Any, principal: Principal, submission_id: UUID) -> bool:
    try:
        submissions.find_visible(session, principal, submission_id)
    except (NotFound, Forbidden):
        return False
    return True


def test_number_of_streams_per_user_is_limited(arena: Arena) -> None:
    identifier = arena.submit("red").json()["id"]
    principal = load_principal(arena.get_team_token("red"))
    follower, current = Follower(principal.token_id, UUID(identifier)), load_progress(principal, identifier)

    async def follow() -> None:
        hub = ProgressHub()
        contexts = [hub.subscribe(principal.user_id, follower, current) for _ in range(STREAMS_PER_USER)]
        for context in contexts:
            context.__enter__()
        with pytest.raises(TooManyRequests), hub.subscribe(principal.user_id, follower, current):
            pass
        with hub.subscribe(UUID(int=0), follower, current):
            pass
        contexts[0].__exit__(None, None, None)
        with hub.subscribe(principal.user_id, follower, current):
            pass
        for context in contexts[1:]:
            context.__exit__(None, None, None)

    asyncio.run(follow())


def test_bulk_queue_positions_match_single_queries(arena: Arena) -> None:
    identifiers = [UUID(arena.submit("red", seed=seed).json()["id"]) for seed in range(4)]
    with transaction() as session:
        tied_evaluation = session.scalars(
            select(Evaluation).where(Evaluation.submission_id == identifiers[1])
        ).one()
        session.execute(
            update(Evaluation)
            .where(Evaluation.submission_id == identifiers[2])
            .values(created_at=tied_evaluation.created_at)
        )
    claim_submission(str(identifiers[0]))
    with transaction() as session:
        states = progress.load_many(session, identifiers)
        rows = session.scalars(submissions.select_with_details().where(Submission.id.in_(identifiers)))
        expected_positions = {row.id: submissions.get_queue_position(session, row.evaluation) for row in rows}
    assert {key: state.queue_position for key, state in states.items()} == expected_positions
    assert sorted(expected_positions.values(), key=str) == [0, 1, 2, None]


def test_stream_opened_during_shutdown_sends_the_current_state_and_ends(arena: Arena) -> None:
    identifier = arena.submit("red").json()["id"]

    async def follow() -> None:
        hub = ProgressHub()
        async with open_stream(hub, arena.get_team_token("red"), identifier) as (_, updates):
            await next_progress(updates)
            hub.close()
            assert await has_ended(updates)
        async with open_stream(hub, arena.get_team_token("red"), identifier) as (_, updates):
            await next_progress(updates)
            assert await has_ended(updates)

    asyncio.run(follow())
