"""Streams of submission progress. One task per process polls the database and notifies all streams."""

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

from anoncup.errors import TooManyRequests, Unavailable
from app.db.transaction import transaction
from app.services.submissions import progress
from app.services.submissions.progress import EvaluationProgress, Follower

log = structlog.get_logger(__name__)

POLL_INTERVAL_S = 0.5
RECHECK_INTERVAL_S = 2.0
"""Maximum time a stream continues after its token is revoked or its owner has left the team."""
STREAMS_PER_USER = 20


@dataclass(eq=False, slots=True)
class Subscriber:
    """One open stream. It holds only the latest progress: a slow reader may miss steps, but not the last."""

    user_id: UUID
    follower: Follower
    latest: EvaluationProgress
    is_finished: bool = False
    """Whether no further progress will follow."""
    change_event: asyncio.Event = field(default_factory=asyncio.Event)

    def notify(self, current: EvaluationProgress) -> None:
        if current != self.latest:
            self.latest = current
            self.is_finished = self.is_finished or current.has_ended
            self.change_event.set()

    def finish(self) -> None:
        self.is_finished = True
        self.change_event.set()


class ProgressHub:
    """The streams of this process, and the task that polls for progress while there are any."""

    def __init__(self) -> None:
        self.subscribers: set[Subscriber] = set()
        self.poller: asyncio.Task[None] | None = None
        self.is_closing = False

    @contextmanager
    def subscribe(
        self, user_id: UUID, follower: Follower, current: EvaluationProgress
    ) -> Iterator[Subscriber]:
        """Yield a subscriber that is notified until the context ends.

        Raise TooManyRequests if the user has ``STREAMS_PER_USER`` streams already.
        """
        if sum(existing.user_id == user_id for existing in self.subscribers) >= STREAMS_PER_USER:
            raise TooManyRequests(
                "you already have {most} submissions open; close one",
                retry_after=5,
                code="too_many_streams",
                most=STREAMS_PER_USER,
            )
        subscriber = Subscriber(user_id, follower, current, is_finished=current.has_ended or self.is_closing)
        self.subscribers.add(subscriber)
        if self.poller is None or self.poller.done():
            self.poller = asyncio.create_task(self.poll())
        try:
            yield subscriber
        finally:
            self.subscribers.discard(subscriber)

    async def poll(self) -> None:
        """Load the progress and notify subscribers until there are none. Database errors end no stream."""
        get_time = asyncio.get_running_loop().time
        # A separate thread, so that progress is not delayed when uploads occupy the thread pool.
        run_in_thread = partial(to_thread.run_sync, limiter=CapacityLimiter(1))
        checked_at = get_time()
        while self.subscribers:
            subscribers = tuple(self.subscribers)
            followers = [subscriber.follower for subscriber in subscribers]
            is_recheck_due = get_time() - checked_at >= RECHECK_INTERVAL_S
            try:
                progress_by_follower = await run_in_thread(load_progress, followers, is_recheck_due)
            except Unavailable:  # the database; the next poll may succeed
                log.warning("progress_unknown")
            except Exception:
                log.exception("progress_unknown")
            else:
                if is_recheck_due:
                    checked_at = get_time()
                for subscriber in subscribers:
                    current = progress_by_follower.get(subscriber.follower)
                    if current is not None:
                        subscriber.notify(current)
                    else:  # it has lost its access
                        subscriber.finish()
            await asyncio.sleep(POLL_INTERVAL_S)

    def close(self) -> None:
        """End every stream, because the server is about to stop."""
        self.is_closing = True
        for subscriber in self.subscribers:
            subscriber.finish()


def load_progress(followers: Sequence[Follower], check_access: bool) -> dict[Follower, EvaluationProgress]:
    """Return the progress of each follower's submission, without followers that lost their access."""
    with transaction() as session:
        allowed_followers = progress.filter_allowed(session, followers) if check_access else set(followers)
        progress_by_submission = progress.load_many(
            session, {follower.submission_id for follower in allowed_followers}
        )
    return {
        follower: progress_by_submission[follower.submission_id]
        for follower in allowed_followers
        if follower.submission_id in progress_by_submission
    }


async def stream_progress(
    subscriber: Subscriber, *, ping_every_s: float
) -> AsyncIterator[EvaluationProgress | None]:
    """Yield the current progress and each later change.

    Yield None, so that the caller sends a ping, after each ``ping_every_s`` without a change.
    """
    last_sent = subscriber.latest
    yield last_sent
    while not subscriber.is_finished or subscriber.latest != last_sent:
        try:
            await asyncio.wait_for(subscriber.change_event.wait(), ping_every_s)
        except TimeoutError:
            yield None
            continue
        subscriber.change_event.clear()
        if subscriber.latest != last_sent:
            last_sent = subscriber.latest
            yield last_sent


@asynccontextmanager
async def close_on_shutdown(app: FastAPI) -> AsyncIterator[None]:
    """End all streams when the process is told to stop.

    The server waits for open streams before it runs the shutdown of the application, so the signal itself has
    to be handled.
    """
    loop, hub = asyncio.get_running_loop(), app.state.progress_hub
    with _listen_for_shutdown(lambda: loop.call_soon_threadsafe(hub.close)):
        yield
    hub.close()


@contextmanager
def _listen_for_shutdown(on_shutdown: Callable[[], object]) -> Iterator[None]:
    """Call ``on_shutdown`` on SIGTERM and SIGINT in addition to the server's handlers.

    Only the main thread can do so; in others nothing happens.
    """
    server_handlers = {
        signal_number: signal.getsignal(signal_number) for signal_number in (signal.SIGTERM, signal.SIGINT)
    }

    def handle_signal(signal_number: int, frame: FrameType | None) -> None:
        on_shutdown()
        server_handler = server_handlers[signal.Signals(signal_number)]
        if callable(server_handler):
            server_handler(signal_number, frame)

    with suppress(ValueError):  # raised outside the main thread, for example in tests
        for signal_number, server_handler in server_handlers.items():
            if callable(server_handler):  # without a handler, the default action ends the process anyway
                signal.signal(signal_number, handle_signal)
    try:
        yield
    finally:
        for signal_number, server_handler in server_handlers.items():
            if signal.getsignal(signal_number) is handle_signal:
                signal.signal(signal_number, server_handler)
