"""HTTP connections with time limits and a maximum number.

The server itself limits only idle connections after a response. This protocol adds limits for connections
that send nothing at first, do not complete the request head, or keep sending a body that is no longer read.
"""

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from app.config import get_settings

_CREDENTIAL_HEADERS = {b"authorization", b"cookie"}


class Connection(H11Protocol):
    """A connection that closes itself after it has been without an active request for too long."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        settings = get_settings()
        self.head_timeout_s = settings.head_timeout_s
        self.max_connections = settings.compute_process_share(settings.connections)
        self.min_body_bytes = settings.body_bytes_per_s * self.head_timeout_s
        self.received_bytes = 0
        self.idle_since = self.loop.time()
        self.idle_timer: asyncio.TimerHandle | None = None

    @property
    def is_idle(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    @property
    def has_anonymous_body(self) -> bool:
        """Whether a body is being received for a request without credentials."""
        if self.is_idle or self.conn.their_state is not h11.SEND_BODY:
            return False
        return not _CREDENTIAL_HEADERS & {name for name, _ in self.scope["headers"]}

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as its base
        super().connection_made(transport)
        self.start_idle_timer()
        if len(self.connections) > self.max_connections:
            _evict_connection(self.connections)

    def connection_lost(self, exc: Exception | None) -> None:
        self.stop_idle_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        previous_state = self.conn.their_state
        self.received_bytes += len(data)
        super().data_received(data)
        if not self.is_idle or self.conn.their_state is not previous_state:
            self.stop_idle_timer()
        if self.is_idle:
            self.start_idle_timer()

    def on_response_complete(self) -> None:
        self.idle_since = self.loop.time()
        super().on_response_complete()

    def start_idle_timer(self) -> None:
        """Start the timer unless it is running, so that further bytes do not extend it."""
        if self.idle_timer is None:
            self.received_bytes = 0
            self.idle_timer = self.loop.call_later(self.head_timeout_s, self.handle_idle_timeout)

    def stop_idle_timer(self) -> None:
        if self.idle_timer is not None:
            self.idle_timer.cancel()
            self.idle_timer = None

    def handle_idle_timeout(self) -> None:
        """Close the connection, unless a body that got an early response is still sent fast enough."""
        self.idle_timer = None
        if self.conn.their_state is h11.SEND_BODY and self.received_bytes >= self.min_body_bytes:
            self.start_idle_timer()
        else:
            self.transport.close()


def _evict_connection(connections: set[Any]) -> None:
    """Close one connection to make room for the newest one.

    Close the connection that has been idle longest. If only the newest is idle, close the oldest one that
    sends a body without credentials. If there is none, close the newest.
    """
    open_connections: list[Connection] = sorted(
        (connection for connection in connections if not connection.transport.is_closing()),
        key=lambda connection: connection.idle_since,
    )
    idle_connections = [connection for connection in open_connections if connection.is_idle]
    anonymous_connections = [connection for connection in open_connections if connection.has_anonymous_body]
    for connection in (idle_connections[:-1] or anonymous_connections or idle_connections)[:1]:
        connection.transport.close()
