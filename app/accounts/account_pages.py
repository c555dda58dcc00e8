"""The account page: a user's competitions, tokens, sessions and password."""

from datetime import timedelta
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter, Form
from fastapi.responses import HTMLResponse
from starlette.responses import Response

from anoncup.errors import DomainError, NotSignedIn
from anoncup.schemas import TokenKind
from app.accounts import email_addresses, identities, memberships, passwords
from app.accounts.passwords import limit_concurrency
from app.accounts.step_up import FormReauthentication
from app.core.db.transaction import transaction
from app.core.http import throttle
from app.core.identity import tokens
from app.core.identity.authentication import ClientAddress, CurrentPrincipal
from app.core.pages.pages import PageRoute, RequestedUserPage, UserPage, see_other

router = APIRouter(route_class=PageRoute)

_TokenLifetimeDays = Literal["30", "90", "180", "365"]
_TOKEN_LIFETIMES: tuple[_TokenLifetimeDays, ...] = ("30", "90", "180", "365")
"""The token lifetimes that the form offers, in days."""


@router.get("/account")
def show_account(page: RequestedUserPage) -> HTMLResponse:
    return render_account(page)


def render_account(page: UserPage, **content: Any) -> HTMLResponse:
    with transaction() as session:
        valid_tokens = tokens.list_valid_tokens(session, page.principal)
        teams = [
            (competition.slug, competition.title, team)
            for competition, team in memberships.list_teams(session, page.principal.user_id)
        ]
        organized = [
            (competition.slug, competition.title)
            for competition in memberships.list_organized(session, page.principal.user_id)
        ]
        issuer = identities.find_issuer(session, page.principal.user_id)
        email_address = email_addresses.find(session, page.principal.user_id)
    scopes = tokens.list_allowed_scopes(page.principal.role)
    return page.render(
        "accounts/account.html",
        teams=teams,
        organizes=organized,
        tokens=[token for token in valid_tokens if token.kind == TokenKind.API],
        sessions=[token for token in valid_tokens if token.kind == TokenKind.SESSION],
        issuer=issuer,
        email_address=email_address,
        scopes=[scope for scope in scopes if scope in page.principal.scopes],
        lives=_TOKEN_LIFETIMES,
        **content,
    )


@router.get("/account/tokens")
@router.get("/account/password")
def redirect_to_account() -> Response:
    """Redirect if the response of a form is reloaded: it may have shown a token, which is shown only once."""
    return see_other("/account")


@router.post("/account/tokens")
def create_token(
    page: RequestedUserPage,
    *,
    reauthenticate: FormReauthentication,
    name: Annotated[str, Form()] = "",
    scopes: Annotated[tuple[str, ...], Form()] = (),
    days: Annotated[_TokenLifetimeDays, Form()] = "180",
) -> HTMLResponse:
    lifetime = timedelta(days=int(days))
    try:
        principal = reauthenticate()
        with transaction() as session:
            token = tokens.create_token(session, principal, name=name, scopes=scopes, lifetime=lifetime)
    except NotSignedIn:
        raise
    except DomainError as problem:
        return render_account(
            page, problem=problem, wrong_form="token", token_name=name, chosen=scopes, days=days
        )
    return render_account(page, status=201, token=token)


@router.post("/account/tokens/{token_id}/revoke")
def revoke_token(token_id: UUID, principal: CurrentPrincipal) -> Response:
    with transaction() as session:
        tokens.revoke_own(session, principal, token_id)
    return see_other("/account", notice="token_revoked")


@router.post("/account/password")
@limit_concurrency
def change_password(
    page: RequestedUserPage,
    address: ClientAddress,
    *,
    old: Annotated[str, Form()] = "",
    new: Annotated[str, Form()] = "",
) -> Response:
    try:
        with throttle.limit_tries(address, account=page.principal.step_up_key):
            passwords.change_own_password(page.principal, old=old, new=new)
    except DomainError as problem:
        return render_account(page, problem=problem, wrong_form="password")
    return see_other("/account", notice="password_changed")
