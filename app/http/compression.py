"""Gzip compression of text responses, except where the compressed size could reveal a secret.

In the BREACH attack, somebody makes a person's browser open addresses with guesses in the query, observes the
sizes of the responses, and so learns what else is in the page. Therefore a request with both a cookie and a
query gets an uncompressed response (docs/decisions/0041). Starlette's middleware does the rest.
"""

import gzip
import re
from functools import partial

from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware.gzip import DEFAULT_EXCLUDED_CONTENT_TYPES, GZipResponder, IdentityResponder
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_MIN_BYTES = 1024
"""Smaller bodies fit into one packet uncompressed."""
_MIN_THREAD_BYTES = 1 << 16
"""Compressing a body of this size blocks the event loop for more than a millisecond."""
_GZIP_LEVEL = 5
_EXCLUDED_TYPES = (*DEFAULT_EXCLUDED_CONTENT_TYPES, "application/octet-stream")
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
        if accepts_gzip(Headers(scope=scope)):
            responder: ASGIApp = GZipResponder(
                self.app,
                _MIN_BYTES,
                _GZIP_LEVEL,
                thread_minimum_size=_MIN_THREAD_BYTES,
                exclude_content_types=_EXCLUDED_TYPES,
            )
        else:
            responder = IdentityResponder(self.app, _MIN_BYTES, exclude_content_types=_EXCLUDED_TYPES)
        await responder(scope, receive, partial(_send_with_weak_etag, send))


async def _send_with_weak_etag(send: Send, message: Message) -> None:
    """Send the message; the ETag of a compressed response becomes weak, as Starlette leaves it strong."""
    if message["type"] == "http.response.start":
        headers = MutableHeaders(scope=message)
        if "content-encoding" in headers and "etag" in headers:
            headers["ETag"] = weaken_etag(headers["ETag"])
    await send(message)
