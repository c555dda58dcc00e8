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
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from uuid import UUID
from weakref import WeakValueDictionary

import structlog
from anyio import CancelScope, CapacityLimiter
from redis.asyncio.lock import Lock
from starlette.requests import Request

from anoncup.errors import Unavailable
from anoncup.plugins import INSTALLED
from app.config import Settings, get_settings
from app.core.http.redis_client import CONNECTION_ERRORS, open_async_client

log = structlog.get_logger(__name__)

_LARGE_UPLOAD_LOCK = f"large:{platform.node()}"
"""Lock of this host for uploads that exceed the parse budget of one process."""
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
    """Hold a lock shared by all processes and renew it until the context ends; without Redis, hold none."""
    async with AsyncExitStack() as stack:
        try:
            client = await stack.enter_async_context(open_async_client(get_settings().redis_url))
            lock = client.lock(f"anoncup:lock:{name}", timeout=LOCK_TTL_S)
            await lock.acquire()
        except CONNECTION_ERRORS as problem:
            log.warning("locks_unreachable", kind=type(problem).__name__)
        else:
            stack.push_async_callback(_release_lock, lock)
            stack.callback(asyncio.create_task(_renew_lock(lock)).cancel)
        yield


async def _renew_lock(lock: Lock) -> None:
    while True:
        await asyncio.sleep(LOCK_TTL_S / 3)
        with suppress(*CONNECTION_ERRORS):
            await lock.reacquire()


async def _release_lock(lock: Lock) -> None:
    with CancelScope(shield=True), suppress(*CONNECTION_ERRORS):
        await lock.release()


def get_admission(request: Request, track: str = "") -> Admission:
    """Return the limits for a track. Those of packages have others, so that their loops delay nobody else."""
    is_of_package = INSTALLED.find_provider(f"tracks.{track}") is not None
    state = request.app.state
    admission: Admission = state.package_admission if is_of_package else state.admission
    return admission
