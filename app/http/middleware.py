"""What every answer carries, and the bound on what a request may carry."""

import re

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

DRAINED_BYTES = 1 << 30
TEXT_TYPES = ("application/json", "application/toml", "application/x-www-form-urlencoded")
FILES = re.compile(r"/(submissions|guesses|baselines|original/[^/]*)")
"""The ends of the paths that take files."""
TEXT_MB = 2
"""The largest body elsewhere, and from whoever shows no credentials: it is read before they are checked."""

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "font-src 'self'; connect-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}


class Envelope:
    """Adds the security headers, bounds the body, and lets a sender of too much finish.

    The framework's own bound answers outside the error handlers and cuts the connection under the sender,
    who then often never reads the answer.
    """

    def __init__(self, app: ASGIApp, *, body_limit_mb: int) -> None:
        self.app = app
        self.body_limit_mb = body_limit_mb

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                if not scope["path"].startswith("/static/"):
                    # What one person may see must not wait for the next in a shared cache.
                    headers.setdefault("Cache-Control", "no-store")
            await send(message)

        await self.app(scope, bounded(receive, self.limit_mb(scope)), send_with_headers)

    def limit_mb(self, scope: Scope) -> int:
        headers = Headers(scope=scope)
        text = headers.get("content-type", "").startswith(TEXT_TYPES)
        known = "authorization" in headers or "cookie" in headers
        takes_files = FILES.search(scope["path"]) is not None
        return self.body_limit_mb if known and takes_files and not text else TEXT_MB


def bounded(receive: Receive, limit_mb: int) -> Receive:
    """``receive`` that raises 413 beyond the limit, once the rest has been read and thrown away."""
    received = 0

    async def receive_within_limit() -> Message:
        nonlocal received
        message = await receive()
        received += len(message.get("body", b""))
        if received > limit_mb * 2**20:
            await drain(receive, message)
            raise HTTPException(413, f"a request has at most {limit_mb} MB")
        return message

    return receive_within_limit


async def drain(receive: Receive, message: Message) -> None:
    """Read to the end of the body, within reason."""
    left = DRAINED_BYTES
    while left > 0 and message["type"] == "http.request" and message.get("more_body"):
        message = await receive()
        left -= len(message.get("body", b""))
