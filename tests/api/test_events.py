"""Live progress: what a stream says, when it ends, and who may hear it."""

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

from anoncup.errors import NotAllowed, NotFound, TooMany
from anoncup.schemas.roles import Role
from app.db import engine
from app.db.models import Evaluation, Member, Submission, Token, User
from app.db.transaction import transaction
from app.http import progress_stream
from app.http.progress_stream import STREAMS_PER_USER, Live, Watcher, told
from app.services.accounts import accounts
from app.services.accounts.accounts import Principal
from app.services.jobs import leases
from app.services.submissions import evaluations, progress, submissions
from app.services.submissions.evaluations import Claim
from app.services.submissions.progress import Follower, Progress
from tests.support.arena import API, PASSWORD, Arena, numbers
from tests.support.claimed_jobs import claim_evaluation
from tests.support.uploads import score_everything
from tests.support.wait import PATIENCE_S

pytestmark = pytest.mark.full

LEASE = timedelta(seconds=30)
VERDICT: dict[str, Any] = {"verdict": "accepted", "overall": 0.5}


def principal_of(token: str) -> Principal:
    with transaction() as session:
        return accounts.authenticate(session, token)


def present(principal: Principal, submission_id: str) -> Progress:
    with transaction() as session:
        return progress.visible(session, principal, UUID(submission_id))


def claimed(submission_id: str) -> Claim:
    with transaction() as session:
        wanted = Evaluation.submission_id == UUID(submission_id)
        identifier = session.scalars(select(Evaluation.id).where(wanted)).one()
        return claim_evaluation(session, identifier)


def step(claim: Claim, number: int) -> None:
    with transaction() as session:
        progress = {"step": number, "steps": 9, "step_name": f"step {number}"}
        assert leases.renew(session, Evaluation, claim.evaluation_id, claim.attempt, lease=LEASE, **progress)


def record(claim: Claim) -> None:
    with transaction() as session:
        assert evaluations.record(session, claim, verdict=VERDICT, scorer="test")


@dataclass
class Looks:
    """How often the poller has looked, and how often in vain."""

    made: int = 0
    failed: int = 0


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> Looks:
    looks, look = Looks(), progress_stream.look

    def counted(followers: Sequence[Follower], recheck: bool) -> dict[Follower, Progress]:
        looks.made += 1
        try:
            return look(followers, recheck)
        except Exception:
            looks.failed += 1
            raise

    monkeypatch.setattr(progress_stream, "look", counted)
    monkeypatch.setattr(progress_stream, "POLL_EVERY_S", 0.02)
    monkeypatch.setattr(progress_stream, "RECHECK_EVERY_S", 0.0)
    return looks


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while not condition():
            await asyncio.sleep(0.01)


@asynccontextmanager
async def stream(
    hub: Live, token: str, submission_id: str
) -> AsyncIterator[tuple[Watcher, AsyncIterator[Progress | None]]]:
    principal = principal_of(token)
    follower = Follower(principal.token_id, UUID(submission_id))
    with hub.watching(principal.user_id, follower, present(principal, submission_id)) as watcher:
        yield watcher, told(watcher, ping_every_s=2 * PATIENCE_S)


async def heard(news: AsyncIterator[Progress | None]) -> Progress:
    found = await asyncio.wait_for(anext(news), PATIENCE_S)
    assert found is not None
    return found


async def ended(news: AsyncIterator[Progress | None]) -> bool:
    return await asyncio.wait_for(anext(news, None), PATIENCE_S) is None


def events_of(body: str) -> list[dict[str, str]]:
    blocks = [block for block in body.split("\n\n") if block]
    return [dict(line.split(": ", 1) for line in block.splitlines()) for block in blocks]


def test_a_finished_submission_is_told_at_once_and_the_stream_ends(arena: Arena) -> None:
    identifier = arena.submit("red").json()["id"]
    score_everything()
    answer = arena.get(f"/submissions/{identifier}/events", token=arena.team("red"))
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["x-accel-buffering"] == "no"
    retry, done = events_of(answer.text)
    assert int(retry["retry"]) > 0
    assert done["event"] == "done"
    data = json.loads(done["data"])
    assert (data["id"], data["status"], data["queue_position"]) == (identifier, "SCORED", None)
    assert data["step"] == data["steps"] > 10


def test_a_browser_that_has_heard_the_end_is_told_not_to_come_back(arena: Arena) -> None:
    identifier = arena.submit("red").json()["id"]
    score_everything()
    path = f"/api/v1/submissions/{identifier}/events"
    headers = {"Authorization": f"Bearer {arena.team('red')}"}
    last = events_of(arena.client.get(path, headers=headers).text)[-1]["id"]
    assert arena.client.get(path, headers=headers | {"Last-Event-ID": last}).status_code == 204
    assert arena.client.get(path, headers=headers | {"Last-Event-ID": "another"}).status_code == 200


