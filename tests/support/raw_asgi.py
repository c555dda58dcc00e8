"""A request whose body comes when the test says so: the application is spoken to as a web server would."""

import json
import queue
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx2
from anyio import to_thread
from anyio.from_thread import BlockingPortal, start_blocking_portal
from fastapi import FastAPI
from starlette.types import Message

from tests.support.application import application
from tests.support.wait import PATIENCE_S


@dataclass
class Process:
    """An application with an event loop of its own: a web process, as far as it can tell."""

    app: FastAPI
    portal: BlockingPortal


@contextmanager
def process(app: FastAPI | None = None) -> Iterator[Process]:
    with start_blocking_portal() as portal:
        yield Process(app or application(), portal)


@dataclass
class Sending:
    """One request."""

    body: bytes
    messages: "queue.Queue[Message]" = field(default_factory=queue.Queue)
    answers: list[Message] = field(default_factory=list)
    asked: "queue.Queue[None]" = field(default_factory=queue.Queue)
    done: "Future[Any] | None" = None

    async def receive(self) -> Message:
        self.asked.put(None)
        return await to_thread.run_sync(self.messages.get, abandon_on_cancel=True)

    async def send(self, message: Message) -> None:
        self.answers.append(message)

    def entered(self) -> None:
        """Return once the application waits for the body."""
        self.asked.get(timeout=PATIENCE_S)

    def piece(self, size: int) -> None:
        """Send so many bytes more."""
        self.messages.put({"type": "http.request", "body": self.body[:size], "more_body": True})
        self.body = self.body[size:]

    def rest(self) -> None:
        """Send what is left."""
        self.messages.put({"type": "http.request", "body": self.body, "more_body": False})

    def finish(self) -> "Sending":
        """Send the rest, and wait for the answer."""
        self.rest()
        return self.answered()

    def break_off(self) -> "Sending":
        """Go away in the middle."""
        self.messages.put({"type": "http.disconnect"})
        return self.answered()

    def answered(self) -> "Sending":
        assert self.done is not None
        self.done.result(PATIENCE_S)
        return self

    @property
    def status(self) -> int:
        return int(self.answers[0]["status"])

    def header(self, name: str) -> str:
        return str(dict(self.answers[0]["headers"])[name.encode()].decode())

    def json(self) -> Any:
        return json.loads(b"".join(one.get("body", b"") for one in self.answers[1:]))

    @property
    def told(self) -> tuple[int, str]:
        return self.status, self.json().get("code", "")


@contextmanager
def sending(
    web: Process, path: str, *, token: str, files: dict[str, bytes], key: str | None = None
) -> Iterator[Sending]:
    """A multipart request to ``path``, of which nothing but the head is sent at first."""
    parts = {name: (f"{name}.csv", content) for name, content in files.items()}
    request = httpx2.Request("POST", f"http://localhost{path}", files=parts)
    headers = {**request.headers, "authorization": f"Bearer {token}"}
    if key is not None:
        headers["idempotency-key"] = key
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "root_path": "",
        "headers": [(name.lower().encode(), value.encode()) for name, value in headers.items()],
        "client": ("127.0.0.1", 1),
        "server": ("localhost", 80),
        "state": {},
    }
    made = Sending(request.read())
    made.done = web.portal.start_task_soon(web.app, scope, made.receive, made.send)
    try:
        yield made
    finally:
        made.messages.put({"type": "http.disconnect"})
        made.answered()
