"""How much the web processes take in at a time; whoever must wait does so without a thread and unread.

An upload passes two doors. At the first it waits for its team's turn and for one of a few places; behind it
the body goes to the disk. At the second it waits until so many bytes may be parsed: parsing takes several
times their memory.
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

THREADS = 2
"""Uploads that are parsed and stored at once; a third would only take turns with them at the interpreter."""
LARGE = f"large:{platform.node()}"
"""The turn of uploads that are larger than what one process has room for."""
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.05, 0.5
"""Between two looks whether another process has ended a team's turn."""


@dataclass
class Turn:
    """A team's uploads in this process, one after the other."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    wanted: int = 0


class Room:
    """Bytes that may be in use at a time, given out in the order of asking."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.used = 0
        self.line = asyncio.Lock()
        self.left = asyncio.Event()

    async def take(self, size: int) -> None:
        """Wait for so much room; who asks for more than there is gets all of it."""
        async with self.line:
            while self.used and self.used + size > self.size:
                self.left.clear()
                await self.left.wait()
            self.used += size

    def leave(self, size: int) -> None:
        self.used -= size
        self.left.set()


class Admission:
    """The two doors of a process, and the threads behind them."""

    def __init__(self, settings: Settings) -> None:
        self.patience_s = settings.upload_patience_s
        self.places = asyncio.Semaphore(settings.share(settings.uploads_at_once))
        self.places_for_checks = asyncio.Semaphore(settings.share(settings.uploads_at_once))
        self.turns: defaultdict[str, Turn] = defaultdict(Turn)
        self.room = Room(settings.share(settings.parsed_mb * 2**20))
        self.threads = CapacityLimiter(settings.share(THREADS))

    @asynccontextmanager
    async def place(self, whose: str) -> AsyncIterator[None]:
        """Be read: one upload of a team at a time, a few in all."""
        async with AsyncExitStack() as held:
            async with patient(self.patience_s):
                await held.enter_async_context(self.turn(whose, self.places))
            yield

    @asynccontextmanager
    async def place_for_check(self, whose: str) -> AsyncIterator[None]:
        """Be read in a dry run, which takes no upload's place or turn."""
        async with AsyncExitStack() as held:
            async with patient(self.patience_s):
                await held.enter_async_context(self.turn(f"check:{whose}", self.places_for_checks))
            yield

    @asynccontextmanager
    async def turn(self, whose: str, places: asyncio.Semaphore) -> AsyncIterator[None]:
        """The turn of the team ``whose`` and one of the places.

        Other processes are asked only by uploads that have a place here. Otherwise every waiting upload
        would ask Redis again and again.
        """
        turn = self.turns[whose]
        turn.wanted += 1
        try:
            async with turn.lock, places, noted(whose):
                yield
        finally:
            turn.wanted -= 1
            if not turn.wanted:
                del self.turns[whose]

    @asynccontextmanager
    async def parsing(self, size: int) -> AsyncIterator[None]:
        """Be in memory: so many bytes at a time; of what is larger than that, one upload on this machine."""
        async with AsyncExitStack() as held:
            async with patient(self.patience_s):
                if size > self.room.size:
                    await held.enter_async_context(noted(LARGE))
                await self.room.take(size)
            held.callback(self.room.leave, size)
            yield

    async def in_thread(self, call: Callable[P, T], *args: P.args, **named: P.kwargs) -> T:
        """Apart from the threads that answer everybody else."""
        return await to_thread.run_sync(lambda: call(*args, **named), limiter=self.threads)


@asynccontextmanager
async def patient(patience_s: float) -> AsyncIterator[None]:
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
async def noted(whose: str) -> AsyncIterator[None]:
    """The turn among all processes, extended for as long as it is held."""
    holder = secrets.token_hex(8)
    extending = None
    try:
        await taken(whose, holder)
        extending = asyncio.create_task(extended(whose, holder))
        yield
    finally:
        if extending is not None:
            extending.cancel()
        with CancelScope(shield=True):
            await run_in_threadpool(redis_lock.end, whose, holder)


async def taken(whose: str, holder: str) -> None:
    pause = FIRST_PAUSE_S
    while not await run_in_threadpool(redis_lock.take, whose, holder):
        await asyncio.sleep(pause)
        pause = min(2 * pause, LONGEST_PAUSE_S)


async def extended(whose: str, holder: str) -> None:
    while True:
        await asyncio.sleep(redis_lock.LIFE_S / 3)
        await run_in_threadpool(redis_lock.extend, whose, holder)
