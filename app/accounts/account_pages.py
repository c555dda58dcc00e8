"""The account page: a user's competitions, tokens, sessions and password."""

from datetime import timedelta
from functools import partial
from typing import Annotated, Literal
from uuid import UUID

from fastapi import APIRouter, Form
from fastapi.responses import HTMLResponse
from starlette.responses import Response

from anoncup.errors import DomainError
from anoncup.schemas import TokenKind
from app.accounts import email_addresses, identities, memberships, passwords
from app.accounts.passwords import limit_concurrency
from app.accounts.step_up import FormReauthentication
from app.core.db.transaction import transaction
from app.core.identity import tokens
from app.core.identity.authentication import ClientAddress, CurrentPrincipal
from app.core.pages.pages import PageRoute, RequestedUserPage, UserPage, see_other, show_problem

router = APIRouter(route_class=PageRoute)

_TokenLifetimeDays = Literal["30", "90", "180", "365"]
_TOKEN_LIFETIMES: tuple[_TokenLifetimeDays, ...] = ("30", "90", "180", "365")
"""The token lifetimes that the form offers, in days."""


@router.get("/account")
def show_account(page: RequestedUserPage) -> HTMLResponse:
    return render_account(page)


def render_account(
    page: UserPage,
    *,
    problem: DomainError | None = None,
    wrong_form: str | None = None,
    name: str = "",
    scopes: tuple[str, ...] = ("read", "submit"),
    days: str = "180",
    typed_address: str = "",
    status: int = 200,
    token: str | None = None,
) -> HTMLResponse:
    """Render the account with what was typed into a rejected form, or with a new token."""
    with transaction() as session:
        valid_tokens = tokens.list_valid_tokens(session, page.principal)
        teams = memberships.list_teams(session, page.principal.user_id)
        organized = memberships.list_organized(session, page.principal.user_id)
        issuer = identities.find_issuer(session, page.principal.user_id)
        email_address = email_addresses.find(session, page.principal.user_id)
    allowed_scopes = tokens.list_allowed_scopes(page.principal.role)
    return page.render(
        "accounts/account.html",
        problem=problem,
        status=status,
        wrong_form=wrong_form,
        teams=teams,
        organizes=organized,
        tokens=[token for token in valid_tokens if token.kind == TokenKind.API],
        sessions=[token for token in valid_tokens if token.kind == TokenKind.SESSION],
        issuer=issuer,
        email_address=email_address,
        scopes=[scope for scope in allowed_scopes if scope in page.principal.scopes],
        lives=_TOKEN_LIFETIMES,
        new_token=token,
        token_name=name,
        chosen=scopes,
        days=days,
        typed_address=typed_address,
    )


@router.get("/account/tokens")
@router.get("/account/password")
def redirect_to_account() -> Response:
    """Redirect if the response of a form is reloaded: it may have shown a token, which is shown only once."""
    return see_other("/account")


@router.post("/account/tokens")
@show_problem(partial(render_account, wrong_form="token"))
def create_token(
    page: RequestedUserPage,
    *,
    reauthenticate: FormReauthentication,
    name: Annotated[str, Form()] = "",
    scopes: Annotated[tuple[str, ...], Form()] = (),
    days: Annotated[_TokenLifetimeDays, Form()] = "180",
) -> Response:
    principal = reauthenticate()
    with transaction() as session:
        token = tokens.create_token(
            session, principal, name=name, scopes=scopes, lifetime=timedelta(days=int(days))
        )
    return render_account(page, status=201, token=token)


@router.post("/account/tokens/{token_id}/revoke")
def revoke_token(token_id: UUID, principal: CurrentPrincipal) -> Response:
    with transaction() as session:
        tokens.revoke_own(session, principal, token_id)
    return see_other("/account", notice="token_revoked")


@router.post("/account/password")
@limit_concurrency
@show_problem(partial(render_account, wrong_form="password"))
def change_password(
    page: RequestedUserPage,
    address: ClientAddress,
    *,
    old: Annotated[str, Form()] = "",
    new: Annotated[str, Form()] = "",
) -> Response:
    passwords.change_own_password(page.principal, address, old=old, new=new)
    return see_other("/account", notice="password_changed")
