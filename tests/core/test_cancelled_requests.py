"""A request that is cancelled because the server stops is answered with 503."""

import asyncio
from typing import Any

import pytest
from starlette.types import Message, Receive, Scope, Send

from app.core.http.middleware import CancelledRequestMiddleware


async def _cancel_request(*, starts_response: bool) -> list[Message]:
    """Cancel a request that never ends, and return what was sent to the client."""
    sent: list[Message] = []
    is_waiting = asyncio.Event()

    async def never_finish(scope: Scope, receive: Receive, send: Send) -> None:
        if starts_response:
            await send({"type": "http.response.start", "status": 200, "headers": []})
        is_waiting.set()
        await asyncio.Event().wait()

    async def receive() -> Message:
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        sent.append(message)

    scope: dict[str, Any] = {"type": "http", "method": "GET", "path": "/", "headers": []}
    task = asyncio.create_task(CancelledRequestMiddleware(never_finish)(scope, receive, send))
    await is_waiting.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    return sent


def test_a_cancelled_request_is_answered_with_503_and_a_time_to_retry() -> None:
    start, body = asyncio.run(_cancel_request(starts_response=False))
    assert start["status"] == 503
    assert (b"retry-after", b"10") in start["headers"]
    assert b'"unavailable"' in body["body"]


def test_a_response_that_has_begun_is_left_as_it_is() -> None:
    (start,) = asyncio.run(_cancel_request(starts_response=True))
    assert start["status"] == 200
