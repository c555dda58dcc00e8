"""Pages that require a code: signing up, joining a team and setting a new password."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import HTMLResponse
from starlette.responses import Response

from anoncup.errors import DomainError
from app.accounts import identities, password_changes
from app.accounts.passwords import limit_concurrency
from app.accounts.sign_in_providers import find_flow, find_provider
from app.core.db.transaction import transaction
from app.core.http import throttle
from app.core.identity import password_hashes, tokens
from app.core.identity.authentication import AppSettings, ClientAddress, require_same_origin
from app.core.identity.session_cookie import set_session_cookie
from app.core.pages.pages import Page, PageRoute, RequestedPage, RequestedUserPage, see_other
from app.teams import invites, members

router = APIRouter(route_class=PageRoute)

_CodeQuery = Annotated[str, Query()]
_FormText = Annotated[str, Form()]


@dataclass(frozen=True, slots=True)
class InviteDestination:
    """The competition and team of an invite. ``team`` is None if the invite is for new teams."""

    title: Mapping[str, str]
    team: str | None


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
    return _render_invite_form(
        page, "teams/sign_up.html", problem, address=address, invite=invite, provider=provider
    )


@router.post("/sign-up")
@limit_concurrency
def sign_up(
    request: Request,
    settings: AppSettings,
    address: ClientAddress,
    *,
    invite: _CodeQuery = "",
    provider: _CodeQuery = "",
    team: _FormText = "",
    name: _FormText = "",
    password: _FormText = "",
) -> Response:
    require_same_origin(request)
    try:
        subject = find_flow(request, provider, is_answered=True).subject if provider else None
        with throttle.limit_invite_tries(address):
            with transaction() as session:
                invites.find_usable(session, invite)  # reject a wrong code before hashing the password
            password_hash = (
                password_hashes.hash_password(password) if subject is None else password_hashes.UNUSABLE_HASH
            )
            with transaction() as session:
                membership = members.sign_up(
                    session, code=invite, team_name=team or None, name=name, password_hash=password_hash
                )
                if subject is not None:
                    issuer = find_provider(provider).issuer
                    identities.link(session, membership.user, issuer, subject)
                token = tokens.begin_session(session, membership.user)
    except DomainError as problem:
        return _render_invite_form(
            Page(request, None),
            "teams/sign_up.html",
            problem,
            address=address,
            invite=invite,
            provider=provider,
            team=team,
            name=name,
        )
    throttle.remember_address(address, membership.user.name_key)
    response = see_other(_build_submissions_path(membership), notice="joined")
    request.session.clear()
    return set_session_cookie(response, token, request, settings)


@router.get("/join")
def show_join(page: RequestedUserPage, address: ClientAddress, invite: _CodeQuery = "") -> HTMLResponse:
    return _render_invite_form(page, "teams/join.html", address=address, invite=invite)


@router.post("/join")
def join(
    page: RequestedUserPage, address: ClientAddress, *, invite: _CodeQuery = "", team: _FormText = ""
) -> Response:
    try:
        with throttle.limit_invite_tries(address), transaction() as session:
            membership = members.join(session, page.principal, code=invite, team_name=team or None)
    except DomainError as problem:
        return _render_invite_form(
            page, "teams/join.html", problem, address=address, invite=invite, team=team
        )
    return see_other(_build_submissions_path(membership), notice="joined")


def _build_submissions_path(membership: members.JoinedMember) -> str:
    return f"/competitions/{membership.competition.slug}/submissions"


def _render_invite_form(
    page: Page,
    template: str,
    problem: DomainError | None = None,
    *,
    address: str | None,
    invite: str,
    **form_values: str,
) -> HTMLResponse:
    """Render the form for an invite. Without a valid invite, the form asks for the code."""
    destination = None
    try:
        destination = _find_destination(address, invite) if invite else None
    except DomainError as invite_problem:
        problem = problem or invite_problem
    content: dict[str, Any] = {"to": f"/join?{urlencode({'invite': invite})}", **form_values}
    return page.render(template, problem=problem, invite=invite, invited=destination, **content)


def _find_destination(address: str | None, invite: str) -> InviteDestination:
    """Return the destination of an invite. Look-ups are throttled, so that codes cannot be guessed."""
    with throttle.limit_invite_tries(address), transaction() as session:
        invitation = invites.find_usable(session, invite)
        title = invitation.competition.title
        return InviteDestination(title, invitation.team.name if invitation.team else None)


@router.get("/password")
def show_set_password(page: RequestedPage, code: _CodeQuery = "") -> HTMLResponse:
    return page.render("teams/password.html", code=code, to="/")


@router.post("/password")
@limit_concurrency
def set_password(
    request: Request, address: ClientAddress, *, code: _CodeQuery = "", password: _FormText = ""
) -> Response:
    require_same_origin(request)
    try:
        with throttle.limit_tries(address):
            password_hash = password_hashes.hash_password(password)
            with transaction() as session:
                user = password_changes.reset_with_link(session, code=code, new_hash=password_hash)
    except DomainError as problem:
        return Page(request, None).render("teams/password.html", problem=problem, code=code, to="/")
    throttle.remember_address(address, user.name_key)
    return see_other("/sign-in", notice="password_set")
