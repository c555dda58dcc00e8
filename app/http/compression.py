"""Text is sent compressed to who reads it so, but not what a stranger could make tell a secret by its size.

Whoever makes a person's browser open an address with guesses in its query, and sees how long the answers are,
learns what else is in the page (BREACH): with a cookie, a query stays uncompressed. Only whole answers to GET
are taken: what is streamed (events, archives, files) goes out as it comes (docs/decisions/0041).
"""

import gzip
import re

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LEAST_BYTES = 1024
"""Less fits into a packet as it is."""
IN_THREAD_BYTES = 1 << 16
"""So much holds up the others for more than a millisecond."""
LEVEL = 5
TYPES = (
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
GZIP = re.compile(r"(?:^|,)\s*gzip\s*(?:;\s*q=(?P<q>[01](?:\.\d{0,3})?)\s*)?(?=,|$)", re.IGNORECASE)


def reads_gzip(headers: Headers) -> bool:
    """Whether the client says that it can, and does not weigh it with nothing."""
    asked = GZIP.search(headers.get("accept-encoding", ""))
    return asked is not None and float(asked["q"] or 1) > 0


def may_be_packed(scope: Scope) -> bool:
    """A whole answer to this request tells nobody anything by its size."""
    with_cookie_and_query = "cookie" in Headers(scope=scope) and bool(scope["query_string"])
    return scope["method"] == "GET" and not with_cookie_and_query


def packed(body: bytes) -> bytes:
    """The same bytes for the same body, whenever."""
    return gzip.compress(body, LEVEL, mtime=0)


def weak(tag: str) -> str:
    """Of what is the same to a reader, in other bytes."""
    return tag if tag.startswith("W/") else f"W/{tag}"


class Compressed:
    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not may_be_packed(scope):
            await self.app(scope, receive, send)
            return
        await self.app(scope, receive, Answer(send, reads_gzip(Headers(scope=scope))).send)


class Answer:
    """Holds back the head of an answer until it is seen whether its body is whole."""

    def __init__(self, send: Send, wanted: bool) -> None:
        self.onward = send
        self.wanted = wanted
        self.head: Message | None = None

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start" and is_text(message):
            self.head = message
            return
        if self.head is not None:
            head, self.head = self.head, None
            body = message.get("body", b"")
            if not message.get("more_body") and len(body) >= LEAST_BYTES:
                message = {**message, "body": await self.shortened(head, body)}
            await self.onward(head)
        await self.onward(message)

    async def shortened(self, head: Message, body: bytes) -> bytes:
        """The body as it is sent, and its head told of it."""
        headers = MutableHeaders(scope=head)
        headers.add_vary_header("Accept-Encoding")
        if not self.wanted:
            return body
        made = packed(body) if len(body) < IN_THREAD_BYTES else await run_in_threadpool(packed, body)
        headers["Content-Encoding"] = "gzip"
        headers["Content-Length"] = str(len(made))
        if tag := headers.get("etag"):
            headers["ETag"] = weak(tag)
        return made


def is_text(head: Message) -> bool:
    """Text that nobody has compressed yet."""
    headers = Headers(raw=head["headers"])
    kind = headers.get("content-type", "").partition(";")[0].strip()
    return kind in TYPES and "content-encoding" not in headers
