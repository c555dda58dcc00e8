"""Limits on request bodies: their size, and how long a client may be silent before the end."""

import asyncio
import re

from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from anoncup.errors import TooLarge
from app.config import Settings
from app.core.http.problems import DomainHTTPException, build_problem

MAX_DISCARDED_BYTES = 1 << 30
MAX_SILENCE_S = 30.0
"""Time without a byte after which a client counts as disconnected, so that its upload blocks no other."""
_TEXT_TYPES = ("application/json", "application/toml", "application/x-www-form-urlencoded")
_TWO_LENGTHS = "a request has either Content-Length or Transfer-Encoding"
UPLOAD_PATH_PATTERN = re.compile(r"/(submissions|guesses|baselines|(?:original|truth)/[^/]*)")
"""Occurs in all paths that accept files, and may be followed by more, such as ``/check``."""
_MAX_TEXT_MB = 2
"""Limit for all other bodies, and for all requests without credentials, since bodies are read before
authentication."""


class BodyLimitMiddleware:
    """Limits the size of request bodies, and refuses those with two lengths.

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
            # A proxy may see the end of this request elsewhere, so the connection ends too.
            response = build_problem(400, "bad_request", _TWO_LENGTHS)
            response.headers["Connection"] = "close"
            await response(scope, receive, send)
            return
        await self.app(scope, _limit_body(receive, self._get_limit_mb(scope)), send)

    def _get_limit_mb(self, scope: Scope) -> int:
        headers = Headers(scope=scope)
        is_text = headers.get("content-type", "").startswith(_TEXT_TYPES)
        has_credentials = "authorization" in headers or "cookie" in headers
        is_upload = UPLOAD_PATH_PATTERN.search(scope["path"]) is not None
        return self.settings.body_limit_mb if has_credentials and is_upload and not is_text else _MAX_TEXT_MB


def _limit_body(receive: Receive, limit_mb: int) -> Receive:
    """Return a ``receive`` with limits until the end of the body.

    Beyond the size it raises 413, after reading and discarding the rest.
    """
    received_bytes, is_ended = 0, False

    async def receive_within_limits() -> Message:
        nonlocal received_bytes, is_ended
        if is_ended:  # the next message is the disconnect
            return await receive()
        message = await _receive_in_time(receive)
        received_bytes += len(message.get("body", b""))
        if received_bytes > limit_mb * 2**20:
            await _discard_body(receive, message)
            raise DomainHTTPException(TooLarge("a request may have at most {most_mb} MB", most_mb=limit_mb))
        is_ended = not message.get("more_body", False)
        return message

    return receive_within_limits


async def _receive_in_time(receive: Receive) -> Message:
    try:
        async with asyncio.timeout(MAX_SILENCE_S):
            return await receive()
    except TimeoutError:
        raise ClientDisconnect from None


async def _discard_body(receive: Receive, message: Message) -> None:
    """Read and discard the rest of the body, up to ``MAX_DISCARDED_BYTES``."""
    remaining_bytes = MAX_DISCARDED_BYTES
    while remaining_bytes > 0 and message["type"] == "http.request" and message.get("more_body"):
        message = await _receive_in_time(receive)
        remaining_bytes -= len(message.get("body", b""))
