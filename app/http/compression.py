"""Gzip compression of text responses, except where the compressed size could reveal a secret.

In the BREACH attack, somebody makes a person's browser open addresses with guesses in the query, observes the
sizes of the responses, and so learns what else is in the page. Therefore a request with both a cookie and a
query gets an uncompressed response. Only complete responses to GET are compressed; streams (events, archives,
files) are passed through (docs/decisions/0041).
"""

import gzip
import re

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_MIN_BYTES = 1024
"""Smaller bodies fit into one packet uncompressed."""
_MIN_THREAD_BYTES = 1 << 16
"""Compressing a body of this size blocks the event loop for more than a millisecond."""
_GZIP_LEVEL = 5
_COMPRESSIBLE_TYPES = (
    "text/html",
    "text/css",
    "text/csv",
    "text/plain",
    "text/calendar",
    "text/javascript",
    "application/javascript",
    "application/json",
    "application/problem+json",
    "application/atom+xml",
    "image/svg+xml",
)
_GZIP_PATTERN = re.compile(r"(?:^|,)\s*gzip\s*(?:;\s*q=(?P<q>[01](?:\.\d{0,3})?)\s*)?(?=,|$)", re.IGNORECASE)


def accepts_gzip(headers: Headers) -> bool:
    """Return whether Accept-Encoding lists gzip with a weight above 0."""
    match = _GZIP_PATTERN.search(headers.get("accept-encoding", ""))
    return match is not None and float(match["q"] or 1) > 0


def is_safe_to_compress(scope: Scope) -> bool:
    """Return whether this is a GET request and the size of its compressed response cannot reveal a secret."""
    has_cookie_and_query = "cookie" in Headers(scope=scope) and bool(scope["query_string"])
    return scope["method"] == "GET" and not has_cookie_and_query


def compress(body: bytes) -> bytes:
    """Return the gzipped body; the same body always gives the same bytes."""
    return gzip.compress(body, _GZIP_LEVEL, mtime=0)


def weaken_etag(etag: str) -> str:
    """Return the weak form of an ETag, for equivalent content in other bytes."""
    return etag if etag.startswith("W/") else f"W/{etag}"


class GzipMiddleware:
    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not is_safe_to_compress(scope):
            await self.app(scope, receive, send)
            return
        await self.app(scope, receive, BufferedResponse(send, accepts_gzip(Headers(scope=scope))).send)


class BufferedResponse:
    """Delays the start of a response until it is known whether the whole body comes in one message."""

    def __init__(self, send: Send, is_gzip_accepted: bool) -> None:
        self.wrapped_send = send
        self.is_gzip_accepted = is_gzip_accepted
        self.start_message: Message | None = None

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start" and _is_compressible(message):
            self.start_message = message
            return
        if self.start_message is not None:
            start_message, self.start_message = self.start_message, None
            body = message.get("body", b"")
            if not message.get("more_body") and len(body) >= _MIN_BYTES:
                message = {**message, "body": await self.encode_body(start_message, body)}
            await self.wrapped_send(start_message)
        await self.wrapped_send(message)

    async def encode_body(self, start_message: Message, body: bytes) -> bytes:
        """Return the body to send and set the headers for its encoding."""
        headers = MutableHeaders(scope=start_message)
        headers.add_vary_header("Accept-Encoding")
        if not self.is_gzip_accepted:
            return body
        compressed = (
            compress(body) if len(body) < _MIN_THREAD_BYTES else await run_in_threadpool(compress, body)
        )
        headers["Content-Encoding"] = "gzip"
        headers["Content-Length"] = str(len(compressed))
        if etag := headers.get("etag"):
            headers["ETag"] = weaken_etag(etag)
        return compressed


def _is_compressible(start_message: Message) -> bool:
    """Return whether the response is text and not encoded yet."""
    headers = Headers(raw=start_message["headers"])
    content_type = headers.get("content-type", "").partition(";")[0].strip()
    return content_type in _COMPRESSIBLE_TYPES and "content-encoding" not in headers
