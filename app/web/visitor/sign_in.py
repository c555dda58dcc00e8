"""Sign-in and sign-out."""

from typing import Annotated
from urllib.parse import parse_qs, urlencode, urlsplit

from fastapi import APIRouter, Form, Request
from fastapi.responses import HTMLResponse, RedirectResponse
from starlette.responses import Response

from anoncup.errors import NotSignedIn, TooMany
from app.config import Settings
from app.db.transaction import transaction
from app.http import throttle
from app.http.authentication import Address, AppSettings, MaybeSignedIn, cookie_of, require_same_origin
from app.http.passwords import few_at_a_time, proven
from app.services.accounts import accounts
from app.web.site.pages import PageRoute, again, page

router = APIRouter(route_class=PageRoute)


@router.get("/sign-in")
def sign_in_form(request: Request, principal: MaybeSignedIn, to: str = "/", unsent: str = "") -> HTMLResponse:
    """``unsent``: a form was lost, as the session had ended."""
    return page(
        request,
        principal,
        "visitor/sign_in.html",
        to=own_path(to),
        new_here=sign_up_path(to),
        unsent=bool(unsent),
    )


@router.post("/sign-in")
@few_at_a_time
def sign_in(
    request: Request,
    settings: AppSettings,
    address: Address,
    *,
    name: Annotated[str, Form()] = "",
    password: Annotated[str, Form()] = "",
    to: Annotated[str, Form()] = "/",
) -> Response:
    require_same_origin(request)
    try:
        with throttle.tries(address, account=accounts.searched_key(name)):
            checked = proven(name, password)
            with transaction() as session:
                user = accounts.signing_in(session, name=name, proven=checked)
                token = accounts.begin_session(session, user)
    except (NotSignedIn, TooMany) as problem:
        kept = {"to": own_path(to), "new_here": sign_up_path(to), "name": name}
        return again(request, None, "visitor/sign_in.html", problem, **kept)
    return entered(RedirectResponse(own_path(to), status_code=303), token, request, settings)


def entered(answer: RedirectResponse, token: str, request: Request, settings: Settings) -> RedirectResponse:
    """The browser's session begins with this answer."""
    name, secure = cookie_of(request, settings)
    answer.set_cookie(
        name,
        token,
        max_age=int(accounts.SESSION_LIFE.total_seconds()),
        httponly=True,
        samesite="lax",
        secure=secure,
    )
    return answer


@router.post("/sign-out")
def sign_out(request: Request, settings: AppSettings, principal: MaybeSignedIn) -> Response:
    if principal is not None:
        with transaction() as session:
            accounts.revoke(session, principal)
    answer = RedirectResponse("/", status_code=303)
    name, secure = cookie_of(request, settings)
    answer.delete_cookie(name, secure=secure)
    return answer


def own_path(to: str) -> str:
    """Only a path of this site: a link must not send a freshly signed-in person elsewhere.

    Browsers read a backslash as a slash and drop control characters: neither is in a path of ours.
    """
    own = to.startswith("/") and not to.startswith("//") and "\\" not in to and to.isprintable()
    return to if own else "/"


def sign_up_path(to: str) -> str:
    """Where who has no account goes instead: with the invite they were about to use."""
    asked = urlsplit(own_path(to))
    invite = parse_qs(asked.query).get("invite", [""])[0] if asked.path == "/join" else ""
    return f"/sign-up?{urlencode({'invite': invite})}" if invite else "/sign-up"
