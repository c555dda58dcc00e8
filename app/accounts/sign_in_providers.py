"""Sign-in with the providers that operators set, by Authlib: authorization code, PKCE, state and nonce.

All addresses come from the settings, or from the description that a provider of the settings publishes. What
a sign-in remembers is in a cookie that ``SessionMiddleware`` signs.
"""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import lru_cache
from typing import Any, Literal
from uuid import UUID

import httpx2
import structlog
from authlib.common.errors import AuthlibBaseError
from authlib.integrations.base_client.errors import MismatchingStateError
from authlib.integrations.httpx_client import AsyncOAuth2Client
from authlib.integrations.starlette_client import StarletteIntegration, StarletteOAuth2App
from fastapi import Request
from joserfc.errors import JoseError
from pydantic import BaseModel, ValidationError

from anoncup.errors import NotFound, Unavailable, WrongCredential
from app.config import SignInProvider, get_settings, is_secure_url

log = structlog.get_logger(__name__)

FLOW_COOKIE = "anoncup_sign_in"
FLOW_LIFETIME_S = 600
_FLOW_KEY = "flow"
_STEP_TIMEOUT_S, _TOTAL_TIMEOUT_S = 5, 15
"""Time for each step of a request to a provider, and for all requests of one page."""
_MAX_ANSWER_BYTES = 1 << 18
_RELOAD_AFTER_S = 3600
"""Seconds until the description and the keys of a provider are loaded again."""
_MAX_AUTHENTICATION_AGE_S, _MAX_CLOCK_SKEW_S = 300, 60
_MAX_SUBJECT_LENGTH = 255
_ENDPOINTS = ("authorization_endpoint", "token_endpoint", "jwks_uri")
_PROVIDER_ERRORS = (
    *(httpx2.HTTPError, httpx2.InvalidURL, OSError, RuntimeError),
    *(ValueError, LookupError, TypeError, AttributeError, ArithmeticError),
)
"""Errors of a provider that cannot be reached or answers something else than JSON of the right shape."""
_ASYMMETRIC_ALGORITHMS = ("RS", "PS", "ES", "Ed")


class SignInFlow(BaseModel):
    """A sign-in with a provider, as the cookie remembers it.

    ``user_id`` is the person who links a provider or confirms. ``subject`` is set once the provider has
    vouched for a person who has no account yet.
    """

    provider: str
    purpose: Literal["sign_in", "link", "confirm"] = "sign_in"
    to: str = "/"
    user_id: UUID | None = None
    subject: str | None = None


def store_flow(request: Request, flow: SignInFlow) -> None:
    request.session.clear()
    request.session[_FLOW_KEY] = flow.model_dump(mode="json")


def find_flow(request: Request, provider: str, *, is_answered: bool) -> SignInFlow:
    """Return the flow of this browser with the provider. Raise WrongCredential if it began none.

    ``is_answered``: whether the provider has vouched for the person already.
    """
    try:
        flow = SignInFlow.model_validate(request.session.get(_FLOW_KEY))
    except ValidationError:
        raise build_expired_error() from None
    if flow.provider != provider or (flow.subject is not None) != is_answered:
        raise build_expired_error()
    return flow


def find_provider(name: str) -> SignInProvider:
    try:
        return get_settings().sign_in[name]
    except KeyError:
        raise NotFound("there is no such provider", code="no_such_provider") from None


async def begin(request: Request, flow: SignInFlow, redirect_url: str) -> str:
    """Store the flow and return the URL at the provider.

    For a confirmation, the provider is asked to authenticate the person anew.
    """
    provider = find_provider(flow.provider)
    parameters = {"max_age": "0"} if flow.purpose == "confirm" else {}
    async with _translate_errors(flow.provider):
        client = await _load_client(flow.provider, provider)
        authorization = await client.create_authorization_url(redirect_url, **parameters)
    if provider.user_url:  # its ID token, if it sends one, is not read
        authorization.pop("nonce", None)
    store_flow(request, flow)
    await client.save_authorize_data(request, redirect_uri=redirect_url, **authorization)
    return str(authorization["url"])


async def check_provider(name: str) -> None:
    """Raise Unavailable if the provider does not answer, or not with a description of its own."""
    provider = find_provider(name)
    try:
        await _load_client(name, provider)
        if provider.user_url:
            async with httpx2.AsyncClient(timeout=_STEP_TIMEOUT_S) as client:
                response = await client.get(provider.authorize_url)
            if response.is_server_error:  # without a request for a sign-in, other errors are usual
                response.raise_for_status()
    except _PROVIDER_ERRORS as problem:
        kind = type(problem).__name__
        raise Unavailable(
            "{issuer} does not answer as a provider does ({kind})", issuer=provider.issuer, kind=kind
        ) from problem


async def fetch_subject(request: Request, flow: SignInFlow) -> str:
    """Exchange the code in the request, and return the permanent identifier of the person at the provider.

    Raise WrongCredential if the provider rejects the code or its answer is not for this flow, and Unavailable
    if it cannot be reached.
    """
    provider = find_provider(flow.provider)
    options = {
        "iss": {"essential": True, "value": provider.issuer},
        "aud": {"essential": True, "value": provider.client_id},
    }
    async with _translate_errors(flow.provider):
        client = await _load_client(flow.provider, provider)
        token = await client.authorize_access_token(request, claims_options=options)
        claims = (await client.userinfo(token=token)) if provider.user_url else token.get("userinfo")
    if claims is None:  # no ID token, or no scope ``openid``
        raise _build_refusal()
    if flow.purpose == "confirm" and not _is_fresh(claims.get("auth_time")):
        raise WrongCredential(
            "the provider did not ask you to sign in again: sign out there and try again",
            code="sign_in_not_fresh",
        )
    return _parse_subject(claims.get(provider.subject))


