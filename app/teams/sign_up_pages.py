"""Pages that require a code: signing up, joining a team and setting a new password."""

from functools import partial
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Form, Query
from fastapi.responses import HTMLResponse, RedirectResponse
from sqlalchemy.orm import Session
from starlette.responses import Response

from anoncup.errors import DomainError
from anoncup.schemas import TeamMembership
from app.accounts import identities, passwords
from app.accounts.passwords import limit_concurrency
from app.accounts.sign_in_providers import find_flow, find_provider
from app.core.db.models import User
from app.core.db.transaction import transaction
from app.core.http import throttle
from app.core.identity import tokens
from app.core.identity.authentication import ClientAddress, require_same_origin
from app.core.identity.session_cookie import set_session_cookie
from app.core.pages.pages import Page, PageRoute, RequestedPage, RequestedUserPage, see_other, show_problem
from app.teams import invites, members

router = APIRouter(route_class=PageRoute)

_CodeQuery = Annotated[str, Query()]
_FormText = Annotated[str, Form()]
_FormFlag = Annotated[bool, Form()]


def _render_invite_form(
    page: Page,
    *,
    template: str,
    problem: DomainError | None = None,
    address: str | None,
    invite: str = "",
    provider: str = "",
    team: str = "",
    name: str = "",
    accept_terms: bool = False,
) -> HTMLResponse:
    """Render the form for an invite. Without a valid invite, the form asks for the code.

    Look-ups are throttled, so that codes cannot be guessed.
    """
    invited = None
    try:
        if invite:
            with throttle.limit_invite_tries(address), transaction() as session:
                invited = invites.find_usable(session, invite)
    except DomainError as invite_problem:
        problem = problem or invite_problem
    return page.render(
        template,
        problem=problem,
        invite=invite,
        invited=invited,
        joined=problem.message.values.get("competition") if problem else None,
        provider=provider,
        team=team,
        name=name,
        accept_terms=accept_terms,
        to=f"/join?{urlencode({'invite': invite})}",
    )


_render_sign_up = partial(_render_invite_form, template="teams/sign_up.html")
_render_join = partial(_render_invite_form, template="teams/join.html")


@router.get("/sign-up")
def show_sign_up(
    page: RequestedPage, address: ClientAddress, invite: _CodeQuery = "", provider: _CodeQuery = ""
) -> Response:
    """Show the form. ``provider`` is set if this provider has vouched for the visitor, who has no account."""
    if page.principal is not None:
        return see_other(f"/join?{urlencode({'invite': invite})}" if invite else "/join")
    try:
        problem = None
        if provider:
            find_flow(page.request, provider, is_answered=True)
    except DomainError as expired:
        provider, problem = "", expired
    return _render_sign_up(page, problem=problem, address=address, invite=invite, provider=provider)


@router.post("/sign-up", dependencies=[Depends(require_same_origin)])
@limit_concurrency
@show_problem(_render_sign_up)
def sign_up(
    page: RequestedPage,
    address: ClientAddress,
    *,
    invite: _CodeQuery = "",
    provider: _CodeQuery = "",
    team: _FormText = "",
    name: _FormText = "",
    password: _FormText = "",
    accept_terms: _FormFlag = False,
) -> Response:
    subject = find_flow(page.request, provider, is_answered=True).subject if provider else None

    def begin(session: Session, user: User) -> str:
        if subject is not None:
            identities.link(session, user, find_provider(provider).issuer, subject)
        return tokens.begin_session(session, user)

    account = members.sign_up(
        address,
        code=invite,
        team_name=team or None,
        name=name,
        password=password if subject is None else None,
        accept_terms=accept_terms,
        begin=begin,
    )
    page.request.session.clear()
    return set_session_cookie(_redirect_to_submissions(account), account.token, page.request)


@router.get("/join")
@show_problem(_render_join)
def show_join(page: RequestedUserPage, address: ClientAddress, invite: _CodeQuery = "") -> Response:
    with transaction() as session:
        members.require_can_join(session, page.principal, invite)
    return _render_join(page, address=address, invite=invite)


@router.post("/join")
@show_problem(_render_join)
def join(
    page: RequestedUserPage,
    address: ClientAddress,
    *,
    invite: _CodeQuery = "",
    team: _FormText = "",
    accept_terms: _FormFlag = False,
) -> Response:
    with throttle.limit_invite_tries(address), transaction() as session:
        membership = members.join(
            session, page.principal, code=invite, team_name=team or None, accept_terms=accept_terms
        )
    return _redirect_to_submissions(membership)


def _redirect_to_submissions(membership: TeamMembership) -> RedirectResponse:
    return see_other(f"/competitions/{membership.competition}/submissions", notice="joined")


def _render_password(page: Page, *, code: str, problem: DomainError | None = None) -> HTMLResponse:
    return page.render("teams/password.html", problem=problem, code=code, to="/")


@router.get("/password")
def show_set_password(page: RequestedPage, code: _CodeQuery = "") -> HTMLResponse:
    return _render_password(page, code=code)


@router.post("/password", dependencies=[Depends(require_same_origin)])
@limit_concurrency
@show_problem(_render_password)
def set_password(
    page: RequestedPage,  # noqa: ARG001  # for show_problem
    address: ClientAddress,
    *,
    code: _CodeQuery = "",
    password: _FormText = "",
) -> Response:
    passwords.reset_with_link(address, code=code, password=password)
    return see_other("/sign-in", notice="password_set")
