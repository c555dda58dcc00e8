"""ASGI requests whose bodies tests send piece by piece."""

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

from tests.support.application import build_application
from tests.support.wait import TIMEOUT_S


@dataclass
class WebProcess:
    """An application with its own event loop, like a separate web process."""

    app: FastAPI
    portal: BlockingPortal


@contextmanager
def start_web_process(app: FastAPI | None = None) -> Iterator[WebProcess]:
    with start_blocking_portal() as portal:
        yield WebProcess(app or build_application(), portal)


@dataclass
class StreamedRequest:
    """A request whose body the test sends in parts."""

    body: bytes
    request_messages: "queue.Queue[Message]" = field(default_factory=queue.Queue)
    response_messages: list[Message] = field(default_factory=list)
    body_reads: "queue.Queue[None]" = field(default_factory=queue.Queue)
    completion: "Future[Any] | None" = None

    async def receive(self) -> Message:
        self.body_reads.put(None)
        return await to_thread.run_sync(self.request_messages.get, abandon_on_cancel=True)

    async def send(self, message: Message) -> None:
        self.response_messages.append(message)

    def wait_for_body_read(self) -> None:
        """Wait until the application reads the body."""
        self.body_reads.get(timeout=TIMEOUT_S)

    def send_part(self, size: int) -> None:
        """Send the next ``size`` bytes."""
        self.request_messages.put({"type": "http.request", "body": self.body[:size], "more_body": True})
        self.body = self.body[size:]

    def send_rest(self) -> None:
        self.request_messages.put({"type": "http.request", "body": self.body, "more_body": False})

    def finish(self) -> "StreamedRequest":
        """Send the rest and wait for the response."""
        self.send_rest()
        return self.wait_for_response()

    def disconnect(self) -> "StreamedRequest":
        """Disconnect before the end of the body."""
        self.request_messages.put({"type": "http.disconnect"})
        return self.wait_for_response()

    def wait_for_response(self) -> "StreamedRequest":
        assert self.completion is not None
        self.completion.result(TIMEOUT_S)
        return self

    @property
    def status(self) -> int:
        return int(self.response_messages[0]["status"])

    def header(self, name: str) -> str:
        return str(dict(self.response_messages[0]["headers"])[name.encode()].decode())

    def json(self) -> Any:
        return json.loads(b"".join(message.get("body", b"") for message in self.response_messages[1:]))

    @property
    def status_and_code(self) -> tuple[int, str]:
        return self.status, self.json().get("code", "")


@contextmanager
def open_request(
    web: WebProcess, path: str, *, token: str, files: dict[str, bytes], key: str | None = None
) -> Iterator[StreamedRequest]:
    """Start a multipart request to ``path``. Only its head is sent at first."""
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
    streamed_request = StreamedRequest(request.read())
    streamed_request.completion = web.portal.start_task_soon(
        web.app, scope, streamed_request.receive, streamed_request.send
    )
    try:
        yield streamed_request
    finally:
        streamed_request.request_messages.put({"type": "http.disconnect"})
        streamed_request.wait_for_response()