def _is_fresh(authenticated_at: object) -> bool:
    """Return whether the person signed in just now. Some providers, such as Google, do not tell."""
    if authenticated_at is None:
        return True
    if isinstance(authenticated_at, bool) or not isinstance(authenticated_at, int | float):
        return False
    # A whole number can be larger than any float.
    return -_MAX_CLOCK_SKEW_S <= int(time.time()) - authenticated_at <= _MAX_AUTHENTICATION_AGE_S


def _parse_subject(subject: object) -> str:
    """Return the identifier as text. Raise WrongCredential for one that OpenID Connect does not allow."""
    text = str(subject) if isinstance(subject, str | int) and not isinstance(subject, bool) else ""
    if not 0 < len(text) <= _MAX_SUBJECT_LENGTH or not (text.isascii() and text.isprintable()):
        raise _build_refusal()
    return text


async def _load_client(name: str, provider: SignInProvider) -> Any:
    """Return the provider's client with the provider's description."""
    client = _get_client(name, provider, int(time.monotonic() // _RELOAD_AFTER_S))
    if not provider.user_url:
        _restrict_metadata(client, provider, await client.load_server_metadata())
    return client


def _restrict_metadata(client: Any, provider: SignInProvider, metadata: dict[str, Any]) -> None:
    """Check that the description is the provider's own, and let it choose among safe methods only."""
    if metadata["issuer"] != provider.issuer or not all(is_secure_url(metadata[name]) for name in _ENDPOINTS):
        raise ValueError("the description is that of another provider")
    names = metadata.get("id_token_signing_alg_values_supported", ())
    allowed = [name for name in names if name.startswith(_ASYMMETRIC_ALGORITHMS)]
    metadata["id_token_signing_alg_values_supported"] = allowed or ["RS256"]
    methods = metadata.get("token_endpoint_auth_methods_supported", ())
    if client.client_secret and "client_secret_post" in methods and "client_secret_basic" not in methods:
        client.client_kwargs["token_endpoint_auth_method"] = "client_secret_post"  # noqa: S105  # a method


class _BoundedClient(AsyncOAuth2Client):  # type: ignore[misc]  # without types
    """A client that reads answers of limited size."""

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        response = await super().send(request, **options | {"stream": True})
        content = bytearray()
        try:
            async for chunk in response.aiter_bytes():
                content += chunk
                if len(content) > _MAX_ANSWER_BYTES:
                    raise ValueError("the answer of the provider is too large")
        finally:
            await response.aclose()
        headers = {"content-type": response.headers.get("content-type", "")}
        return httpx2.Response(response.status_code, headers=headers, content=bytes(content), request=request)


class _ProviderApp(StarletteOAuth2App):  # type: ignore[misc]  # without types
    client_cls = _BoundedClient


@lru_cache(maxsize=16)
def _get_client(name: str, provider: SignInProvider, _: int) -> Any:
    """Return the client of this hour."""
    return _ProviderApp(
        framework=StarletteIntegration(name),
        client_id=provider.client_id,
        client_secret=provider.read_secret() or None,
        authorize_url=provider.authorize_url or None,
        access_token_url=provider.token_url or None,
        userinfo_endpoint=provider.user_url or None,
        server_metadata_url=None
        if provider.user_url
        else f"{provider.issuer.rstrip('/')}/.well-known/openid-configuration",
        client_kwargs={"scope": provider.scope, "code_challenge_method": "S256", "timeout": _STEP_TIMEOUT_S},
    )


@asynccontextmanager
async def _translate_errors(name: str) -> AsyncIterator[None]:
    """Limit the time, and raise domain errors.

    Their reasons are logged by type only: their texts may contain tokens.
    """
    try:
        async with asyncio.timeout(_TOTAL_TIMEOUT_S):
            yield
    except MismatchingStateError:
        raise build_expired_error() from None
    except (AuthlibBaseError, JoseError) as problem:
        if problem.error == "access_denied":
            raise WrongCredential(
                "you cancelled the sign-in with the provider", code="sign_in_cancelled"
            ) from None
        log.warning(
            "sign_in_refused", provider=name, kind=type(problem).__name__, error=str(problem.error)[:80]
        )
        raise _build_refusal() from None
    except _PROVIDER_ERRORS as problem:
        log.warning("sign_in_provider_unavailable", provider=name, kind=type(problem).__name__)
        raise Unavailable(
            "the provider cannot be reached or answers with an error: try again later",
            code="provider_unavailable",
        ) from None


def build_expired_error() -> WrongCredential:
    return WrongCredential(
        "this sign-in began in another browser or more than 10 minutes ago: begin again",
        code="sign_in_expired",
    )


def _build_refusal() -> WrongCredential:
    return WrongCredential("the provider’s answer is not valid: sign in again", code="sign_in_refused")
