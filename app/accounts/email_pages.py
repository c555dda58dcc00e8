"""The e-mail address of an account, and the links in mail. Without a mail server, no page exists."""

from functools import partial
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Form, Query
from fastapi.responses import HTMLResponse
from starlette.responses import Response

from anoncup.errors import DomainError, NotFound
from app.accounts import email_addresses
from app.accounts.account_pages import render_account
from app.accounts.step_up import FormReauthentication
from app.core import outbox
from app.core.db.transaction import transaction
from app.core.http import throttle
from app.core.identity.authentication import AppSettings, ClientAddress, CurrentPrincipal, require_same_origin
from app.core.pages.pages import Page, PageRoute, RequestedPage, RequestedUserPage, see_other, show_problem


def _require_mail(settings: AppSettings) -> None:
    if settings.smtp is None:
        raise NotFound("there is nothing here")


router = APIRouter(route_class=PageRoute, dependencies=[Depends(_require_mail)])

_CodeQuery = Annotated[str, Query()]
_AddressField = Annotated[str, Form(alias="address")]


@router.get("/account/email")
def redirect_to_account() -> Response:
    """Redirect if the response of the form is reloaded, for example in another language."""
    return see_other("/account")


@router.post("/account/email")
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


@router.post("/account/email/subscription")
def set_subscribed(principal: CurrentPrincipal, subscribed: Annotated[bool, Form()] = False) -> Response:
    with transaction() as session:
        email_addresses.set_subscribed(session, principal, subscribed)
    return see_other("/account", notice="email_subscribed" if subscribed else "email_unsubscribed")


@router.post("/account/email/remove")
def remove_address(principal: CurrentPrincipal) -> Response:
    with transaction() as session:
        email_addresses.remove(session, principal)
    return see_other("/account", notice="email_removed")


def _render_confirmation(page: Page, *, code: str, problem: DomainError | None = None) -> HTMLResponse:
    return page.render("accounts/email_confirmation.html", problem=problem, code=code)


@router.get("/email")
def show_confirmation(page: RequestedPage, code: _CodeQuery = "") -> HTMLResponse:
    """Show a button: programs that check mail open its links, which must not confirm anything."""
    return _render_confirmation(page, code=code)


@router.post("/email", dependencies=[Depends(require_same_origin)])
@show_problem(_render_confirmation)
def confirm_address(
    page: RequestedPage,  # noqa: ARG001  # for show_problem
    client_address: ClientAddress,
    code: _CodeQuery = "",
) -> Response:
    with throttle.limit_tries(client_address), transaction() as session:
        email_addresses.confirm(session, code)
    return see_other("/", notice="email_confirmed")


@router.get("/email/unsubscribe")
def show_unsubscribe(page: RequestedPage, address: UUID) -> HTMLResponse:
    return page.render("accounts/email_unsubscribe.html", address=address, is_done=False)


@router.post("/email/unsubscribe")
def unsubscribe(page: RequestedPage, address: UUID) -> HTMLResponse:
    """Stop mail about competitions. Mail programs send this by themselves (RFC 8058), without an origin."""
    with transaction() as session:
        email_addresses.unsubscribe(session, address)
    return page.render("accounts/email_unsubscribe.html", address=address, is_done=True)


def _render_forgotten_password(
    page: Page, *, typed_address: str = "", problem: DomainError | None = None
) -> HTMLResponse:
    return page.render("accounts/forgotten_password.html", problem=problem, typed_address=typed_address)


@router.get("/password/forgotten")
def show_forgotten_password(page: RequestedPage) -> HTMLResponse:
    return _render_forgotten_password(page)


@router.post("/password/forgotten", dependencies=[Depends(require_same_origin)])
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
