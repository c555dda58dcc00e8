"""Who may read the operator's numbers: whoever has the token, or is on this machine."""

from hmac import compare_digest

from fastapi import Request

from anoncup.errors import NotFound
from app.config import Settings, is_loopback

PASSED_ON = ("forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip")
"""Headers of which a proxy adds some: what comes from this machine may come from anywhere then."""


def require_operator(request: Request, settings: Settings) -> None:
    """NotFound, as for what is not there at all, for everybody else."""
    if not (has_token(request, settings.metrics_token) or is_near(request, settings)):
        raise NotFound("there is nothing here")


def has_token(request: Request, token: str) -> bool:
    shown = request.headers.get("authorization", "")
    return bool(token) and compare_digest(shown.encode(), f"Bearer {token}".encode())


def is_near(request: Request, settings: Settings) -> bool:
    """From this machine and nobody else's, while no token is asked for and the service has no public address:
    behind one there is a proxy, and not every proxy says so."""
    if settings.metrics_token or not settings.is_local or request.client is None:
        return False
    return is_loopback(request.client.host) and not any(name in request.headers for name in PASSED_ON)
