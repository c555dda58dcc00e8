"""Limits on the number and size of uploads that are processed at the same time.

An upload waits twice, without holding a thread. First it waits for its team's lock and for a slot; only then
is its body read and written to disk. Then it waits until its bytes fit into the parse budget, because parsing
needs several times as much memory.

Each competition has at most one upload at a time in the queue for a slot, so that a rush in one of them does
not hold up the last uploads, and so the deadline, of another.

The locks are shared by all web processes and held in Redis for a few seconds at a time. Nothing else depends
on them: without Redis, each process applies its own limits only.
"""

import asyncio
import platform
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from uuid import UUID
from weakref import WeakValueDictionary

import redis
import structlog
from anyio import CancelScope, CapacityLimiter
from redis.exceptions import LockError
from redis.lock import Lock
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from anoncup.errors import Unavailable
from app.config import Settings, get_settings
from app.core.http.redis_client import CONNECTION_ERRORS, get_pool

log = structlog.get_logger(__name__)

_LARGE_UPLOAD_LOCK = f"large:{platform.node()}"
"""Lock of this host for uploads that exceed the parse budget of one process."""
FIRST_RETRY_PAUSE_S, MAX_RETRY_PAUSE_S = 0.05, 0.5
"""Pauses between attempts to acquire a lock that another process holds."""
LOCK_TTL_S = 15
"""Seconds until the locks of a dead process expire; a live process extends them."""


class ByteBudget:
    """A number of bytes that may be in use at a time, granted in the order of requests."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.used_bytes = 0
        self.queue_lock = asyncio.Lock()
        self.release_event = asyncio.Event()

    async def acquire(self, size: int) -> None:
        """Wait until ``size`` bytes are free. A request above the capacity waits until nothing is in use."""
        async with self.queue_lock:
            while self.used_bytes and self.used_bytes + size > self.capacity:
                self.release_event.clear()
                await self.release_event.wait()
            self.used_bytes += size

    def release(self, size: int) -> None:
        self.used_bytes -= size
        self.release_event.set()


class Admission:
    """The upload limits of a process, and the threads that parse uploads."""

    def __init__(self, settings: Settings) -> None:
        self.max_wait_s = settings.upload_patience_s
        self.upload_slots = asyncio.Semaphore(settings.compute_process_share(settings.uploads_at_once))
        # Dry runs have their own slots, and their teams' own locks.
        self.check_slots = asyncio.Semaphore(settings.compute_process_share(settings.uploads_at_once))
        self.team_locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self.turns: WeakValueDictionary[tuple[UUID, asyncio.Semaphore], asyncio.Lock] = WeakValueDictionary()
        self.parse_budget = ByteBudget(settings.compute_process_share(settings.parsed_mb * 2**20))
        # Uploads are parsed in threads of their own, separate from those of other requests.
        self.parser_threads = CapacityLimiter(settings.compute_process_share(settings.uploads_at_once))

    @asynccontextmanager
    async def hold_slot(
        self, slots: asyncio.Semaphore, competition_id: UUID, team_key: str
    ) -> AsyncIterator[None]:
        """Hold one of the slots. Each team has at most one; the waiting competitions get them in turn.

        The lock in Redis is requested only by uploads that have a slot here. Otherwise every waiting upload
        would poll Redis.
        """
        lock_name = f"check:{team_key}" if slots is self.check_slots else team_key
        async with AsyncExitStack() as stack:
            async with _limit_wait(self.max_wait_s):
                await stack.enter_async_context(self.team_locks.setdefault(lock_name, asyncio.Lock()))
                async with self.turns.setdefault((competition_id, slots), asyncio.Lock()):
                    await stack.enter_async_context(slots)
                await stack.enter_async_context(_hold_distributed_lock(lock_name))
            yield

    @asynccontextmanager
    async def reserve_memory(self, size: int) -> AsyncIterator[None]:
        """Hold ``size`` bytes of the parse budget; only one upload per host may exceed the budget."""
        async with AsyncExitStack() as stack:
            async with _limit_wait(self.max_wait_s):
                if size > self.parse_budget.capacity:
                    await stack.enter_async_context(_hold_distributed_lock(_LARGE_UPLOAD_LOCK))
                await self.parse_budget.acquire(size)
            stack.callback(self.parse_budget.release, size)
            yield


@asynccontextmanager
async def _limit_wait(max_wait_s: float) -> AsyncIterator[None]:
    try:
        async with asyncio.timeout(max_wait_s):
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
            await run_in_threadpool(release_lock, name, holder)


async def _acquire_lock(name: str, holder: str) -> None:
    pause = FIRST_RETRY_PAUSE_S
    while not await run_in_threadpool(try_lock, name, holder):
        await asyncio.sleep(pause)
        pause = min(2 * pause, MAX_RETRY_PAUSE_S)


async def _renew_lock(name: str, holder: str) -> None:
    while True:
        await asyncio.sleep(LOCK_TTL_S / 3)
        await run_in_threadpool(extend_lock, name, holder)


def try_lock(name: str, holder: str) -> bool:
    """Try to acquire the lock and return whether ``holder`` has it. True if Redis is unavailable."""
    return _call_redis(lambda: build_lock(name, holder).acquire(token=holder))


def extend_lock(name: str, holder: str) -> None:
    _call_redis(lambda: build_lock(name, holder).reacquire())


def release_lock(name: str, holder: str) -> None:
    _call_redis(lambda: build_lock(name, holder).release())


def build_lock(name: str, holder: str) -> Lock:
    """Return the lock with its holder's token, which releases it if the reply to ``try_lock`` was lost."""
    client = redis.Redis(connection_pool=get_pool(get_settings().redis_url))
    lock: Lock = client.lock(f"anoncup:lock:{name}", timeout=LOCK_TTL_S, blocking=False, thread_local=False)
    lock.local.token = holder.encode()
    return lock


def _call_redis(operation: Callable[[], bool | None]) -> bool:
    """Return the operation's result: true if Redis is unavailable, false if somebody else holds the lock."""
    try:
        return bool(operation())
    except LockError:
        return False
    except CONNECTION_ERRORS as problem:
        log.warning("locks_unreachable", kind=type(problem).__name__)
        return True


def get_admission(request: Request) -> Admission:
    admission: Admission = request.app.state.admission
    return admission
