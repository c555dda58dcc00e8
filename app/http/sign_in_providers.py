"""Sign-in with the providers that operators set: authorization code, PKCE and nonce, by Authlib.

All addresses come from the settings, or from the description that a provider of the settings publishes.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import httpx2
import structlog
from authlib.common.errors import AuthlibBaseError
from joserfc.errors import JoseError

from anoncup.errors import NotFound, Unavailable, WrongCredential
from anoncup.lazy import lazy
from app.config import SignInProvider, get_settings, is_secure_url

log = structlog.get_logger(__name__)

_open_client = lazy("authlib.integrations.starlette_client.StarletteOAuth2App")
_TIMEOUT_S = 5
_RELOAD_AFTER_S = 3600
"""Seconds until the description and the keys of a provider are loaded again."""
_MAX_AUTHENTICATION_AGE_S = 300
_MAX_SUBJECT_LENGTH = 255
_ENDPOINTS = ("authorization_endpoint", "token_endpoint", "jwks_uri")
_PROVIDER_ERRORS = (httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError, KeyError, TypeError)
"""Errors of a provider that cannot be reached or answers something else."""
_ASYMMETRIC_ALGORITHMS = ("RS", "PS", "ES", "Ed")


def find_provider(name: str) -> SignInProvider:
    try:
        return get_settings().sign_in[name]
    except KeyError:
        raise NotFound("there is no such provider", code="no_such_provider") from None


async def build_request(name: str, redirect_url: str, *, is_confirmation: bool) -> dict[str, str]:
    """Return the URL at the provider with its ``state``, ``code_verifier`` and, by OpenID Connect, ``nonce``.

    For a confirmation, the provider is asked to authenticate the person anew.
    """
    provider = find_provider(name)
    parameters = {"max_age": "0"} if is_confirmation else {}
    with _translate_errors(name):
        client = await _load_client(provider)
        request: dict[str, str] = await client.create_authorization_url(redirect_url, **parameters)
    return request


async def check_provider(name: str) -> None:
    """Raise Unavailable if the provider does not answer, or not with a description of its own."""
    provider = find_provider(name)
    try:
        await _load_client(provider)
        if provider.user_url:
            async with httpx2.AsyncClient(timeout=_TIMEOUT_S) as client:
                response = await client.get(provider.authorize_url)
            if response.is_server_error:  # without a request for a sign-in, other errors are usual
                response.raise_for_status()
    except _PROVIDER_ERRORS as problem:
        kind = type(problem).__name__
        raise Unavailable(
            "{issuer} does not answer as a provider does ({kind})", issuer=provider.issuer, kind=kind
        ) from problem


async def fetch_subject(
    name: str, *, code: str, code_verifier: str, nonce: str, redirect_url: str, is_confirmation: bool
) -> str:
    """Exchange the code, and return the permanent identifier of the person at the provider.

    Raise WrongCredential if the provider rejects the code or its answer is not for this sign-in, and
    Unavailable if it cannot be reached.
    """
    provider = find_provider(name)
    with _translate_errors(name):
        client = await _load_client(provider)
        token = await client.fetch_access_token(redirect_url, code=code, code_verifier=code_verifier)
        claims = (
            (await client.userinfo(token=token))
            if provider.user_url
            else await _verify_id_token(client, provider, token, nonce)
        )
    subject = claims.get(provider.subject)
    is_identifier = isinstance(subject, str | int) and not isinstance(subject, bool)
    if not is_identifier or not 0 < len(str(subject)) <= _MAX_SUBJECT_LENGTH:
        raise _build_refusal()
    authenticated_at = claims.get("auth_time")
    if is_confirmation and authenticated_at and authenticated_at < time.time() - _MAX_AUTHENTICATION_AGE_S:
        raise WrongCredential(
            "the provider did not ask you to sign in again: sign out there and try again",
            code="sign_in_not_fresh",
        )
    return str(subject)


async def _verify_id_token(client: Any, provider: SignInProvider, token: Any, nonce: str) -> dict[str, Any]:
    """Return the claims of the ID token after checking signature, issuer, audience, expiry and nonce."""
    if not isinstance(token.get("id_token"), str) or not nonce:
        raise _build_refusal()
    options = {
        "iss": {"essential": True, "value": provider.issuer},
        "aud": {"essential": True, "value": provider.client_id},
    }
    claims: dict[str, Any] = await client.parse_id_token(token, nonce=nonce, claims_options=options)
    return claims


async def _load_client(provider: SignInProvider) -> Any:
    """Return the provider's client with the provider's description."""
    client = _get_client(provider, int(time.monotonic() // _RELOAD_AFTER_S))
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


@lru_cache(maxsize=16)
def _get_client(provider: SignInProvider, _: int) -> Any:
    """Return the client of this hour."""
    return _open_client(
        framework=None,
        client_id=provider.client_id,
        client_secret=provider.read_secret() or None,
        authorize_url=provider.authorize_url or None,
        access_token_url=provider.token_url or None,
        userinfo_endpoint=provider.user_url or None,
        server_metadata_url=None
        if provider.user_url
        else f"{provider.issuer.rstrip('/')}/.well-known/openid-configuration",
        client_kwargs={"scope": provider.scope, "code_challenge_method": "S256", "timeout": _TIMEOUT_S},
    )


@contextmanager
def _translate_errors(name: str) -> Iterator[None]:
    """Raise domain errors. Their reasons are logged by type only: their texts may contain tokens."""
    try:
        yield
    except (AuthlibBaseError, JoseError) as problem:
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


def _build_refusal() -> WrongCredential:
    return WrongCredential("the provider’s answer is not valid: sign in again", code="sign_in_refused")
