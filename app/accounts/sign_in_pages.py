"""Signing in and out, with a password or a provider; linking, unlinking and confirming with a provider."""

from functools import partial
from typing import Annotated, Any
from urllib.parse import parse_qs, urlencode, urlsplit

from fastapi import APIRouter, Form, Request
from fastapi.responses import HTMLResponse, RedirectResponse
from sqlalchemy.orm import Session
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from anoncup.errors import DomainError, NotFound, NotSignedIn, TooManyRequests, WrongCredential
from app.accounts import identities, passwords, sign_in_providers
from app.accounts.account_pages import render_account
from app.accounts.passwords import limit_concurrency
from app.accounts.sign_in_providers import SignInFlow
from app.accounts.step_up import FormReauthentication
from app.config import get_settings
from app.core.db.transaction import transaction
from app.core.http import throttle
from app.core.identity import tokens, users
from app.core.identity.authentication import ClientAddress, get_service_url, require_same_origin
from app.core.identity.principal import Principal
from app.core.identity.session_cookie import delete_session_cookie, set_session_cookie
from app.core.pages.pages import (
    Page,
    PageRoute,
    RequestedPage,
    RequestedUserPage,
    UserPage,
    see_other,
    show_problem,
)

router = APIRouter(route_class=PageRoute)

_MAX_PATH_LENGTH = 500


def _render_sign_in(
    page: Page, *, to: str, problem: DomainError | None = None, **content: Any
) -> HTMLResponse:
    path = _sanitize_redirect_path(to)
    new_here = _build_sign_up_path(path)
    return page.render("accounts/sign_in.html", problem=problem, to=path, new_here=new_here, **content)


@router.get("/sign-in")
def show_sign_in(page: RequestedPage, to: str = "/", unsent: str = "") -> HTMLResponse:
    """Show the form. ``unsent`` is set if another form was lost because the session had ended."""
    return _render_sign_in(page, to=to, unsent=bool(unsent))


