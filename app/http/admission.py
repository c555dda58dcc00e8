"""Limits on the uploads that are processed at the same time. Waiting uploads hold no thread and are not read.

An upload waits twice. First it waits for its team's lock and for a slot; then its body is written to disk.
Second it waits until its bytes fit into the parse budget, because parsing takes several times their memory.
"""

import asyncio
import platform
import secrets
from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import ParamSpec, TypeVar

from anyio import CancelScope, CapacityLimiter, to_thread
from starlette.concurrency import run_in_threadpool

from anoncup.errors import Unavailable
from app.config import Settings
from app.http import redis_lock

P = ParamSpec("P")
T = TypeVar("T")

_PARSER_THREADS = 2
"""Uploads that are parsed and stored at once; more would only compete for the interpreter lock."""
_LARGE_UPLOAD_LOCK = f"large:{platform.node()}"
"""Lock of this host for uploads that exceed the parse budget of one process."""
FIRST_RETRY_PAUSE_S, MAX_RETRY_PAUSE_S = 0.05, 0.5
"""Pauses between attempts to acquire a lock that another process holds."""


@dataclass
class TeamLock:
    """Serializes a team's uploads in this process. ``users`` counts the holder and those who wait."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    users: int = 0


class ByteBudget:
    """A number of bytes that may be in use at a time, granted in the order of requests."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.used_bytes = 0
        self.queue = asyncio.Lock()
        self.released = asyncio.Event()

    async def acquire(self, size: int) -> None:
        """Wait until ``size`` bytes are free; a request above the capacity waits until all of it is free."""
        async with self.queue:
            while self.used_bytes and self.used_bytes + size > self.capacity:
                self.released.clear()
                await self.released.wait()
            self.used_bytes += size

    def release(self, size: int) -> None:
        self.used_bytes -= size
        self.released.set()


class Admission:
    """The upload limits of a process, and the threads that parse uploads."""

    def __init__(self, settings: Settings) -> None:
        self.patience_s = settings.upload_patience_s
        self.upload_slots = asyncio.Semaphore(settings.share_per_process(settings.uploads_at_once))
        self.check_slots = asyncio.Semaphore(settings.share_per_process(settings.uploads_at_once))
        self.team_locks: defaultdict[str, TeamLock] = defaultdict(TeamLock)
        self.parse_budget = ByteBudget(settings.share_per_process(settings.parsed_mb * 2**20))
        self.threads = CapacityLimiter(settings.share_per_process(_PARSER_THREADS))

    @asynccontextmanager
    async def acquire_upload_slot(self, team_key: str) -> AsyncIterator[None]:
        """Hold a slot to receive an upload: one per team at a time, a few in all."""
        async with AsyncExitStack() as stack:
            async with _limit_wait(self.patience_s):
                await stack.enter_async_context(self.acquire_team_slot(team_key, self.upload_slots))
            yield

    @asynccontextmanager
    async def acquire_check_slot(self, team_key: str) -> AsyncIterator[None]:
        """Hold a slot for a dry run, which has slots and team locks of its own."""
        async with AsyncExitStack() as stack:
            async with _limit_wait(self.patience_s):
                await stack.enter_async_context(self.acquire_team_slot(f"check:{team_key}", self.check_slots))
            yield

    @asynccontextmanager
    async def acquire_team_slot(self, team_key: str, slots: asyncio.Semaphore) -> AsyncIterator[None]:
        """Hold the team's lock and one of the slots.

        The lock in Redis is requested only by uploads that have a slot here. Otherwise every waiting upload
        would poll Redis.
        """
        team_lock = self.team_locks[team_key]
        team_lock.users += 1
        try:
            async with team_lock.lock, slots, _hold_distributed_lock(team_key):
                yield
        finally:
            team_lock.users -= 1
            if not team_lock.users:
                del self.team_locks[team_key]

    @asynccontextmanager
    async def reserve_memory(self, size: int) -> AsyncIterator[None]:
        """Hold ``size`` bytes of the parse budget; only one upload per host may exceed the budget."""
        async with AsyncExitStack() as stack:
            async with _limit_wait(self.patience_s):
                if size > self.parse_budget.capacity:
                    await stack.enter_async_context(_hold_distributed_lock(_LARGE_UPLOAD_LOCK))
                await self.parse_budget.acquire(size)
            stack.callback(self.parse_budget.release, size)
            yield

    async def run_in_parser_thread(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run the call in a parser thread, separate from the threads of other requests."""
        return await to_thread.run_sync(lambda: call(*args, **kwargs), limiter=self.threads)


@asynccontextmanager
async def _limit_wait(patience_s: float) -> AsyncIterator[None]:
    try:
        async with asyncio.timeout(patience_s):
            yield
    except TimeoutError:
        raise Unavailable(
            "many uploads are being received right now; send it again in a moment: this attempt "
            "does not count",
            code="busy",
        ) from None


@asynccontextmanager
async def _hold_distributed_lock(name: str) -> AsyncIterator[None]:
    """Hold a lock shared by all processes and renew it until the context ends."""
    holder = secrets.token_hex(8)
    renewal = None
    try:
        await _acquire_lock(name, holder)
        renewal = asyncio.create_task(_renew_lock(name, holder))
        yield
    finally:
        if renewal is not None:
            renewal.cancel()
        with CancelScope(shield=True):
            await run_in_threadpool(redis_lock.release, name, holder)


async def _acquire_lock(name: str, holder: str) -> None:
    pause = FIRST_RETRY_PAUSE_S
    while not await run_in_threadpool(redis_lock.acquire, name, holder):
        await asyncio.sleep(pause)
        pause = min(2 * pause, MAX_RETRY_PAUSE_S)


async def _renew_lock(name: str, holder: str) -> None:
    while True:
        await asyncio.sleep(redis_lock.TTL_S / 3)
        await run_in_threadpool(redis_lock.extend, name, holder)
