"""Live progress: one poller per process tells every stream what has changed."""

import asyncio
import signal
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from types import FrameType
from uuid import UUID

import structlog
from anyio import CapacityLimiter, to_thread
from fastapi import FastAPI

from anoncup.errors import TooMany
from app.db.transaction import transaction
from app.services.submissions import progress
from app.services.submissions.progress import Follower, Progress

log = structlog.get_logger(__name__)

POLL_EVERY_S = 0.5
RECHECK_EVERY_S = 2.0
"""So long after its token is revoked or its owner has left the team a stream still runs."""
STREAMS_PER_USER = 20


@dataclass(eq=False, slots=True)
class Watcher:
    """One open stream. It holds the latest news only: a slow reader misses steps, never the last."""

    user_id: UUID
    follower: Follower
    latest: Progress
    over: bool = False
    """Nothing more will come."""
    news: asyncio.Event = field(default_factory=asyncio.Event)

    def tell(self, found: Progress | None) -> None:
        if found is None:
            self.end()
        elif found != self.latest:
            self.latest = found
            self.over = self.over or found.ended
            self.news.set()

    def end(self) -> None:
        self.over = True
        self.news.set()


class Live:
    """The streams of this process, and the one task that looks for news while there are any."""

    def __init__(self) -> None:
        self.watchers: set[Watcher] = set()
        self.poller: asyncio.Task[None] | None = None
        self.closing = False

    @contextmanager
    def watching(self, user_id: UUID, follower: Follower, present: Progress) -> Iterator[Watcher]:
        """A watcher that is told as long as the context lasts."""
        if sum(one.user_id == user_id for one in self.watchers) >= STREAMS_PER_USER:
            raise TooMany(
                "you already have {most} submissions open; close one",
                retry_after=5,
                code="too_many_streams",
                most=STREAMS_PER_USER,
            )
        watcher = Watcher(user_id, follower, present, over=present.ended or self.closing)
        self.watchers.add(watcher)
        if self.poller is None or self.poller.done():
            self.poller = asyncio.create_task(self.poll())
        try:
            yield watcher
        finally:
            self.watchers.discard(watcher)

    async def poll(self) -> None:
        """Look and tell until nobody watches. A database that is away ends no stream."""
        clock = asyncio.get_running_loop().time
        # A thread of its own: uploads that fill the pool must not hold the news back.
        in_thread = partial(to_thread.run_sync, limiter=CapacityLimiter(1))
        checked = clock()
        while self.watchers:
            watchers, due = tuple(self.watchers), clock() - checked >= RECHECK_EVERY_S
            try:
                found = await in_thread(look, tuple(one.follower for one in watchers), due)
            except Exception as problem:  # whatever it is, the next look may succeed
                log.warning("progress_unknown", kind=type(problem).__name__)
            else:
                checked = clock() if due else checked
                for one in watchers:
                    one.tell(found.get(one.follower))
            await asyncio.sleep(POLL_EVERY_S)

    def close(self) -> None:
        """End every stream: the server is about to stop."""
        self.closing = True
        for watcher in self.watchers:
            watcher.end()


def look(followers: Sequence[Follower], recheck: bool) -> dict[Follower, Progress]:
    """Where each follower's submission stands; those who may no longer know are left out."""
    with transaction() as session:
        allowed = progress.still_allowed(session, followers) if recheck else set(followers)
        found = progress.of_submissions(session, {one.submission_id for one in allowed})
    return {one: found[one.submission_id] for one in allowed if one.submission_id in found}


async def told(watcher: Watcher, *, ping_every_s: float) -> AsyncIterator[Progress | None]:
    """The present state, then each that follows until the last; None where a while passed without."""
    seen = watcher.latest
    yield seen
    while not watcher.over or watcher.latest != seen:
        try:
            await asyncio.wait_for(watcher.news.wait(), ping_every_s)
        except TimeoutError:
            yield None
            continue
        watcher.news.clear()
        if watcher.latest != seen:
            seen = watcher.latest
            yield seen


@asynccontextmanager
async def closed_on_shutdown(app: FastAPI) -> AsyncIterator[None]:
    """A server waits for open streams before it tells the application that it stops: hear the signal."""
    loop, live = asyncio.get_running_loop(), app.state.live
    with heard(lambda: loop.call_soon_threadsafe(live.close)):
        yield
    live.close()


@contextmanager
def heard(react: Callable[[], object]) -> Iterator[None]:
    """``react`` to SIGTERM and SIGINT besides what the server does; only the main thread hears them."""
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}

    def hear(number: int, frame: FrameType | None) -> None:
        react()
        server = before[signal.Signals(number)]
        if callable(server):
            server(number, frame)

    with suppress(ValueError):
        for number, server in before.items():
            if callable(server):  # nobody else listens: the default ends the process anyway
                signal.signal(number, hear)
    try:
        yield
    finally:
        for number, server in before.items():
            if signal.getsignal(number) is hear:
                signal.signal(number, server)
