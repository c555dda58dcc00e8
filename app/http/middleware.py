"""Security headers of all responses, limits on request bodies, and the check of the Host header."""

import asyncio
import re
import time
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from anoncup.errors import TooLarge, TooSlow
from app.config import Settings
from app.http.problems import DomainHTTPException, build_problem

MAX_DISCARDED_BYTES = 1 << 30
_TEXT_TYPES = ("application/json", "application/toml", "application/x-www-form-urlencoded")
UPLOAD_PATH_PATTERN = re.compile(r"/(submissions|guesses|baselines|(?:original|truth)/[^/]*)")
"""Matches the end of paths that accept files."""
_MAX_TEXT_MB = 2
"""Limit for all other bodies, and for all requests without credentials, since bodies are read before
authentication."""

_YEAR_S = 365 * 24 * 3600
_NO_PUBLIC_URL = (
    "this service answers only as localhost, 127.0.0.1 or [::1] until its operator sets ANONCUP_PUBLIC_URL"
    " to the address by which people reach it"
)
_HOST_INDEPENDENT_PATHS = {"/healthz", "/readyz", "/metrics"}
"""Paths for monitoring, which may use any host name."""

SECURITY_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "font-src 'self'; connect-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}


class HeadAsGetMiddleware:
    """Handles HEAD requests as GET, which FastAPI's routes do not. The server omits the body."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self.app(scope, receive, send)
            return
        get_scope = {**scope, "method": "GET"}
        await self.app(get_scope, receive, send)
        scope["route"] = get_scope.get("route")  # for the metrics


class SecurityHeadersMiddleware:
    """Adds the security headers, rejects requests for other hosts, and limits the body's size and slowness.

    The rest of a body that is too large is read before the response, up to ``MAX_DISCARDED_BYTES``. With the
    framework's own limit, the response bypasses the error handlers, and the connection is closed while the
    client is sending, which then often never reads the response.
    """

    def __init__(self, app: ASGIApp, *, settings: Settings) -> None:
        self.app = app
        self.settings = settings
        self.headers = SECURITY_HEADERS | build_hsts_headers(settings)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        if not self.is_for_own_host(scope):
            await self.build_wrong_host_response()(scope, receive, send)
            return

        rate_limit = BodyRateLimit(receive, self.settings)

        async def send_with_headers(message: Message) -> None:
            rate_limit.is_answered = True
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in self.headers.items():
                    headers.setdefault(name, value)
                if not scope["path"].startswith("/static/"):
                    # Personal content must not end up in a shared cache.
                    headers.setdefault("Cache-Control", "no-store")
            await send(message)

        await self.app(
            scope, _limit_body_size(rate_limit.receive, self.get_limit_mb(scope)), send_with_headers
        )

    def is_for_own_host(self, scope: Scope) -> bool:
        """Return whether the Host header names this service, or the path accepts any host."""
        host = parse_host(Headers(scope=scope).get("host", ""))
        return scope["path"] in _HOST_INDEPENDENT_PATHS or self.settings.serves_host(host)

    def build_wrong_host_response(self) -> Response:
        if self.settings.public_url:
            return build_problem(421, "other_host", "this service has another name")
        return build_problem(421, "other_host", _NO_PUBLIC_URL)

    def get_limit_mb(self, scope: Scope) -> int:
        headers = Headers(scope=scope)
        is_text = headers.get("content-type", "").startswith(_TEXT_TYPES)
        has_credentials = "authorization" in headers or "cookie" in headers
        is_upload = UPLOAD_PATH_PATTERN.search(scope["path"]) is not None
        return self.settings.body_limit_mb if has_credentials and is_upload and not is_text else _MAX_TEXT_MB


def parse_host(header: str) -> str:
    """Return the name in a Host header without its port; empty if the header is invalid."""
    try:
        return urlsplit(f"//{header}").hostname or ""
    except ValueError:
        return ""


def build_hsts_headers(settings: Settings) -> dict[str, str]:
    """Return the HSTS header for a public service behind https, valid for a year; otherwise no header."""
    if settings.is_local or not settings.public_url.startswith("https:"):
        return {}
    return {"Strict-Transport-Security": f"max-age={_YEAR_S}"}


class BodyRateLimit:
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
