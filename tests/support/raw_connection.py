"""Raw TCP connections to a web server."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit

from tests.support.wait import TIMEOUT_S


class RawConnection:
    """A raw connection that keeps the received bytes."""

    def __init__(self, url: str) -> None:
        address = urlsplit(url)
        self.socket = socket.create_connection((address.hostname, address.port), timeout=TIMEOUT_S)
        self.received = b""
        self.is_closed = False

    def send(self, content: bytes) -> None:
        with suppress(ConnectionError):  # a connection closed by the server is noticed when receiving
            self.socket.sendall(content)

    def receive(self, *, timeout_s: float = TIMEOUT_S) -> bool:
        """Return whether any bytes or the end of the stream came in time."""
        self.socket.settimeout(timeout_s)
        try:
            chunk = self.socket.recv(65536)
        except TimeoutError:
            return False
        except ConnectionError:
            chunk = b""
        self.received += chunk
        self.is_closed = not chunk
        return True

    def receive_until(self, marker: bytes) -> None:
        while marker not in self.received:
            assert self.receive(), f"only {self.received!r} came"
            assert not self.is_closed, f"closed after {self.received!r}"

    def receive_until_closed(self) -> bytes:
        while not self.is_closed:
            assert self.receive(), "it is still open"
        return self.received


@contextmanager
def open_connection(url: str) -> Iterator[RawConnection]:
    connection = RawConnection(url)
    try:
        yield connection
    finally:
        connection.socket.close()
