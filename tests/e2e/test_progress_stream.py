"""Hundreds of progress streams of a real server: their cost, and cleanup afterwards."""

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
from app.processes.embedded_servers import DATABASE_NAME, EmbeddedServices
from app.services.accounts import users
from app.services.accounts.tokens import authenticate, issue_token
from app.services.submissions import evaluations
from tests.support.arena import PASSWORD, serial_numbers
from tests.support.job_claims import claim_evaluation
from tests.support.raw_connection import open_connection
from tests.support.service_processes import (
    ServedContest,
    open_small_contest,
    read_command_line,
    run_web_server,
)
from tests.support.wait import TIMEOUT_S, poll_until

pytestmark = pytest.mark.full

TEAM_SIZE = 10
NUMBER_OF_STREAMS = TEAM_SIZE * STREAMS_PER_USER
QUERY_MARK = (
    "LOG:  execute "  # queries with parameters: neither BEGIN and COMMIT nor the ping of a connection
)


def add_team_mates(contest: ServedContest, count: int) -> list[str]:
    """Add people to the contest's team and return their tokens."""
    with transaction() as session:
        principal = authenticate(session, contest.token)
        member = session.scalars(select(Member).where(Member.user_id == principal.user_id)).one()
        tokens = []
        for _ in range(count):
            user = users.create_user(session, name=f"mate {next(serial_numbers)}", password=PASSWORD)
            keys = {"competition_id": member.competition_id, "team_id": member.team_id}
            session.add(Member(user_id=user.id, **keys))
            tokens.append(issue_token(session, user, name="live"))
    return tokens


@dataclass
class EventListener:
    """A connection that listens to the events of one submission."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    received: bytes = b""

    @classmethod
    async def open(cls, url: str, path: str, token: str) -> "EventListener":
        host, port = url.removeprefix("http://").split(":")
        listener = cls(*await asyncio.open_connection(host, int(port)))
        request = f"GET {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n\r\n"
        listener.writer.write(request.encode())
        return listener

    async def receive_until(self, marker: bytes) -> None:
        async with asyncio.timeout(TIMEOUT_S):
            while marker not in self.received:
                chunk = await self.reader.read(4096)
                assert chunk, f"it ended after {self.received!r}"
                self.received += chunk

    async def receive_until_end(self) -> None:
        async with asyncio.timeout(TIMEOUT_S):
            while chunk := await self.reader.read(4096):
                self.received += chunk

    async def close(self) -> None:
        self.writer.close()
        with suppress(ConnectionError):
            await self.writer.wait_closed()


@dataclass
class ListenerGroup:
    """All listeners of one submission."""

    url: str
    path: str
    tokens: list[str]
    listeners: list[EventListener] = field(default_factory=list)

    @asynccontextmanager
    async def connect(self) -> AsyncIterator[None]:
        """Open the maximum number of streams per user and wait for the first event of each."""
        connecting = [
            EventListener.open(self.url, self.path, token)
            for token in self.tokens
            for _ in range(STREAMS_PER_USER)
        ]
        self.listeners = list(await asyncio.gather(*connecting))
        try:
            await self.receive_until(b"event: progress")
            yield
        finally:
            await self.close()

    async def receive_until(self, marker: bytes) -> None:
        await asyncio.gather(*(listener.receive_until(marker) for listener in self.listeners))

    async def close(self) -> None:
        await asyncio.gather(*(listener.close() for listener in self.listeners))


def find_web_server() -> psutil.Process:
    """Return the newest web server; the session may have one of its own."""
    children = psutil.Process().children(recursive=True)
    servers = [process for process in children if "app.cli.web_server" in read_command_line(process)]
    return max(servers, key=psutil.Process.create_time)


def count_connections() -> int:
    query = "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'"
    with engine.get_engine().connect() as connection:
        return int(connection.execute(text(query)).scalar_one())


@contextmanager
def count_queries(services: EmbeddedServices) -> Iterator[Callable[[], int]]:
    """Yield a function that counts the queries so far of sessions begun in the block, by Postgres' log."""
    log = services.servers[-1].log
    change_database("SET log_statement = 'all'")
    try:
        yield lambda: log.read_text().count(QUERY_MARK)
    finally:
        change_database("RESET log_statement")


def change_database(setting: str) -> None:
    with engine.get_engine().begin() as connection:
        connection.execute(text(f"ALTER DATABASE {DATABASE_NAME} {setting}"))


