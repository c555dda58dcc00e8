"""The cookie of a browser session: its name, and how it is read, set and deleted."""

from fastapi import Request
from fastapi.responses import RedirectResponse

from anoncup.schemas import TokenKind
from app.config import get_settings
from app.core.http.middleware import parse_host
from app.core.identity import tokens
from app.core.identity.tokens import Credential

COOKIE = "anoncup_session"
SECURE_COOKIE = f"__Host-{COOKIE}"
"""Cookie name for https-only sessions. Browsers accept a ``__Host-`` cookie only from the exact host."""


def read_session_cookie(request: Request) -> Credential | None:
    """Return the browser session of the request, if it has one."""
    token = request.cookies.get(_choose_name(request)[0])
    return None if token is None else Credential(tokens.hash_token(token), TokenKind.SESSION)


def set_session_cookie(response: RedirectResponse, token: str, request: Request) -> RedirectResponse:
    """Set the session cookie on the response."""
    name, is_secure = _choose_name(request)
    response.set_cookie(
        name,
        token,
        max_age=int(tokens.SESSION_LIFETIME.total_seconds()),
        httponly=True,
        samesite="lax",
        secure=is_secure,
    )
    return response


def delete_session_cookie(response: RedirectResponse, request: Request) -> None:
    """Tell the browser to delete the session cookie."""
    name, is_secure = _choose_name(request)
    response.delete_cookie(name, secure=is_secure)


def _choose_name(request: Request) -> tuple[str, bool]:
    """Return the name of the session cookie, and whether it is sent over https only."""
    is_secure = get_settings().requires_https(parse_host(request.headers.get("host", "")))
    return SECURE_COOKIE if is_secure else COOKIE, is_secure
