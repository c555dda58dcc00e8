"""Request bodies whose sender falls silent."""

import asyncio

import pytest
from starlette.requests import ClientDisconnect
from starlette.types import Message, Receive, Scope, Send

from app.config import Settings
from app.core.http import body_limits
from app.core.http.body_limits import BodyLimitMiddleware

SCOPE = {"type": "http", "method": "POST", "path": "/api/v1/tokens", "headers": []}


def receive_body(*messages: Message) -> list[Message]:
    """Return what an application receives from a client that falls silent after these messages."""
    received: list[Message] = []
    pending = iter(messages)

    async def receive() -> Message:
        message = next(pending, None)
        return message if message is not None else await asyncio.Future()

    async def app(_scope: Scope, limited_receive: Receive, _send: Send) -> None:
        while True:
            received.append(await limited_receive())

    async def send(_: Message) -> None:
        raise AssertionError

    async def run() -> None:
        middleware = BodyLimitMiddleware(app, settings=Settings())
        await asyncio.wait_for(middleware(SCOPE, receive, send), 0.5)

    asyncio.run(run())
    return received


def test_silent_client_counts_as_disconnected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(body_limits, "MAX_SILENCE_S", 0.01)
    with pytest.raises(ClientDisconnect):
        receive_body({"type": "http.request", "body": b"x", "more_body": True})


def test_client_may_be_silent_after_the_end_of_its_body(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(body_limits, "MAX_SILENCE_S", 0.01)
    with pytest.raises(TimeoutError):  # of the test: the application waits for the disconnect
        receive_body({"type": "http.request", "body": b"x", "more_body": False})


def test_discarded_rest_of_a_large_body_may_not_stop_either(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(body_limits, "MAX_SILENCE_S", 0.01)
    large = {"type": "http.request", "body": bytes(3 << 20), "more_body": True}
    with pytest.raises(ClientDisconnect):
        receive_body(large)
