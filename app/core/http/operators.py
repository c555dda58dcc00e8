"""Restrict operator pages such as ``/metrics`` to a token, or to requests from this host."""

from hmac import compare_digest

from fastapi import Request

from anoncup.errors import NotFound
from app.config import Settings, is_loopback

PROXY_HEADERS = ("forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip")
"""Headers added by proxies. A local connection with one of them may come from anywhere."""


def require_operator(request: Request, settings: Settings) -> None:
    """Raise NotFound, as if the page did not exist, unless the operator makes the request."""
    if not (_has_token(request, settings.metrics_token) or _is_local_request(request, settings)):
        raise NotFound("there is nothing here")


def _has_token(request: Request, token: str) -> bool:
    authorization = request.headers.get("authorization", "")
    return bool(token) and compare_digest(authorization.encode(), f"Bearer {token}".encode())


def _is_local_request(request: Request, settings: Settings) -> bool:
    """Return whether the request certainly comes from this host.

    It may come from elsewhere if a proxy passed it on. A service with a public URL is behind a proxy, and not
    every proxy adds a header. If a token is set, only the token counts.
    """
    if settings.metrics_token or not settings.is_local or request.client is None:
        return False
    return is_loopback(request.client.host) and not any(name in request.headers for name in PROXY_HEADERS)
