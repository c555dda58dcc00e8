"""Who makes a request."""

from typing import Annotated
from urllib.parse import urlsplit

from fastapi import Depends, Header, Request
from fastapi.security import HTTPBearer
from fastapi.security.http import HTTPAuthorizationCredentials
from starlette.concurrency import run_in_threadpool

from anoncup.errors import NotAllowed, NotSignedIn
from app.config import Settings, get_settings
from app.db.models import TokenKind
from app.db.transaction import transaction
from app.http.middleware import host_of
from app.services.accounts import accounts
from app.services.accounts.accounts import Opened, Principal, Shown

COOKIE = "anoncup_session"
ONLY_HTTPS = f"__Host-{COOKIE}"
"""Its name where it is sent by https only: a browser takes it from this very host; no other can set it."""
SAFE_METHODS = {"GET", "HEAD", "OPTIONS"}

bearer = HTTPBearer(auto_error=False, description="A personal API token")
AppSettings = Annotated[Settings, Depends(get_settings)]
IdempotencyKey = Annotated[
    str | None,
    Header(alias="Idempotency-Key", description="a retry under the same key gets the same receipt"),
]


def cookie_of(request: Request, settings: Settings) -> tuple[str, bool]:
    """The name of the session's cookie, and whether it is sent by https only."""
    secure = settings.only_https(host_of(request.headers.get("host", "")))
    return ONLY_HTTPS if secure else COOKIE, secure


async def shown_by(
    request: Request, credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(bearer)] = None
) -> Shown | None:
    """The API token that is sent, else the browser's session, else nothing."""
    if credentials is not None:
        return Shown(accounts.digest(credentials.credentials), TokenKind.API)
    return session_of(request)


def session_of(request: Request) -> Shown | None:
    """The browser's session."""
    cookie = request.cookies.get(cookie_of(request, get_settings())[0])
    return None if cookie is None else Shown(accounts.digest(cookie), TokenKind.SESSION)


async def signed_in_or_not(
    request: Request, shown: Annotated[Shown | None, Depends(shown_by)]
) -> Principal | None:
    """Who shows a token or a session; whoever shows neither costs no thread."""
    return None if shown is None else await run_in_threadpool(known, request, shown)


def known(request: Request, shown: Shown) -> Principal | None:
    """The owner of what is shown."""
    if shown.kind == TokenKind.SESSION and request.method not in SAFE_METHODS:
        require_same_origin(request)
    found = opened(shown)
    return None if found is None else found.principal


def opened(shown: Shown) -> Opened | None:
    """What it opens; NotSignedIn for a token that opens nothing, but such a session reads as a visitor.

    Its own short transaction: an upload may take minutes, and holds no connection meanwhile.
    """
    try:
        with transaction() as session:
            return accounts.opened(session, shown)
    except NotSignedIn:
        if shown.kind == TokenKind.API:
            raise
        return None


def require_same_origin(request: Request) -> None:
    """A form on another site must not act with this site's cookie."""
    site = request.headers.get("sec-fetch-site")
    origin = request.headers.get("origin")
    if site in {"same-origin", "none"} or (
        site is None and origin is not None and urlsplit(origin).netloc == request.headers.get("host")
    ):
        return
    raise NotAllowed(
        "this form came from another site: open the page here and send it again", code="cross_site"
    )


async def signed_in(principal: Annotated[Principal | None, Depends(signed_in_or_not)]) -> Principal:
    if principal is None:
        raise NotSignedIn("sign in or send a token")
    return principal


def service_address(request: Request) -> str:
    """Where people reach this service, without a last slash: for links that are handed over."""
    return get_settings().public_url or str(request.base_url).rstrip("/")


def lasting_address(request: Request) -> str:
    """The same where it is known without believing the request: for what is kept. Else empty."""
    if get_settings().public_url:
        return get_settings().public_url
    asked, (host, port) = request.base_url, request.scope.get("server") or ("", None)
    usual = {"http": 80, "https": 443}.get(asked.scheme)
    here = asked.hostname in {host, "localhost"} and (asked.port or usual) == port
    return str(asked).rstrip("/") if here else ""


def client_address(request: Request) -> str | None:
    """Where the request comes from: what the web server says, which trusts the proxies it is told to."""
    return request.client.host if request.client else None


Address = Annotated[str | None, Depends(client_address)]
ShownBy = Annotated[Shown | None, Depends(shown_by)]
SignedIn = Annotated[Principal, Depends(signed_in)]
MaybeSignedIn = Annotated[Principal | None, Depends(signed_in_or_not)]
