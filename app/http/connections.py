"""One connection to the web server, which does not wait for ever for what may never come.

The server's own limit is for connections on which nothing at all comes after an answer. This adds the others:
silence from the beginning, a head that does not end, the rest of a body nobody reads any more, and too many.
"""

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from app.config import get_settings

CREDENTIALS = {b"authorization", b"cookie"}


class Connection(H11Protocol):
    """Closes itself when it has been idle, that is without a request in work, for too long."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        settings = get_settings()
        self.patience_s = settings.head_timeout_s
        self.most = settings.share(settings.connections)
        self.least_rest = settings.body_bytes_per_s * self.patience_s
        self.rest = 0
        self.idle_since = self.loop.time()
        self.patience: asyncio.TimerHandle | None = None

    @property
    def idle(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    @property
    def sends_unknown(self) -> bool:
        """Whether a body is coming of somebody who says not even who they are."""
        if self.idle or self.conn.their_state is not h11.SEND_BODY:
            return False
        return not CREDENTIALS & {name for name, _ in self.scope["headers"]}

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as its base
        super().connection_made(transport)
        self.begin_waiting()
        if len(self.connections) > self.most:
            make_room(self.connections)

    def connection_lost(self, exc: Exception | None) -> None:
        self.end_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        before = self.conn.their_state
        self.rest += len(data)
        super().data_received(data)
        if not self.idle or self.conn.their_state is not before:
            self.end_waiting()
        if self.idle:
            self.begin_waiting()

    def on_response_complete(self) -> None:
        self.idle_since = self.loop.time()
        super().on_response_complete()

    def begin_waiting(self) -> None:
        """From the first byte on: more bytes prolong nothing."""
        if self.patience is None:
            self.rest = 0
            self.patience = self.loop.call_later(self.patience_s, self.lose_patience)

    def end_waiting(self) -> None:
        if self.patience is not None:
            self.patience.cancel()
            self.patience = None

    def lose_patience(self) -> None:
        """Close, unless the sender of a body that was answered early is on the way to reading the answer."""
        self.patience = None
        if self.conn.their_state is h11.SEND_BODY and self.rest >= self.least_rest:
            self.begin_waiting()
        else:
            self.transport.close()


def make_room(connections: set[Any]) -> None:
    """Close the one that has been idle longest; if only the newest is, the oldest body of a stranger.

    The newest itself goes when all others have a request in work.
    """
    there = sorted(
        (one for one in connections if not one.transport.is_closing()), key=lambda one: one.idle_since
    )
    idle, strangers = [one for one in there if one.idle], [one for one in there if one.sends_unknown]
    for one in (idle[:-1] or strangers or idle)[:1]:
        one.transport.close()