@router.post("/sign-in")
@limit_concurrency
def sign_in(
    request: Request,
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
        return _render_sign_in(Page(request, None), to=to, problem=problem, name=name)
    response = RedirectResponse(_sanitize_redirect_path(to), status_code=303)
    return set_session_cookie(response, token, request)


@router.post("/sign-out")
def sign_out(page: RequestedPage) -> Response:
    if page.principal is not None:
        with transaction() as session:
            tokens.revoke_current(session, page.principal)
    response = RedirectResponse("/", status_code=303)
    delete_session_cookie(response, page.request)
    return response


def _sanitize_redirect_path(path: str) -> str:
    """Return the path if it belongs to this site and fits into a cookie, else ``/``.

    Backslashes and control characters are rejected, because browsers read the former as slashes and drop the
    latter.
    """
    is_local = path.startswith("/") and not path.startswith("//") and "\\" not in path and path.isprintable()
    return path if is_local and len(path) <= _MAX_PATH_LENGTH else "/"


def _build_sign_up_path(path: str, **parameters: str) -> str:
    """Return the path of the sign-up form, with the invite if the visitor was going to the join page."""
    target = urlsplit(_sanitize_redirect_path(path))
    invite = parse_qs(target.query).get("invite", [""])[0] if target.path == "/join" else ""
    parameters |= {"invite": invite} if invite else {}
    return f"/sign-up?{urlencode(parameters)}" if parameters else "/sign-up"


@router.get("/sign-in/{provider}")
def redirect_to_sign_in() -> Response:
    """Redirect if the response of the form is reloaded, for example in another language."""
    return see_other("/sign-in")


@router.post("/sign-in/{provider}")
async def begin_sign_in(
    request: Request, address: ClientAddress, provider: str, to: Annotated[str, Form()] = "/"
) -> Response:
    require_same_origin(request)
    page, flow = Page(request, None), SignInFlow(provider=provider, to=_sanitize_redirect_path(to))
    try:
        return await _begin(page, address, flow)
    except DomainError as problem:
        return _render_sign_in(page, to=flow.to, problem=problem)


@router.post("/account/identities/{provider}")
async def begin_link(
    page: RequestedUserPage, address: ClientAddress, provider: str, reauthenticate: FormReauthentication
) -> Response:
    try:
        page.principal.require("submit")
        principal = await run_in_threadpool(reauthenticate)
        principal.require_reauthentication()
        flow = SignInFlow(provider=provider, purpose="link", user_id=principal.user_id)
        return await _begin(page, address, flow)
    except NotSignedIn:
        raise
    except DomainError as problem:
        return await run_in_threadpool(_render_identity_problem, page, problem)


@router.post("/account/confirm")
async def begin_confirmation(page: RequestedUserPage, address: ClientAddress) -> Response:
    try:
        provider = await run_in_threadpool(_find_linked_provider, page.principal)
        flow = SignInFlow(provider=provider, purpose="confirm", user_id=page.principal.user_id)
        return await _begin(page, address, flow)
    except DomainError as problem:
        return await run_in_threadpool(_render_identity_problem, page, problem)


def _find_linked_provider(principal: Principal) -> str:
    """Return the name of the provider with which the person signs in."""
    with transaction() as session:
        issuer = identities.find_issuer(session, principal.user_id)
    for name, provider in get_settings().sign_in.items():
        if provider.issuer == issuer:
            return name
    raise NotFound("you are not linked to a provider", code="no_such_identity")


async def _begin(page: Page, address: str | None, flow: SignInFlow) -> Response:
    """Return a page that leads to the provider.

    It is no redirect because browsers apply the policy ``form-action`` to redirects of forms, also to those
    with which a provider passes a person on to other sites.
    """
    await run_in_threadpool(throttle.count_provider_sign_in, address)
    callback_url = f"{get_service_url(page.request)}/sign-in/{flow.provider}/callback"
    url = await sign_in_providers.begin(page.request, flow, callback_url)
    label = sign_in_providers.find_provider(flow.provider).label
    return page.render("accounts/to_provider.html", url=url, label=label, to="/")


@router.get("/sign-in/{provider}/callback")
async def finish_sign_in(page: RequestedPage, provider: str) -> Response:
    """Receive the answer of the provider, with which it sends the browser back."""
    try:
        flow = sign_in_providers.find_flow(page.request, provider, is_answered=False)
        subject = await sign_in_providers.fetch_subject(page.request, flow)
        page.request.session.clear()
        return await run_in_threadpool(_finish, page, flow, subject)
    except DomainError as problem:
        return await run_in_threadpool(_render_problem, page, problem)


def _finish(page: Page, flow: SignInFlow, subject: str) -> Response:
    issuer = sign_in_providers.find_provider(flow.provider).issuer
    if flow.purpose == "sign_in":
        return _begin_session(page.request, flow, issuer, subject)
    if page.principal is None or page.principal.user_id != flow.user_id:
        raise sign_in_providers.build_expired_error()
    with transaction() as session:
        if flow.purpose == "link":
            identities.link(session, users.lock_user(session, page.principal.user_id), issuer, subject)
        else:
            _confirm(session, page.principal, issuer, subject)
    return see_other("/account", notice="identity_linked" if flow.purpose == "link" else "confirmed")


def _begin_session(request: Request, flow: SignInFlow, issuer: str, subject: str) -> Response:
    """Begin a session of the linked user. Without one, lead to the sign-up form."""
    with transaction() as session:
        user = identities.find_user(session, issuer, subject)
        token = None if user is None else tokens.begin_session(session, user)
    if token is None:
        sign_in_providers.store_flow(request, SignInFlow(provider=flow.provider, subject=subject))
        return see_other(_build_sign_up_path(flow.to, provider=flow.provider))
    response = RedirectResponse(flow.to, status_code=303)
    return set_session_cookie(response, token, request)


def _confirm(session: Session, principal: Principal, issuer: str, subject: str) -> None:
    user = identities.find_user(session, issuer, subject)
    if user is None or user.id != principal.user_id:
        raise WrongCredential("you signed in with another account of the provider", code="other_identity")
    tokens.confirm_session(session, principal)


@router.post("/account/unlink")
@show_problem(partial(render_account, wrong_form="identity"))
def unlink(
    page: RequestedUserPage,  # noqa: ARG001  # for show_problem
    reauthenticate: FormReauthentication,
) -> Response:
    principal = reauthenticate()
    with transaction() as session:
        identities.unlink(session, principal)
    return see_other("/account", notice="identity_unlinked")


def _render_problem(page: Page, problem: DomainError) -> HTMLResponse:
    if page.principal is None:
        return _render_sign_in(page, to="/", problem=problem)
    return _render_identity_problem(UserPage(page.request, page.principal), problem)


def _render_identity_problem(page: UserPage, problem: DomainError) -> HTMLResponse:
    return render_account(page, problem=problem, wrong_form="identity")
