"""Authenticate requests by API token or browser session."""

from typing import Annotated
from urllib.parse import urlsplit

from fastapi import Depends, Header, Request
from fastapi.security import HTTPBearer
from fastapi.security.http import HTTPAuthorizationCredentials
from starlette.concurrency import run_in_threadpool

from anoncup.errors import Forbidden, NotSignedIn
from anoncup.schemas import TokenKind
from app.config import Settings, get_settings
from app.core.db.transaction import transaction
from app.core.identity import tokens
from app.core.identity.principal import Principal
from app.core.identity.session_cookie import read_session_cookie
from app.core.identity.tokens import Credential

_SAFE_METHODS = {"GET", "HEAD", "OPTIONS"}

_bearer_scheme = HTTPBearer(auto_error=False, description="A personal API token")
AppSettings = Annotated[Settings, Depends(get_settings)]
IdempotencyKey = Annotated[
    str | None,
    Header(alias="Idempotency-Key", description="a repeated request with the same key gets the same receipt"),
]


async def read_credential(
    request: Request,
    credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer_scheme)] = None,
) -> Credential | None:
    """Return the API token of the request, else its browser session, else None."""
    if credentials is not None:
        return Credential(tokens.hash_token(credentials.credentials), TokenKind.API)
    return read_session_cookie(request)


async def _find_principal(
    request: Request, credential: Annotated[Credential | None, Depends(read_credential)]
) -> Principal | None:
    """Return the principal, or None for a visitor. A request without credentials uses no thread."""
    return None if credential is None else await run_in_threadpool(authenticate, request, credential)


def authenticate(request: Request, credential: Credential) -> Principal | None:
    """Return the owner of the credential; None for an invalid session.

    Raises NotSignedIn for an invalid API token, and Forbidden if a form of another site uses the session. The
    transaction is separate and short, because an upload may take minutes and should hold no connection.
    """
    if credential.kind == TokenKind.SESSION and request.method not in _SAFE_METHODS:
        require_same_origin(request)
    try:
        with transaction() as session:
            return tokens.resolve_credential(session, credential)
    except NotSignedIn:
        if credential.kind == TokenKind.API:
            raise
        return None


def require_same_origin(request: Request) -> None:
    """Raise Forbidden if a form on another site sent the request (cross-site request forgery)."""
    site = request.headers.get("sec-fetch-site")
    origin = request.headers.get("origin")
    if site in {"same-origin", "none"} or (
        site is None and origin is not None and urlsplit(origin).netloc == request.headers.get("host")
    ):
        return
    raise Forbidden(
        "this form came from another site: open the page here and send it again", code="cross_site"
    )


async def require_principal(principal: Annotated[Principal | None, Depends(_find_principal)]) -> Principal:
    if principal is None:
        raise NotSignedIn("sign in or send a token")
    return principal


def get_service_url(request: Request) -> str:
    """Return the URL of this service without a trailing slash, for links that users pass on."""
    return get_settings().public_url or str(request.base_url).rstrip("/")


def get_client_address(request: Request) -> str | None:
    """Return the client's address as reported by the web server, which trusts the configured proxies."""
    return request.client.host if request.client else None


ServiceUrl = Annotated[str, Depends(get_service_url)]
ClientAddress = Annotated[str | None, Depends(get_client_address)]
CurrentPrincipal = Annotated[Principal, Depends(require_principal)]
OptionalPrincipal = Annotated[Principal | None, Depends(_find_principal)]
