"""Who makes a request, and the files they send."""

from dataclasses import dataclass
from typing import Annotated
from urllib.parse import urlsplit

from fastapi import Depends, Header, Request
from fastapi.security import HTTPBearer
from fastapi.security.http import HTTPAuthorizationCredentials
from starlette.datastructures import UploadFile

from app.config import Settings, get_settings
from app.errors import InvalidUpload, NotAllowed, NotSignedIn, Problem, TooLarge, Unavailable
from app.services import accounts
from app.services.accounts import Principal
from app.transaction import transaction

COOKIE = "anoncup_session"
SAFE_METHODS = {"GET", "HEAD", "OPTIONS"}

bearer = HTTPBearer(auto_error=False, description="A personal API token")
AppSettings = Annotated[Settings, Depends(get_settings)]
IdempotencyKey = Annotated[
    str | None,
    Header(alias="Idempotency-Key", description="a retry under the same key gets the same receipt"),
]


def signed_in_or_not(
    request: Request, credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(bearer)]
) -> Principal | None:
    """The owner of the bearer token, else of the browser's session, else nobody.

    Its own short transaction: an upload may take minutes, and holds no connection meanwhile.
    """
    if credentials is not None:
        with transaction() as session:
            return accounts.authenticate(session, credentials.credentials)
    cookie = request.cookies.get(COOKIE)
    if cookie is None:
        return None
    if request.method not in SAFE_METHODS:
        require_same_origin(request)
    try:
        with transaction() as session:
            return accounts.authenticate(session, cookie)
    except NotSignedIn:
        return None  # an expired session reads as a visitor


def require_same_origin(request: Request) -> None:
    """A form on another site must not act with this site's cookie."""
    site = request.headers.get("sec-fetch-site")
    origin = request.headers.get("origin")
    if site in {"same-origin", "none"} or (
        site is None and origin is not None and urlsplit(origin).netloc == request.headers.get("host")
    ):
        return
    raise NotAllowed("this request comes from another site", code="cross_site")


def signed_in(principal: Annotated[Principal | None, Depends(signed_in_or_not)]) -> Principal:
    if principal is None:
        raise NotSignedIn("sign in or send a token")
    return principal


def client_address(request: Request) -> str | None:
    """Where the request comes from: what the web server says, which trusts the proxies it is told to."""
    return request.client.host if request.client else None


Address = Annotated[str | None, Depends(client_address)]
SignedIn = Annotated[Principal, Depends(signed_in)]
MaybeSignedIn = Annotated[Principal | None, Depends(signed_in_or_not)]


@dataclass(frozen=True, slots=True)
class Parts:
    """The files and texts of a multipart request."""

    files: dict[str, bytes]
    texts: dict[str, str]

    def file(self, name: str) -> bytes:
        if name not in self.files:
            message = f"the request has no file named {name}"
            raise InvalidUpload([Problem(name, None, None, "missing_file", message)])
        return self.files[name]


async def multipart(request: Request, *, names: set[str], file_mb: int) -> Parts:
    """Read a multipart form after the sender is known; each file within ``file_mb``."""
    if not request.headers.get("content-type", "").startswith("multipart/form-data"):
        message = "send a multipart/form-data request with the files " + ", ".join(sorted(names))
        raise InvalidUpload([Problem("request", None, None, "not_multipart", message)])
    try:
        return await parts_of(request, file_mb)
    except UnicodeError:
        message = "names and texts of a multipart request are UTF-8"
        raise InvalidUpload([Problem("request", None, None, "encoding", message)]) from None
    except OSError as problem:
        raise Unavailable("the upload could not be kept", code="storage_unavailable") from problem


async def parts_of(request: Request, file_mb: int) -> Parts:
    files: dict[str, bytes] = {}
    texts: dict[str, str] = {}
    async with request.form(max_files=8, max_fields=8, max_part_size=64 * 1024) as form:
        for name, part in form.multi_items():
            name.encode()  # half a character can be in no answer
            if name in files or name in texts:
                raise InvalidUpload([Problem(name, None, None, "repeated_part", f"{name} is sent twice")])
            if isinstance(part, UploadFile):
                check_size(part, name, file_mb)
                files[name] = await part.read()
            else:
                texts[name] = part
    return Parts(files, texts)


def check_size(part: UploadFile, name: str, file_mb: int) -> None:
    if (part.size or 0) > file_mb * 2**20:
        raise TooLarge(f"{name} is larger than {file_mb} MB")
