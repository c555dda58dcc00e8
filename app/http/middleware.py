"""What every answer carries, and the bound on what a request may carry."""

import asyncio
import re
import time
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from anoncup.errors import TooLarge, TooSlow
from app.config import Settings
from app.http.problems import Refused, problem

DRAINED_BYTES = 1 << 30
TEXT_TYPES = ("application/json", "application/toml", "application/x-www-form-urlencoded")
FILES = re.compile(r"/(submissions|guesses|baselines|(?:original|truth)/[^/]*)")
"""The ends of the paths that take files."""
TEXT_MB = 2
"""The largest body elsewhere, and from whoever shows no credentials: it is read before they are checked."""

A_YEAR_S = 365 * 24 * 3600
NOT_NAMED = (
    "this service answers only as localhost, 127.0.0.1 or [::1] until its operator sets ANONCUP_PUBLIC_URL"
    " to the address by which people reach it"
)
ON_THE_MACHINE = {"/healthz", "/readyz", "/metrics"}
"""Asked by machines, by whatever name they know this one."""

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "font-src 'self'; connect-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}


class HeadAsGet:
    """Answers HEAD as GET, which FastAPI's routes do not; the server leaves the body out."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self.app(scope, receive, send)
            return
        asked = {**scope, "method": "GET"}
        await self.app(asked, receive, send)
        scope["route"] = asked.get("route")  # for the metrics


class Envelope:
    """Adds the security headers, bounds the body and its slowness, and lets a sender of too much finish.

    The framework's own bound answers outside the error handlers and cuts the connection under the sender,
    who then often never reads the answer.
    """

    def __init__(self, app: ASGIApp, *, settings: Settings) -> None:
        self.app = app
        self.settings = settings
        self.headers = HEADERS | strict_transport(settings)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        if not self.goes_by(scope):
            await self.other_host()(scope, receive, send)
            return

        paced = Pace(receive, self.settings)

        async def send_with_headers(message: Message) -> None:
            paced.answered = True
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in self.headers.items():
                    headers.setdefault(name, value)
                if not scope["path"].startswith("/static/"):
                    # What one person may see must not wait for the next in a shared cache.
                    headers.setdefault("Cache-Control", "no-store")
            await send(message)

        await self.app(scope, bounded(paced.receive, self.limit_mb(scope)), send_with_headers)

    def goes_by(self, scope: Scope) -> bool:
        """Whether the request is for this service: a name that somebody else gave it must not be answered."""
        host = host_of(Headers(scope=scope).get("host", ""))
        return scope["path"] in ON_THE_MACHINE or self.settings.answers(host)

    def other_host(self) -> Response:
        if self.settings.public_url:
            return problem(421, "other_host", "this service has another name")
        return problem(421, "other_host", NOT_NAMED)

    def limit_mb(self, scope: Scope) -> int:
        headers = Headers(scope=scope)
        text = headers.get("content-type", "").startswith(TEXT_TYPES)
        known = "authorization" in headers or "cookie" in headers
        takes_files = FILES.search(scope["path"]) is not None
        return self.settings.body_limit_mb if known and takes_files and not text else TEXT_MB


def host_of(header: str) -> str:
    """The name in a Host header, without its port; empty if it is none."""
    try:
        return urlsplit(f"//{header}").hostname or ""
    except ValueError:
        return ""


def strict_transport(settings: Settings) -> dict[str, str]:
    """Where the service is reached by https, browsers are to come by nothing else for a year."""
    if settings.is_local or not settings.public_url.startswith("https:"):
        return {}
    return {"Strict-Transport-Security": f"max-age={A_YEAR_S}"}


class Pace:
    """``receive`` that raises 408 when a body comes too slowly.

    Every byte buys its share of patience, up to all of it, and only waiting for the sender spends it: how
    long an upload stands in line here is not its sender's fault. What comes after the body or beside the
    answer, the end of a stream of events above all, is waited for without limit.
    """

    def __init__(self, receive: Receive, settings: Settings) -> None:
        self.wrapped = receive
        self.bytes_per_s = settings.body_bytes_per_s
        self.most_s = self.left_s = settings.body_patience_s
        self.answered = False
        """Set by who sees the answer begin."""
        self.ended = False

    async def receive(self) -> Message:
        if self.answered or self.ended:
            return await self.wrapped()
        message = await self.in_time()
        self.ended = not message.get("more_body", False)
        return message

    async def in_time(self) -> Message:
        began = time.monotonic()
        try:
            async with asyncio.timeout(self.left_s):
                message = await self.wrapped()
        except TimeoutError:
            slow = TooSlow("send the body at {least} bytes a second or faster", least=round(self.bytes_per_s))
            raise Refused(slow, headers={"Connection": "close"}) from None
        bought_s = len(message.get("body", b"")) / self.bytes_per_s
        self.left_s = min(self.most_s, self.left_s - (time.monotonic() - began) + bought_s)
        return message


def bounded(receive: Receive, limit_mb: int) -> Receive:
    """``receive`` that raises 413 beyond the limit, once the rest has been read and thrown away."""
    received = 0

    async def receive_within_limit() -> Message:
        nonlocal received
        message = await receive()
        received += len(message.get("body", b""))
        if received > limit_mb * 2**20:
            await drain(receive, message)
            raise Refused(TooLarge("a request may have at most {most_mb} MB", most_mb=limit_mb))
        return message

    return receive_within_limit


async def drain(receive: Receive, message: Message) -> None:
    """Read to the end of the body, within reason."""
    left = DRAINED_BYTES
    while left > 0 and message["type"] == "http.request" and message.get("more_body"):
        message = await receive()
        left -= len(message.get("body", b""))
