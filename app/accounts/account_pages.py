"""The account page, with tokens, sessions, password and e-mail address, and the pages that mail links to."""

from datetime import timedelta
from functools import partial
from typing import Annotated, Literal
from uuid import UUID

from fastapi import APIRouter, Depends, Form, Query
from fastapi.responses import HTMLResponse
from starlette.responses import Response

from anoncup.errors import DomainError, NotFound
from anoncup.schemas import TokenKind
from app.accounts import email_addresses, identities, memberships, passwords, people
from app.accounts.passwords import limit_concurrency
from app.accounts.step_up import FormReauthentication
from app.core import outbox
from app.core.db.transaction import transaction
from app.core.http import throttle
from app.core.identity import names, tokens
from app.core.identity.authentication import AppSettings, ClientAddress, CurrentPrincipal, require_same_origin
from app.core.identity.session_cookie import delete_session_cookie
from app.core.pages.pages import (
    Page,
    PageRoute,
    RequestedPage,
    RequestedUserPage,
    UserPage,
    see_other,
    show_problem,
)


def _require_mail(settings: AppSettings) -> None:
    if settings.smtp is None:
        raise NotFound("there is nothing here")


router = APIRouter(route_class=PageRoute)
mail_router = APIRouter(route_class=PageRoute, dependencies=[Depends(_require_mail)])
"""Without a mail server, none of its pages exist."""

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
        valid_tokens = tokens.list_tokens(session, page.principal, tokens.is_valid())
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
        closed_name=names.build_closed_name(page.principal.user_id),
    )


@router.get("/account/tokens")
@router.get("/account/password")
@router.get("/account/identities/{provider}")
@router.get("/account/unlink")
@router.get("/account/confirm")
@router.get("/account/close")
@mail_router.get("/account/email")
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


@router.post("/account/close")
@show_problem(partial(render_account, wrong_form="close"))
def close_account(page: RequestedUserPage, reauthenticate: FormReauthentication) -> Response:
    principal = reauthenticate()
    with transaction() as session:
        people.close(session, principal)
    response = see_other("/", notice="account_closed")
    delete_session_cookie(response, page.request)
    return response


_CodeQuery = Annotated[str, Query()]
_AddressField = Annotated[str, Form(alias="address")]


@mail_router.post("/account/email")
@show_problem(partial(render_account, wrong_form="email"))
def store_address(
    page: RequestedUserPage,
    client_address: ClientAddress,
    *,
    reauthenticate: FormReauthentication,
    typed_address: _AddressField = "",
) -> Response:
    principal = reauthenticate()
    throttle.count_mail(client_address, recipient=typed_address, account=str(principal.user_id))
    with transaction() as session:
        email_addresses.store(session, principal, address=typed_address, language=page.t.language)
    return see_other("/account", notice="email_stored")


@mail_router.post("/account/email/subscription")
def set_subscribed(principal: CurrentPrincipal, subscribed: Annotated[bool, Form()] = False) -> Response:
    with transaction() as session:
        email_addresses.set_subscribed(session, principal, subscribed)
    return see_other("/account", notice="email_subscribed" if subscribed else "email_unsubscribed")


@mail_router.post("/account/email/remove")
def remove_address(principal: CurrentPrincipal) -> Response:
    with transaction() as session:
        email_addresses.remove(session, principal)
    return see_other("/account", notice="email_removed")


def _render_confirmation(page: Page, *, code: str, problem: DomainError | None = None) -> HTMLResponse:
    return page.render("accounts/email_confirmation.html", problem=problem, code=code)


@mail_router.get("/email")
def show_confirmation(page: RequestedPage, code: _CodeQuery = "") -> HTMLResponse:
    """Show a button: programs that check mail open its links, which must not confirm anything."""
    return _render_confirmation(page, code=code)


@mail_router.post("/email", dependencies=[Depends(require_same_origin)])
@show_problem(_render_confirmation)
def confirm_address(
    page: RequestedPage,  # noqa: ARG001  # for show_problem
    client_address: ClientAddress,
    code: _CodeQuery = "",
) -> Response:
    with throttle.limit_tries(client_address), transaction() as session:
        email_addresses.confirm(session, code)
    return see_other("/", notice="email_confirmed")


@mail_router.get("/email/unsubscribe")
def show_unsubscribe(page: RequestedPage, address: UUID) -> HTMLResponse:
    return page.render("accounts/email_unsubscribe.html", address=address, is_done=False)


@mail_router.post("/email/unsubscribe")
def unsubscribe(page: RequestedPage, address: UUID) -> HTMLResponse:
    """Stop mail about competitions. Mail programs send this by themselves (RFC 8058), without an origin."""
    with transaction() as session:
        email_addresses.unsubscribe(session, address)
    return page.render("accounts/email_unsubscribe.html", address=address, is_done=True)


def _render_forgotten_password(
    page: Page, *, typed_address: str = "", problem: DomainError | None = None
) -> HTMLResponse:
    return page.render("accounts/forgotten_password.html", problem=problem, typed_address=typed_address)


@mail_router.get("/password/forgotten")
def show_forgotten_password(page: RequestedPage) -> HTMLResponse:
    return _render_forgotten_password(page)


@mail_router.post("/password/forgotten", dependencies=[Depends(require_same_origin)])
@show_problem(_render_forgotten_password)
def request_password_link(
    page: RequestedPage,  # noqa: ARG001  # for show_problem
    client_address: ClientAddress,
    typed_address: _AddressField = "",
) -> Response:
    """Ask for a link by mail. The answer is the same whether or not an account has the address."""
    throttle.count_mail(client_address, recipient=typed_address)
    if valid_address := email_addresses.clean_address(typed_address):
        with transaction() as session:
            outbox.add_password_links(session, valid_address)
    return see_other("/sign-in", notice="password_mail")
