"""Hundreds of watchers at a real server: what they cost, and what they leave behind."""

import asyncio
import signal
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

import psutil
import pytest
from sqlalchemy import select, text

from app.config import Settings
from app.db import engine
from app.db.models import Evaluation, Member
from app.db.transaction import transaction
from app.http.progress_stream import STREAMS_PER_USER
from app.processes.embedded_servers import NAME, Services
from app.services.accounts import accounts
from app.services.submissions import evaluations
from tests.e2e.lines import line
from tests.e2e.stack import Contest, command_line, small_contest, web
from tests.support.arena import PASSWORD, numbers
from tests.support.claimed_jobs import claim_evaluation
from tests.support.wait import PATIENCE_S, eventually

pytestmark = pytest.mark.full

PEOPLE = 10
WATCHERS = PEOPLE * STREAMS_PER_USER
QUERY = "LOG:  execute "  # what has parameters: neither BEGIN and COMMIT nor the ping of a connection


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

    async def until(self, wanted: bytes) -> None:
        async with asyncio.timeout(PATIENCE_S):
            while wanted not in self.said:
                chunk = await self.reader.read(4096)
                assert chunk, f"it ended after {self.said!r}"
                self.said += chunk

    async def until_end(self) -> None:
        async with asyncio.timeout(PATIENCE_S):
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
    """Return the newest web server; the session may have one of its own."""
    children = psutil.Process().children(recursive=True)
    servers = [process for process in children if "app.cli.web_server" in command_line(process)]
    return max(servers, key=psutil.Process.create_time)


def connections() -> int:
    query = "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'"
    with engine.get_engine().connect() as connection:
        return int(connection.execute(text(query)).scalar_one())


@contextmanager
def queries(services: Services) -> Iterator[Callable[[], int]]:
    """How many the sessions that begin meanwhile have asked so far: each is logged as it begins."""
    log = services.servers[-1].log
    change_database("SET log_statement = 'all'")
    try:
        yield lambda: log.read_text().count(QUERY)
    finally:
        change_database("RESET log_statement")


def change_database(setting: str) -> None:
    with engine.get_engine().begin() as connection:
        connection.execute(text(f"ALTER DATABASE {NAME} {setting}"))


def begun(identifier: str) -> evaluations.Claim:
    with transaction() as session:
        wanted = Evaluation.submission_id == UUID(identifier)
        return claim_evaluation(session, session.scalars(select(Evaluation.id).where(wanted)).one())


def scored(claim: evaluations.Claim) -> None:
    verdict: dict[str, Any] = {"verdict": "accepted", "overall": 0.5}
    with transaction() as session:
        evaluations.record(session, claim, verdict=verdict, scorer="test")


def streams() -> int:
    """Connections that the web server has not closed yet."""
    return len([each for each in web_server().net_connections("tcp") if each.raddr])


async def noticed(condition: Callable[[], bool]) -> bool:
    return await asyncio.to_thread(eventually, condition)


def wait_out(url: str) -> None:
    """As long as the server keeps a connection that asks nothing more: ten times what is between looks."""
    with line(url) as idle:
        idle.send(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        idle.until_closed()


@contextmanager
def crowd(logs: Path) -> Iterator[tuple[Crowd, str]]:
    with web(logs) as url:
        contest = small_contest(url)
        identifier = contest.submit()
        tokens = team_mates(contest, PEOPLE)
        yield Crowd(url, f"/api/v1/submissions/{identifier}/events", tokens), identifier


def test_two_hundred_watchers_cost_neither_threads_nor_connections_nor_queries(
    settings: Settings, services: Services, tmp_path: Path
) -> None:
    async def watch(many: Crowd, identifier: str, asked: Callable[[], int]) -> None:
        before = connections()
        async with many.gathered():
            assert len(many.listeners) == WATCHERS
            assert web_server().num_threads() < 60  # the pool's forty, which the connecting has filled
            assert connections() - before <= 30  # the pool's bound
            refused = await Listener.opened(many.url, many.path, many.tokens[0])
            await refused.until(b"too_many_streams")
            assert b" 429 " in refused.said.splitlines()[0]
            await refused.closed()
            known = asked()
            claim = await asyncio.to_thread(begun, identifier)
            await many.hear(b'"status":"SCORING"')
            await asyncio.to_thread(scored, claim)
            await many.hear(b"event: done")
            assert 2 <= asked() - known < WATCHERS  # which all would have asked if each did for itself
            assert all(b'"status":"SCORED"' in listener.said for listener in many.listeners)

    with queries(services) as asked, crowd(tmp_path) as (many, identifier):
        asyncio.run(watch(many, identifier, asked))


def test_watchers_leave_nothing_behind_and_do_not_keep_the_server_from_stopping(
    settings: Settings, services: Services, tmp_path: Path
) -> None:
    async def hang_up(many: Crowd, asked: Callable[[], int]) -> None:
        for _ in range(3):
            async with many.gathered():  # refused if those before still counted
                pass
            assert await noticed(lambda: streams() == 0)
        known = asked()
        await asyncio.to_thread(wait_out, many.url)
        assert asked() - known <= 1  # the look that was under way
        files = web_server().num_fds()
        async with many.gathered():
            assert web_server().num_fds() >= files + len(many.listeners)
        assert await noticed(lambda: web_server().num_fds() <= files + 5)

    async def be_sent_away(many: Crowd) -> None:
        async with many.gathered():
            server = web_server()
            server.send_signal(signal.SIGTERM)
            await asyncio.gather(*(listener.until_end() for listener in many.listeners))
            assert all(listener.said.endswith(b"0\r\n\r\n") for listener in many.listeners)
            await asyncio.to_thread(server.wait, PATIENCE_S)
        (log,) = tmp_path.glob("web-*.log")
        assert "shutdown exceeded" not in log.read_text()  # nobody had to be cut off

    with queries(services) as asked, crowd(tmp_path) as (many, _):
        many.tokens = many.tokens[:2]
        asyncio.run(hang_up(many, asked))
        asyncio.run(be_sent_away(many))
