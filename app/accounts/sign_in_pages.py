"""Signing in and out."""

from typing import Annotated, Any
from urllib.parse import parse_qs, urlencode, urlsplit

from fastapi import APIRouter, Form, Request
from fastapi.responses import HTMLResponse, RedirectResponse
from starlette.responses import Response

from anoncup.errors import DomainError, NotSignedIn, TooManyRequests
from app.accounts import passwords
from app.accounts.passwords import limit_concurrency
from app.core.db.transaction import transaction
from app.core.identity import tokens
from app.core.identity.authentication import AppSettings, ClientAddress, require_same_origin
from app.core.identity.session_cookie import delete_session_cookie, set_session_cookie
from app.core.pages.pages import Page, PageRoute, RequestedPage

router = APIRouter(route_class=PageRoute)

_MAX_PATH_LENGTH = 500


def render_sign_in(
    page: Page, *, to: str, problem: DomainError | None = None, **content: Any
) -> HTMLResponse:
    path = sanitize_redirect_path(to)
    new_here = build_sign_up_path(path)
    return page.render("accounts/sign_in.html", problem=problem, to=path, new_here=new_here, **content)


@router.get("/sign-in")
def show_sign_in(page: RequestedPage, to: str = "/", unsent: str = "") -> HTMLResponse:
    """Show the form. ``unsent`` is set if another form was lost because the session had ended."""
    return render_sign_in(page, to=to, unsent=bool(unsent))


@router.post("/sign-in")
@limit_concurrency
def sign_in(
    request: Request,
    settings: AppSettings,
    address: ClientAddress,
    *,
    name: Annotated[str, Form()] = "",
    password: Annotated[str, Form()] = "",
    to: Annotated[str, Form()] = "/",
) -> Response:
    require_same_origin(request)
    try:
        with passwords.sign_in(address, name=name, password=password) as (session, user):
            token = tokens.begin_session(session, user)
    except (NotSignedIn, TooManyRequests) as problem:
        return render_sign_in(Page(request, None), to=to, problem=problem, name=name)
    response = RedirectResponse(sanitize_redirect_path(to), status_code=303)
    return set_session_cookie(response, token, request, settings)


@router.post("/sign-out")
def sign_out(page: RequestedPage, settings: AppSettings) -> Response:
    if page.principal is not None:
        with transaction() as session:
            tokens.revoke_current(session, page.principal)
    response = RedirectResponse("/", status_code=303)
    delete_session_cookie(response, page.request, settings)
    return response


def sanitize_redirect_path(path: str) -> str:
    """Return the path if it belongs to this site and fits into a cookie, else ``/``.

    Backslashes and control characters are rejected, because browsers read the former as slashes and drop the
    latter.
    """
    is_local = path.startswith("/") and not path.startswith("//") and "\\" not in path and path.isprintable()
    return path if is_local and len(path) <= _MAX_PATH_LENGTH else "/"


def build_sign_up_path(path: str, **parameters: str) -> str:
    """Return the path of the sign-up form, with the invite if the visitor was going to the join page."""
    target = urlsplit(sanitize_redirect_path(path))
    invite = parse_qs(target.query).get("invite", [""])[0] if target.path == "/join" else ""
    parameters |= {"invite": invite} if invite else {}
    return f"/sign-up?{urlencode(parameters)}" if parameters else "/sign-up"