def test_a_stream_tells_the_present_state_then_each_change_until_the_last(
    arena: Arena, hurried: Looks
) -> None:
    first, second = (arena.submit("red", seed=seed).json()["id"] for seed in (1, 2))

    async def follow() -> None:
        async with stream(Live(), arena.team("red"), second) as (_, news):
            found = await heard(news)
            assert (found.state, found.queue_position) == ("QUEUED", 1)
            before = await asyncio.to_thread(claimed, first)
            assert (await heard(news)).queue_position == 0
            await asyncio.to_thread(record, before)
            claim = await asyncio.to_thread(claimed, second)
            found = await heard(news)
            assert (found.state, found.attempt, found.queue_position) == ("SCORING", 1, None)
            for number in (1, 2):
                await asyncio.to_thread(step, claim, number)
                found = await heard(news)
                assert (found.step, found.steps, found.step_name) == (number, 9, f"step {number}")
            await asyncio.to_thread(record, claim)
            assert (await heard(news)).state == "SCORED"
            assert await ended(news)

    asyncio.run(follow())


def test_one_poller_serves_all_and_ends_with_the_last_watcher(arena: Arena, hurried: Looks) -> None:
    identifiers = [arena.submit("red", seed=seed).json()["id"] for seed in range(3)]

    async def follow() -> None:
        hub, token = Live(), arena.team("red")
        async with stream(hub, token, identifiers[0]), stream(hub, token, identifiers[1]):
            poller = hub.poller
            async with stream(hub, token, identifiers[2]):
                assert hub.poller is poller
                seen = hurried.made
                await until(lambda: hurried.made > seen + 1)
            assert len(hub.watchers) == 2
            assert poller is not None
            assert not poller.done()
        assert not hub.watchers
        await asyncio.wait_for(poller, PATIENCE_S)
        async with stream(hub, token, identifiers[0]):
            assert hub.poller is not poller

    asyncio.run(follow())


def test_a_slow_reader_misses_steps_but_never_the_last(arena: Arena, hurried: Looks) -> None:
    identifier = arena.submit("red").json()["id"]

    async def follow() -> None:
        async with stream(Live(), arena.team("red"), identifier) as (watcher, news):
            await heard(news)
            claim = await asyncio.to_thread(claimed, identifier)
            for number in range(1, 9):
                await asyncio.to_thread(step, claim, number)
                await until(lambda: watcher.latest.step == number)  # noqa: B023  awaited before the next
            await asyncio.to_thread(record, claim)
            await until(lambda: watcher.over)
            assert (await heard(news)).state == "SCORED"
            assert await ended(news)

    asyncio.run(follow())


def test_silence_is_filled_so_that_no_proxy_gives_up(arena: Arena, hurried: Looks) -> None:
    identifier = arena.submit("red").json()["id"]

    async def follow() -> None:
        async with stream(Live(), arena.team("red"), identifier) as (watcher, _):
            news = told(watcher, ping_every_s=0.05)
            assert await anext(news) is not None
            assert [await anext(news), await anext(news)] == [None, None]

    asyncio.run(follow())


def test_a_database_that_is_away_for_a_while_ends_no_stream(arena: Arena, hurried: Looks) -> None:
    identifier = arena.submit("red").json()["id"]

    async def follow() -> None:
        async with stream(Live(), arena.team("red"), identifier) as (watcher, news):
            await heard(news)
            with renamed("evaluations"):
                await until(lambda: hurried.failed > 1)
            assert not watcher.over
            await asyncio.to_thread(lambda: record(claimed(identifier)))
            found = await heard(news)
            assert "SCORED" in {found.state, (await heard(news)).state if not found.ended else ""}

    asyncio.run(follow())


@contextmanager
def renamed(table: str) -> Iterator[None]:
    """Every question about the table fails meanwhile."""
    with engine.get_engine().begin() as connection:
        connection.execute(text(f"ALTER TABLE {table} RENAME TO away"))
    try:
        yield
    finally:
        with engine.get_engine().begin() as connection:
            connection.execute(text(f"ALTER TABLE away RENAME TO {table}"))


def revoke(principal: Principal) -> None:
    with transaction() as session:
        accounts.revoke(session, principal)


def expire(principal: Principal) -> None:
    with transaction() as session:
        mine = update(Token).where(Token.id == principal.token_id)
        session.execute(mine.values(expires_at=func.clock_timestamp()))


def leave_the_team(principal: Principal) -> None:
    with transaction() as session:
        session.execute(delete(Member).where(Member.user_id == principal.user_id))


@pytest.mark.parametrize("lose", [revoke, expire, leave_the_team])
def test_whoever_loses_the_right_to_see_it_hears_nothing_more(
    arena: Arena, hurried: Looks, lose: Any
) -> None:
    identifier = arena.submit("red").json()["id"]
    token = arena.team("red")

    async def follow() -> None:
        async with stream(Live(), token, identifier) as (_, news):
            await heard(news)
            await asyncio.to_thread(lose, principal_of(token))
            await asyncio.to_thread(claimed, identifier)
            while (found := await asyncio.wait_for(anext(news, None), PATIENCE_S)) is not None:
                assert not found.ended

    asyncio.run(follow())


