"""What a code opens: an account, a team, a new password."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import HTMLResponse
from starlette.responses import Response

from anoncup.errors import DomainError
from app.db.transaction import transaction
from app.http import throttle
from app.http.authentication import Address, AppSettings, MaybeSignedIn, SignedIn, require_same_origin
from app.http.passwords import few_at_a_time
from app.services.accounts import accounts, passwords
from app.services.accounts.accounts import Principal
from app.services.contests import competitions
from app.services.teams import invites, members
from app.web.site.pages import PageRoute, again, page, see
from app.web.visitor.sign_in import entered

router = APIRouter(route_class=PageRoute)

Code = Annotated[str, Query()]
Text = Annotated[str, Form()]


@dataclass(frozen=True, slots=True)
class Invited:
    """Where an invite leads, in words; ``team``: None if it founds one."""

    title: Mapping[str, str]
    team: str | None


@router.get("/sign-up")
def sign_up_form(request: Request, principal: MaybeSignedIn, address: Address, invite: Code = "") -> Response:
    if principal is not None:
        return see(f"/join?{urlencode({'invite': invite})}" if invite else "/join")
    return opened(request, None, "visitor/sign_up.html", address=address, invite=invite)


@router.post("/sign-up")
@few_at_a_time
def sign_up(
    request: Request,
    settings: AppSettings,
    address: Address,
    *,
    invite: Code = "",
    team: Text = "",
    name: Text = "",
    password: Text = "",
) -> Response:
    require_same_origin(request)
    try:
        with throttle.invite_tries(address):
            with transaction() as session:
                invites.look(session, invite)  # a wrong one costs no hash
            kept = accounts.hashed(password)
            with transaction() as session:
                made = members.sign_up(session, code=invite, team=team or None, name=name, password_hash=kept)
                token = accounts.begin_session(session, made.user)
    except DomainError as problem:
        return opened(
            request,
            None,
            "visitor/sign_up.html",
            address=address,
            invite=invite,
            problem=problem,
            team=team,
            name=name,
        )
    throttle.welcome(address, made.user.name_key)
    return entered(see(submissions_of(made), done="joined"), token, request, settings)


@router.get("/join")
def join_form(request: Request, principal: SignedIn, address: Address, invite: Code = "") -> HTMLResponse:
    return opened(request, principal, "visitor/join.html", address=address, invite=invite)


@router.post("/join")
def join(
    request: Request, principal: SignedIn, address: Address, *, invite: Code = "", team: Text = ""
) -> Response:
    try:
        with throttle.invite_tries(address), transaction() as session:
            made = members.join(session, principal, code=invite, team=team or None)
    except DomainError as problem:
        return opened(
            request,
            principal,
            "visitor/join.html",
            address=address,
            invite=invite,
            problem=problem,
            team=team,
        )
    return see(submissions_of(made), done="joined")


def submissions_of(made: members.Joined) -> str:
    return f"/competitions/{made.competition.slug}/submissions"


def opened(
    request: Request,
    principal: Principal | None,
    template: str,
    *,
    address: str | None,
    invite: str,
    problem: DomainError | None = None,
    **typed: str,
) -> HTMLResponse:
    """The form of an invite, which says where it leads; without a valid one, it asks for the code."""
    content: dict[str, Any] = {
        "invite": invite,
        "invited": None,
        "to": f"/join?{urlencode({'invite': invite})}",
        **typed,
    }
    try:
        if invite:
            content["invited"] = invited_by(address, invite)
    except DomainError as unusable:
        problem = problem or unusable
    if problem is None:
        return page(request, principal, template, **content)
    return again(request, principal, template, problem, **content)


def invited_by(address: str | None, invite: str) -> Invited:
    """Looking at an invite is a try like using it: no code can be guessed here."""
    with throttle.invite_tries(address), transaction() as session:
        found = invites.look(session, invite)
        title = competitions.title_of(found.competition)
        return Invited(title, found.team.name if found.team else None)


@router.get("/password")
def password_form(request: Request, principal: MaybeSignedIn, code: Code = "") -> HTMLResponse:
    return page(request, principal, "visitor/password.html", code=code, to="/")


@router.post("/password")
@few_at_a_time
def set_password(request: Request, address: Address, *, code: Code = "", password: Text = "") -> Response:
    require_same_origin(request)
    try:
        with throttle.tries(address):
            new = accounts.hashed(password)
            with transaction() as session:
                user = passwords.set_by_link(session, code=code, new=new)
    except DomainError as problem:
        return again(request, None, "visitor/password.html", problem, code=code, to="/")
    throttle.welcome(address, user.name_key)
    return see("/sign-in", done="password_set")
