"""One's own account: where one takes part, tokens, sessions, the password."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter, Form, Request
from fastapi.responses import HTMLResponse
from sqlalchemy.orm import Session
from starlette.responses import Response

from anoncup.errors import DomainError, NotSignedIn
from app.db.models import TokenKind
from app.db.transaction import transaction
from app.http import passwords, throttle
from app.http.authentication import Address, SignedIn
from app.http.passwords import few_at_a_time
from app.http.step_up import Sure
from app.services.accounts import accounts, memberships
from app.services.accounts.accounts import Principal
from app.services.contests import competitions
from app.services.teams import organizers
from app.web.site.pages import PageRoute, again, page, see

router = APIRouter(route_class=PageRoute)

Days = Literal["30", "90", "180", "365"]
LIVES: tuple[Days, ...] = ("30", "90", "180", "365")
"""For how many days a token may be made."""


@router.get("/account")
def account(request: Request, principal: SignedIn) -> HTMLResponse:
    return page(request, principal, "visitor/account.html", **account_of(principal))


def account_of(principal: Principal) -> dict[str, Any]:
    """What the page of an account shows."""
    with transaction() as session:
        tokens = accounts.alive(session, principal)
        return {
            "teams": [
                (slug, title_of(session, principal, slug), team)
                for slug, team in memberships.joined(session, principal.user_id)
            ],
            "organizes": [
                (slug, title_of(session, principal, slug))
                for slug in organizers.organized(session, principal.user_id)
            ],
            "tokens": [one for one in tokens if one.kind == TokenKind.API],
            "sessions": [one for one in tokens if one.kind == TokenKind.SESSION],
            "scopes": [one for one in accounts.allowed_scopes(principal.role) if one in principal.scopes],
            "lives": LIVES,
        }


def title_of(session: Session, principal: Principal, slug: str) -> Mapping[str, str]:
    return competitions.title_of(competitions.find(session, principal, slug).row)


@router.get("/account/tokens")
@router.get("/account/password")
def back_to_the_account() -> Response:
    """The answer to a form, loaded anew: what it showed is shown once."""
    return see("/account")


@router.post("/account/tokens")
def create_token(
    request: Request,
    principal: SignedIn,
    *,
    sure: Sure,
    name: Annotated[str, Form()] = "",
    scopes: Annotated[tuple[str, ...], Form()] = (),
    days: Annotated[Days, Form()] = "180",
) -> HTMLResponse:
    life = timedelta(days=int(days))
    try:
        principal = sure()
        with transaction() as session:
            token = accounts.create_token(session, principal, name=name, scopes=scopes, life=life)
    except NotSignedIn:
        raise
    except DomainError as problem:
        typed = {"token_name": name, "chosen": scopes, "days": days, "wrong_form": "token"}
        return again(request, principal, "visitor/account.html", problem, **account_of(principal), **typed)
    return page(request, principal, "visitor/account.html", status=201, token=token, **account_of(principal))


@router.post("/account/tokens/{token_id}/revoke")
def revoke_token(token_id: UUID, principal: SignedIn) -> Response:
    with transaction() as session:
        accounts.revoke_own(session, principal, token_id)
    return see("/account", done="token_revoked")


@router.post("/account/password")
@few_at_a_time
def change_password(
    request: Request,
    principal: SignedIn,
    address: Address,
    *,
    old: Annotated[str, Form()] = "",
    new: Annotated[str, Form()] = "",
) -> Response:
    try:
        with throttle.tries(address, account=accounts.confirming_key(principal)):
            passwords.change(principal, old=old, new=new)
    except DomainError as problem:
        return again(
            request,
            principal,
            "visitor/account.html",
            problem,
            **account_of(principal),
            wrong_form="password",
        )
    return see("/account", done="password_changed")
