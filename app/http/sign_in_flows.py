"""Sign-ins with a provider that have begun, kept in Redis for some minutes under a secret of the browser.

They are kept on the server because a flow records that the password was confirmed, and that the provider
vouched for somebody who has no account yet.
"""

import secrets
from typing import Literal
from uuid import UUID

import redis
from fastapi import Request
from pydantic import BaseModel, ValidationError
from starlette.responses import Response

from anoncup.errors import Unavailable, WrongCredential
from app.config import get_settings
from app.http.redis_client import CONNECTION_ERRORS, get_pool
from app.http.session_cookie import choose_name
from app.http.throttle import build_key

_LIFETIME_S = 600


class SignInFlow(BaseModel):
    """A sign-in with a provider.

    ``user_id`` is the person who links a provider or confirms. ``subject`` is set once the provider has
    vouched for a person who has no account yet.
    """

    provider: str
    purpose: Literal["sign_in", "link", "confirm"] = "sign_in"
    to: str = "/"
    user_id: UUID | None = None
    state: str = ""
    nonce: str = ""
    code_verifier: str = ""
    subject: str | None = None


def store_flow(response: Response, request: Request, flow: SignInFlow) -> None:
    """Store the flow under a new secret, and set it as a cookie of the browser."""
    secret = secrets.token_urlsafe(32)
    _call_redis("set", _build_key(secret), flow.model_dump_json(), ex=_LIFETIME_S)
    name, is_secure = _choose_cookie(request)
    response.set_cookie(name, secret, max_age=_LIFETIME_S, httponly=True, samesite="lax", secure=is_secure)


def take_flow(request: Request, provider: str, state: str) -> SignInFlow:
    """Return the flow that the provider answers, once. Raise WrongCredential if this browser began none."""
    flow = _read_flow(request, "getdel")
    if flow is None or flow.provider != provider or flow.subject is not None:
        raise build_expired_error()
    if not secrets.compare_digest(flow.state.encode(), state.encode()):
        raise build_expired_error()
    return flow


def require_newcomer(request: Request, provider: str) -> SignInFlow:
    """Return the flow of a person who has no account yet, whom the provider vouched for."""
    flow = _read_flow(request, "get")
    if flow is None or flow.provider != provider or flow.subject is None:
        raise build_expired_error()
    return flow


def delete_flow(response: Response, request: Request) -> None:
    """Delete the flow and its cookie."""
    _read_flow(request, "getdel")
    name, is_secure = _choose_cookie(request)
    response.delete_cookie(name, secure=is_secure)


def _read_flow(request: Request, command: Literal["get", "getdel"]) -> SignInFlow | None:
    secret = request.cookies.get(_choose_cookie(request)[0])
    stored = _call_redis(command, _build_key(secret)) if secret else None
    try:
        return SignInFlow.model_validate_json(stored) if isinstance(stored, bytes) else None
    except ValidationError:  # of another version
        return None


def _call_redis(command: str, *arguments: object, **options: object) -> object:
    client = redis.Redis(connection_pool=get_pool(get_settings().redis_url))
    try:
        return getattr(client, command)(*arguments, **options)
    except CONNECTION_ERRORS:
        raise Unavailable(
            "signing in with a provider is not possible at the moment: try again later, or use a password",
            code="sign_in_unavailable",
        ) from None


def _build_key(secret: str) -> str:
    return f"anoncup:{build_key('sign-in', secret)}"


def _choose_cookie(request: Request) -> tuple[str, bool]:
    """Return the name of the cookie, and whether it is sent over https only."""
    session_name, is_secure = choose_name(request, get_settings())
    return session_name.replace("session", "sign_in"), is_secure


def build_expired_error() -> WrongCredential:
    return WrongCredential(
        "this sign-in began in another browser or more than 10 minutes ago: begin again",
        code="sign_in_expired",
    )
