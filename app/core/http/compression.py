"""Gzip compression of responses, except where the compressed size could reveal a secret.

In the BREACH attack, somebody makes a person's browser open addresses with guesses in the query, observes the
sizes of the responses, and so learns what else is in the page. Therefore a request with both a cookie and a
query gets an uncompressed response (docs/decisions/0041).
"""

from starlette.datastructures import Headers
from starlette.middleware.gzip import GZipMiddleware
from starlette.types import Receive, Scope, Send


class SafeGzipMiddleware(GZipMiddleware):
    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and _is_safe_to_compress(scope):
            await super().__call__(scope, receive, send)
        else:
            await self.app(scope, receive, send)


def _is_safe_to_compress(scope: Scope) -> bool:
    """Return whether this is a GET request and the size of its compressed response cannot reveal a secret."""
    has_cookie_and_query = "cookie" in Headers(scope=scope) and bool(scope["query_string"])
    return scope["method"] == "GET" and not has_cookie_and_query
