"""The account page: a user's competitions, tokens, sessions and password."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter, Form, Request
from fastapi.responses import HTMLResponse
from sqlalchemy.orm import Session
from starlette.responses import Response

from anoncup.errors import DomainError, NotSignedIn
from anoncup.schemas import TokenKind
from app.db.transaction import transaction
from app.http import passwords, throttle
from app.http.authentication import ClientAddress, CurrentPrincipal
from app.http.passwords import limit_concurrency
from app.http.step_up import FormReauthentication
from app.services.accounts import accounts, memberships
from app.services.accounts.accounts import Principal
from app.services.contests import competitions
from app.services.teams import organizers
from app.web.site.pages import PageRoute, render_form_again, render_page, see_other

router = APIRouter(route_class=PageRoute)

_TokenLifetimeDays = Literal["30", "90", "180", "365"]
_TOKEN_LIFETIMES: tuple[_TokenLifetimeDays, ...] = ("30", "90", "180", "365")
"""The token lifetimes that the form offers, in days."""


@router.get("/account")
def show_account(request: Request, principal: CurrentPrincipal) -> HTMLResponse:
    return render_page(request, principal, "visitor/account.html", **_build_account_content(principal))


def _build_account_content(principal: Principal) -> dict[str, Any]:
    """Return the template variables of the account page."""
    with transaction() as session:
        tokens = accounts.list_valid_tokens(session, principal)
        return {
            "teams": [
                (slug, _load_title(session, principal, slug), team)
                for slug, team in memberships.list_teams(session, principal.user_id)
            ],
            "organizes": [
                (slug, _load_title(session, principal, slug))
                for slug in organizers.list_competition_slugs(session, principal.user_id)
            ],
            "tokens": [item for item in tokens if item.kind == TokenKind.API],
            "sessions": [item for item in tokens if item.kind == TokenKind.SESSION],
            "scopes": [
                item for item in accounts.list_allowed_scopes(principal.role) if item in principal.scopes
            ],
            "lives": _TOKEN_LIFETIMES,
        }


def _load_title(session: Session, principal: Principal, slug: str) -> Mapping[str, str]:
    return competitions.get_title(competitions.find(session, principal, slug).competition)


@router.get("/account/tokens")
@router.get("/account/password")
def redirect_to_account() -> Response:
    """Redirect if the response of a form is reloaded: it may have shown a token, which is shown only once."""
    return see_other("/account")


@router.post("/account/tokens")
def create_token(
    request: Request,
    principal: CurrentPrincipal,
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
            token = accounts.create_token(session, principal, name=name, scopes=scopes, lifetime=lifetime)
    except NotSignedIn:
        raise
    except DomainError as problem:
        form_values = {"token_name": name, "chosen": scopes, "days": days, "wrong_form": "token"}
        return render_form_again(
            request,
            principal,
            "visitor/account.html",
            problem,
            **_build_account_content(principal),
            **form_values,
        )
    return render_page(
        request,
        principal,
        "visitor/account.html",
        status=201,
        token=token,
        **_build_account_content(principal),
    )


@router.post("/account/tokens/{token_id}/revoke")
def revoke_token(token_id: UUID, principal: CurrentPrincipal) -> Response:
    with transaction() as session:
        accounts.revoke_own(session, principal, token_id)
    return see_other("/account", notice="token_revoked")


@router.post("/account/password")
@limit_concurrency
def change_password(
    request: Request,
    principal: CurrentPrincipal,
    address: ClientAddress,
    *,
    old: Annotated[str, Form()] = "",
    new: Annotated[str, Form()] = "",
) -> Response:
    try:
        with throttle.limit_tries(address, account=accounts.build_step_up_key(principal)):
            passwords.change_own_password(principal, old=old, new=new)
    except DomainError as problem:
        return render_form_again(
            request,
            principal,
            "visitor/account.html",
            problem,
            **_build_account_content(principal),
            wrong_form="password",
        )
    return see_other("/account", notice="password_changed")