def claim(identifier: str) -> evaluations.EvaluationClaim:
    with transaction() as session:
        is_submission = Evaluation.submission_id == UUID(identifier)
        return claim_evaluation(session, session.scalars(select(Evaluation.id).where(is_submission)).one())


def record_score(claim: evaluations.EvaluationClaim) -> None:
    verdict: dict[str, Any] = {"verdict": "accepted", "overall": 0.5}
    with transaction() as session:
        evaluations.record_verdict(session, claim, verdict=verdict, scorer="test")


def count_streams() -> int:
    """Return the number of connections that the web server has not closed."""
    return len([item for item in find_web_server().net_connections("tcp") if item.raddr])


async def wait_for(condition: Callable[[], bool]) -> bool:
    return await asyncio.to_thread(poll_until, condition)


def wait_for_idle_timeout(url: str) -> None:
    """Wait until the server closes an idle connection: ten times the polling interval."""
    with open_connection(url) as connection:
        connection.send(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        connection.receive_until_closed()


@contextmanager
def open_listener_group(logs: Path) -> Iterator[tuple[ListenerGroup, str]]:
    with run_web_server(logs) as url:
        contest = open_small_contest(url)
        identifier = contest.submit()
        tokens = add_team_mates(contest, TEAM_SIZE)
        yield ListenerGroup(url, f"/api/v1/submissions/{identifier}/events", tokens), identifier


def test_streams_cost_no_threads_connections_or_queries(
    settings: Settings, services: EmbeddedServices, tmp_path: Path
) -> None:
    async def watch(group: ListenerGroup, identifier: str, read_query_count: Callable[[], int]) -> None:
        connections_before = count_connections()
        async with group.connect():
            assert len(group.listeners) == NUMBER_OF_STREAMS
            assert (
                find_web_server().num_threads() < 60
            )  # the forty of the thread pool, all started by connecting
            assert count_connections() - connections_before <= 30  # the pool's bound
            refused_listener = await EventListener.open(group.url, group.path, group.tokens[0])
            await refused_listener.receive_until(b"too_many_streams")
            assert b" 429 " in refused_listener.received.splitlines()[0]
            await refused_listener.close()
            queries_before = read_query_count()
            evaluation_claim = await asyncio.to_thread(claim, identifier)
            await group.receive_until(b'"status":"SCORING"')
            await asyncio.to_thread(record_score, evaluation_claim)
            await group.receive_until(b"event: done")
            assert (
                2 <= read_query_count() - queries_before < NUMBER_OF_STREAMS
            )  # one query per watcher if each polled for itself
            assert all(b'"status":"SCORED"' in listener.received for listener in group.listeners)

    with count_queries(services) as read_query_count, open_listener_group(tmp_path) as (group, identifier):
        asyncio.run(watch(group, identifier, read_query_count))


def test_closed_streams_are_cleaned_up_and_do_not_block_shutdown(
    settings: Settings, services: EmbeddedServices, tmp_path: Path
) -> None:
    async def hang_up(group: ListenerGroup, read_query_count: Callable[[], int]) -> None:
        for _ in range(3):
            async with group.connect():  # refused if closed streams still counted
                pass
            assert await wait_for(lambda: count_streams() == 0)
        queries_before = read_query_count()
        await asyncio.to_thread(wait_for_idle_timeout, group.url)
        assert read_query_count() - queries_before <= 1  # the poll that was under way
        files = find_web_server().num_fds()
        async with group.connect():
            assert find_web_server().num_fds() >= files + len(group.listeners)
        assert await wait_for(lambda: find_web_server().num_fds() <= files + 5)

    async def stop_server(group: ListenerGroup) -> None:
        async with group.connect():
            server = find_web_server()
            server.send_signal(signal.SIGTERM)
            await asyncio.gather(*(listener.receive_until_end() for listener in group.listeners))
            assert all(listener.received.endswith(b"0\r\n\r\n") for listener in group.listeners)
            await asyncio.to_thread(server.wait, TIMEOUT_S)
        (log,) = tmp_path.glob("web-*.log")
        assert "shutdown exceeded" not in log.read_text()  # nobody had to be cut off

    with count_queries(services) as read_query_count, open_listener_group(tmp_path) as (group, _):
        group.tokens = group.tokens[:2]
        asyncio.run(hang_up(group, read_query_count))
        asyncio.run(stop_server(group))