@pytest.mark.parametrize("lose", [revoke, expire])
def test_a_stream_over_a_connection_ends_with_its_token(arena: Arena, server: str, lose: Any) -> None:
    identifier, token = arena.submit("red").json()["id"], arena.team("red")
    path, headers = f"{API}/submissions/{identifier}/events", {"Authorization": f"Bearer {token}"}
    with httpx2.stream("GET", server + path, headers=headers, timeout=PATIENCE_S) as answer:
        lines = answer.iter_lines()
        assert next(line for line in lines if line.startswith("event: ")) == "event: progress"
        lose(principal_of(token))
        assert "event: done" not in list(lines)
    assert httpx2.get(server + path, headers=headers, timeout=PATIENCE_S).status_code == 401


def test_many_are_asked_by_the_rule_that_one_is(client: TestClient) -> None:
    elsewhere, arena = Arena.opened(client, slug="elsewhere"), Arena.opened(client)
    submitted = UUID(arena.submit("red").json()["id"])
    with transaction() as session:
        name = f"administrator {next(numbers)}"
        made = accounts.create_user(session, name=name, password=PASSWORD, role=Role.ADMINISTRATOR)
        session.flush()
        administrator = accounts.issue_token(session, made, name="all")
        owner = session.get_one(User, principal_of(arena.team("red")).user_id)
        blind = accounts.issue_token(session, owner, name="no reading", scopes=("submit",))
        gone = accounts.issue_token(session, owner, name="gone", life=timedelta(seconds=-1))
    tokens = [arena.team("red"), arena.team("blue"), arena.organizer, elsewhere.organizer]
    asked = [principal_of(token) for token in [*tokens, elsewhere.team("red"), administrator, blind]]
    followers = [Follower(one.token_id, submitted) for one in asked]
    with transaction() as session:
        expired = session.scalars(select(Token.id).where(Token.digest == accounts.digest(gone))).one()
        allowed = progress.still_allowed(session, [*followers, Follower(expired, submitted)])
        expected = [
            one for one, person in zip(followers, asked, strict=True) if sees(session, person, submitted)
        ]
    assert allowed == set(expected)
    assert len(expected) == 3


def sees(session: Any, principal: Principal, submission_id: UUID) -> bool:
    try:
        submissions.visible(session, principal, submission_id)
    except (NotFound, NotAllowed):
        return False
    return True


def test_a_person_has_a_bounded_number_of_streams(arena: Arena) -> None:
    identifier = arena.submit("red").json()["id"]
    principal = principal_of(arena.team("red"))
    follower, found = Follower(principal.token_id, UUID(identifier)), present(principal, identifier)

    async def follow() -> None:
        hub = Live()
        contexts = [hub.watching(principal.user_id, follower, found) for _ in range(STREAMS_PER_USER)]
        for context in contexts:
            context.__enter__()
        with pytest.raises(TooMany), hub.watching(principal.user_id, follower, found):
            pass
        with hub.watching(UUID(int=0), follower, found):
            pass
        contexts[0].__exit__(None, None, None)
        with hub.watching(principal.user_id, follower, found):
            pass
        for context in contexts[1:]:
            context.__exit__(None, None, None)

    asyncio.run(follow())


def test_a_place_in_the_queue_is_what_a_single_question_says(arena: Arena) -> None:
    identifiers = [UUID(arena.submit("red", seed=seed).json()["id"]) for seed in range(4)]
    with transaction() as session:
        tied = session.scalars(select(Evaluation).where(Evaluation.submission_id == identifiers[1])).one()
        session.execute(
            update(Evaluation)
            .where(Evaluation.submission_id == identifiers[2])
            .values(created_at=tied.created_at)
        )
    claimed(str(identifiers[0]))
    with transaction() as session:
        found = progress.of_submissions(session, identifiers)
        rows = session.scalars(submissions.shown().where(Submission.id.in_(identifiers)))
        single = {row.id: submissions.place_in_queue(session, row.evaluation) for row in rows}
    assert {key: one.queue_position for key, one in found.items()} == single
    assert sorted(single.values(), key=str) == [0, 1, 2, None]


def test_a_stream_opened_while_the_server_stops_ends_after_the_present_state(arena: Arena) -> None:
    identifier = arena.submit("red").json()["id"]

    async def follow() -> None:
        hub = Live()
        async with stream(hub, arena.team("red"), identifier) as (_, news):
            await heard(news)
            hub.close()
            assert await ended(news)
        async with stream(hub, arena.team("red"), identifier) as (_, news):
            await heard(news)
            assert await ended(news)

    asyncio.run(follow())
