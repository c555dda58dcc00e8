"""Limits on the size and the slowness of request bodies."""

import asyncio
import re
import time

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from anoncup.errors import TooLarge, TooSlow
from app.config import Settings
from app.http.problems import DomainHTTPException, build_problem

MAX_DISCARDED_BYTES = 1 << 30
_TEXT_TYPES = ("application/json", "application/toml", "application/x-www-form-urlencoded")
UPLOAD_PATH_PATTERN = re.compile(r"/(submissions|guesses|baselines|(?:original|truth)/[^/]*)")
"""Occurs in all paths that accept files, and may be followed by more, such as ``/check``."""
_MAX_TEXT_MB = 2
"""Limit for all other bodies, and for all requests without credentials, since bodies are read before
authentication."""


class BodyLimitMiddleware:
    """Limits the size and the slowness of request bodies, and refuses those with two lengths.

    The rest of a body that is too large is read before the response, up to ``MAX_DISCARDED_BYTES``. With the
    framework's own limit, the response bypasses the error handlers, and the connection is closed while the
    client is sending, which then often never reads the response.
    """

    def __init__(self, app: ASGIApp, *, settings: Settings) -> None:
        self.app = app
        self.settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        if "content-length" in headers and "transfer-encoding" in headers:
            await _build_two_lengths_response()(scope, receive, send)
            return

        rate_limit = _BodyRateLimit(receive, self.settings)

        async def send_and_lift_limit(message: Message) -> None:
            rate_limit.is_answered = True
            await send(message)

        limited_receive = _limit_body_size(rate_limit.receive, self._get_limit_mb(scope))
        await self.app(scope, limited_receive, send_and_lift_limit)

    def _get_limit_mb(self, scope: Scope) -> int:
        headers = Headers(scope=scope)
        is_text = headers.get("content-type", "").startswith(_TEXT_TYPES)
        has_credentials = "authorization" in headers or "cookie" in headers
        is_upload = UPLOAD_PATH_PATTERN.search(scope["path"]) is not None
        return self.settings.body_limit_mb if has_credentials and is_upload and not is_text else _MAX_TEXT_MB


def _build_two_lengths_response() -> Response:
    """Return the answer to a request whose end a proxy may see elsewhere. It ends the connection."""
    detail = "a request has either Content-Length or Transfer-Encoding"
    response = build_problem(400, "bad_request", detail)
    response.headers["Connection"] = "close"
    return response


class _BodyRateLimit:
    """A ``receive`` that raises 408 when a body arrives too slowly.

    Every received byte adds waiting time, up to a maximum. Only waiting for the client uses it up, not the
    time that an upload spends in our queue. There is no limit after the end of the body or the start of the
    response, for example while waiting for the disconnect that ends an event stream.
    """

    def __init__(self, receive: Receive, settings: Settings) -> None:
        self.wrapped_receive = receive
        self.bytes_per_s = settings.body_bytes_per_s
        self.max_wait_s = self.wait_left_s = settings.body_patience_s
        self.is_answered = False
        """Set by the middleware when the response starts."""
        self.is_ended = False

    async def receive(self) -> Message:
        if self.is_answered or self.is_ended:
            return await self.wrapped_receive()
        message = await self.receive_in_time()
        self.is_ended = not message.get("more_body", False)
        return message

    async def receive_in_time(self) -> Message:
        started_at = time.monotonic()
        try:
            async with asyncio.timeout(self.wait_left_s):
                message = await self.wrapped_receive()
        except TimeoutError:
            error = TooSlow(
                "send the body at {least} bytes a second or faster", least=round(self.bytes_per_s)
            )
            raise DomainHTTPException(error, headers={"Connection": "close"}) from None
        earned_s = len(message.get("body", b"")) / self.bytes_per_s
        self.wait_left_s = min(self.max_wait_s, self.wait_left_s - (time.monotonic() - started_at) + earned_s)
        return message


def _limit_body_size(receive: Receive, limit_mb: int) -> Receive:
    """Return a ``receive`` that raises 413 beyond the limit, after reading and discarding the rest."""
    received_bytes = 0

    async def receive_within_limit() -> Message:
        nonlocal received_bytes
        message = await receive()
        received_bytes += len(message.get("body", b""))
        if received_bytes > limit_mb * 2**20:
            await _discard_body(receive, message)
            raise DomainHTTPException(TooLarge("a request may have at most {most_mb} MB", most_mb=limit_mb))
        return message

    return receive_within_limit


async def _discard_body(receive: Receive, message: Message) -> None:
    """Read and discard the rest of the body, up to ``MAX_DISCARDED_BYTES``."""
    remaining_bytes = MAX_DISCARDED_BYTES
    while remaining_bytes > 0 and message["type"] == "http.request" and message.get("more_body"):
        message = await receive()
        remaining_bytes -= len(message.get("body", b""))
