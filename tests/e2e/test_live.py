"""Hundreds of watchers at a real server: what they cost, and what they leave behind."""

import asyncio
import signal
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any
from uuid import UUID

import psutil
import pytest
from sqlalchemy import select, text

from app.config import Settings
from app.db import engine
from app.db.models import Evaluation, Member
from app.http.live import STREAMS_PER_USER
from app.services import accounts, evaluations
from app.transaction import transaction
from tests.arena import PASSWORD, numbers
from tests.claims import claim_evaluation
from tests.e2e.stack import Contest, command_line, small_contest, web

pytestmark = pytest.mark.long

PEOPLE = 10
WATCHERS = PEOPLE * STREAMS_PER_USER


def team_mates(contest: Contest, count: int) -> list[str]:
    """Tokens of more people in the contest's team."""
    with transaction() as session:
        first = accounts.authenticate(session, contest.token)
        member = session.scalars(select(Member).where(Member.user_id == first.user_id)).one()
        tokens = []
        for _ in range(count):
            user = accounts.create_user(session, name=f"mate {next(numbers)}", password=PASSWORD)
            keys = {"competition_id": member.competition_id, "team_id": member.team_id}
            session.add(Member(user_id=user.id, **keys))
            tokens.append(accounts.issue_token(session, user, name="live"))
    return tokens


@dataclass
class Listener:
    """A connection of its own that listens to one submission."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    said: bytes = b""

    @classmethod
    async def opened(cls, url: str, path: str, token: str) -> "Listener":
        host, port = url.removeprefix("http://").split(":")
        made = cls(*await asyncio.open_connection(host, int(port)))
        request = f"GET {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n\r\n"
        made.writer.write(request.encode())
        return made

    async def until(self, wanted: bytes, *, within_s: float = 20) -> None:
        async with asyncio.timeout(within_s):
            while wanted not in self.said:
                chunk = await self.reader.read(4096)
                assert chunk, f"it ended after {self.said!r}"
                self.said += chunk

    async def until_end(self, *, within_s: float) -> None:
        async with asyncio.timeout(within_s):
            while chunk := await self.reader.read(4096):
                self.said += chunk

    async def closed(self) -> None:
        self.writer.close()
        with suppress(ConnectionError):
            await self.writer.wait_closed()


@dataclass
class Crowd:
    """All who listen to one submission."""

    url: str
    path: str
    tokens: list[str]
    listeners: list[Listener] = field(default_factory=list)

    @asynccontextmanager
    async def gathered(self) -> AsyncIterator[None]:
        """As many streams as everybody may have, each having heard the present state."""
        opened = [
            Listener.opened(self.url, self.path, token)
            for token in self.tokens
            for _ in range(STREAMS_PER_USER)
        ]
        self.listeners = list(await asyncio.gather(*opened))
        try:
            await self.hear(b"event: progress")
            yield
        finally:
            await self.leave()

    async def hear(self, wanted: bytes) -> None:
        await asyncio.gather(*(listener.until(wanted) for listener in self.listeners))

    async def leave(self) -> None:
        await asyncio.gather(*(listener.closed() for listener in self.listeners))


def web_server() -> psutil.Process:
    (found,) = (
        process
        for process in psutil.Process().children(recursive=True)
        if "app.serving" in command_line(process)
    )
    return found


def asked(query: str) -> int:
    with engine.get_engine().connect() as connection:
        return int(connection.execute(text(query)).scalar_one())


def connections() -> int:
    return asked("SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'")


def transactions() -> int:
    """How many the database has ended so far."""
    return asked(
        "SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = current_database()"
    )


async def transactions_of_a_quiet_second() -> int:
    """The fewest of five seconds: Postgres counts a connection's transactions up to a second late."""
    counted = [transactions()]
    for _ in range(5):
        await asyncio.sleep(1)
        counted.append(transactions())
    return min(later - earlier for earlier, later in pairwise(counted))


def askers() -> int:
    """Connections besides this one that have asked something a moment ago."""
    return asked(
        "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'"
        " AND pid <> pg_backend_pid() AND query_start > clock_timestamp() - interval '1 second'"
    )


def scored(identifier: str) -> None:
    with transaction() as session:
        wanted = Evaluation.submission_id == UUID(identifier)
        evaluation = session.scalars(select(Evaluation.id).where(wanted)).one()
        claim = claim_evaluation(session, evaluation)
        verdict: dict[str, Any] = {"verdict": "accepted", "overall": 0.5}
        evaluations.record(session, claim, verdict=verdict, scorer="test")


@contextmanager
def crowd(logs: Path) -> Iterator[tuple[Crowd, str]]:
    with web(logs) as url:
        contest = small_contest(url)
        identifier = contest.submit()
        tokens = team_mates(contest, PEOPLE)
        yield Crowd(url, f"/api/v1/submissions/{identifier}/events", tokens), identifier


def test_two_hundred_watchers_cost_neither_threads_nor_connections_nor_queries(
    settings: Settings, tmp_path: Path
) -> None:
    async def watch(many: Crowd, identifier: str) -> None:
        before = connections()
        async with many.gathered():
            assert len(many.listeners) == WATCHERS
            assert web_server().num_threads() < 60  # the pool's forty, which the connecting has filled
            assert connections() - before <= 30  # the pool's bound
            assert await transactions_of_a_quiet_second() < WATCHERS / 4
            assert 1 <= askers() <= 3  # two looks a second, by the pool's next connection each
            refused = await Listener.opened(many.url, many.path, many.tokens[0])
            await refused.until(b"too_many_streams")
            assert b" 429 " in refused.said.splitlines()[0]
            await refused.closed()
            await asyncio.to_thread(scored, identifier)
            await many.hear(b"event: done")
            assert all(b'"status":"SCORED"' in listener.said for listener in many.listeners)

    with crowd(tmp_path) as (many, identifier):
        asyncio.run(watch(many, identifier))


def test_watchers_leave_nothing_behind_and_do_not_keep_the_server_from_stopping(
    settings: Settings, tmp_path: Path
) -> None:
    async def hang_up(many: Crowd) -> None:
        for _ in range(3):
            async with many.gathered():  # refused if those before still counted
                pass
            await asyncio.sleep(0.3)
        await asyncio.sleep(2.5)
        assert askers() == 0
        files = web_server().num_fds()
        async with many.gathered():
            assert web_server().num_fds() >= files + len(many.listeners)
        await asyncio.sleep(0.5)
        assert web_server().num_fds() <= files + 5

    async def be_sent_away(many: Crowd) -> None:
        async with many.gathered():
            server, started = web_server(), time.monotonic()
            server.send_signal(signal.SIGTERM)
            await asyncio.gather(*(listener.until_end(within_s=3) for listener in many.listeners))
            assert all(listener.said.endswith(b"0\r\n\r\n") for listener in many.listeners)
            await asyncio.to_thread(server.wait, 4)
            assert time.monotonic() - started < 4

    with crowd(tmp_path) as (many, _):
        many.tokens = many.tokens[:2]
        asyncio.run(hang_up(many))
        asyncio.run(be_sent_away(many))
