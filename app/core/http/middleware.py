"""HEAD requests, cancelled requests, compression, security headers, and the check of the Host header."""

from asyncio import CancelledError
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware.gzip import GZipMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from anoncup.errors import Unavailable
from app.config import Settings
from app.core.http.problems import build_domain_problem, build_problem

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


class CancelledRequestMiddleware:
    """Answers 503 to requests that are cancelled because the server stops. uvicorn would answer 500."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        has_started = False

        async def send_and_note_start(message: Message) -> None:
            nonlocal has_started
            has_started = True
            await send(message)

        try:
            await self.app(scope, receive, send_and_note_start)
        except CancelledError:
            if scope["type"] == "http" and not has_started:
                response = build_domain_problem(Unavailable("the service stops; try again in a moment"))
                await response(scope, receive, send)
            raise


class SafeGzipMiddleware(GZipMiddleware):
    """Compresses responses, except where the compressed size could reveal a secret.

    In the BREACH attack, somebody makes a person's browser open addresses with guesses in the query, observes
    the sizes of the responses, and so learns what else is in the page. Therefore a request with both a cookie
    and a query gets an uncompressed response (docs/decisions/0041).
    """

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and _is_safe_to_compress(scope):
            await super().__call__(scope, receive, send)
        else:
            await self.app(scope, receive, send)


def _is_safe_to_compress(scope: Scope) -> bool:
    has_cookie_and_query = "cookie" in Headers(scope=scope) and bool(scope["query_string"])
    return scope["method"] == "GET" and not has_cookie_and_query


class SecurityHeadersMiddleware:
    """Adds the security headers to all responses, and keeps personal content out of shared caches."""

    def __init__(self, app: ASGIApp, *, settings: Settings) -> None:
        self.app = app
        self.headers = SECURITY_HEADERS | build_hsts_headers(settings)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in self.headers.items():
                    headers.setdefault(name, value)
                if not scope["path"].startswith("/static/"):
                    headers.setdefault("Cache-Control", "no-store")
            await send(message)

        await self.app(scope, receive, send_with_headers)


class OwnHostMiddleware:
    """Rejects requests whose Host header does not name this service."""

    def __init__(self, app: ASGIApp, *, settings: Settings) -> None:
        self.app = app
        self.settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] not in _HOST_INDEPENDENT_PATHS:
            host = parse_host(Headers(scope=scope).get("host", ""))
            if not self.settings.serves_host(host):
                detail = "this service has another name" if self.settings.public_url else _NO_PUBLIC_URL
                await build_problem(421, "other_host", detail)(scope, receive, send)
                return
        await self.app(scope, receive, send)


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
