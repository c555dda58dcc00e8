"""Connections to a web server, byte for byte."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit

from tests.e2e.stack import Contest
from tests.support.wait import PATIENCE_S


class Line:
    """A connection, byte for byte."""

    def __init__(self, url: str) -> None:
        address = urlsplit(url)
        self.socket = socket.create_connection((address.hostname, address.port), timeout=PATIENCE_S)
        self.heard = b""
        self.closed = False

    def send(self, content: bytes) -> None:
        with suppress(ConnectionError):  # what the other side closed is noticed by hearing
            self.socket.sendall(content)

    def hear(self, *, within_s: float = PATIENCE_S) -> bool:
        """Whether anything came, the end included."""
        self.socket.settimeout(within_s)
        try:
            came = self.socket.recv(65536)
        except TimeoutError:
            return False
        except ConnectionError:
            came = b""
        self.heard += came
        self.closed = not came
        return True

    def until(self, wanted: bytes) -> None:
        while wanted not in self.heard:
            assert self.hear(), f"only {self.heard!r} came"
            assert not self.closed, f"closed after {self.heard!r}"

    def until_closed(self) -> bytes:
        while not self.closed:
            assert self.hear(), "it is still open"
        return self.heard


@contextmanager
def line(url: str) -> Iterator[Line]:
    made = Line(url)
    try:
        yield made
    finally:
        made.socket.close()


@contextmanager
def watching(contest: Contest, identifier: str) -> Iterator[Line]:
    """The stream of a submission's events, whose first one has come."""
    with line(contest.url) as watcher:
        watcher.send(
            f"GET /api/v1/submissions/{identifier}/events HTTP/1.1\r\nHost: localhost\r\n"
            f"Authorization: Bearer {contest.token}\r\n\r\n".encode()
        )
        watcher.until(b"event: progress")
        yield watcher
