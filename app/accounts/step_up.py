"""Step-up authentication: actions that a stolen token or session must not allow require the password again.

These are actions that cannot be undone or that create access which outlasts the token or session.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Annotated
from urllib.parse import unquote

from anyio import from_thread
from fastapi import Depends, Form, Header

from anoncup.errors import WrongCredential
from app.accounts.passwords import limit_concurrency, load_hash
from app.core.http import throttle
from app.core.identity import password_hashes
from app.core.identity.authentication import ClientAddress, CurrentPrincipal
from app.core.identity.principal import STEP_UP_CODES, Principal

STEP_UP_ERRORS = STEP_UP_CODES | {"wrong_password", "too_many_tries"}
"""Codes of errors after which the same form can be sent again, with the right password."""
_HEADER_NAME = "X-Confirm-Password"

_PasswordHeader = Annotated[
    str | None,
    Header(
        alias=_HEADER_NAME,
        description="the caller's password, percent-encoded as UTF-8; required for operations that"
        " cannot be undone or give access; without it they answer 403 `password_needed`",
    ),
]


def _check_password(principal: Principal, address: str | None, password: str) -> Principal:
    with throttle.limit_tries(address, account=principal.step_up_key):
        if not password_hashes.is_correct_password(load_hash(principal), password):
            raise WrongCredential("the password is wrong", code="wrong_password")
    return replace(principal, is_reauthenticated=True)


_check_password_in_thread = limit_concurrency(_check_password)


def reauthenticate(principal: Principal, address: str | None, password: str) -> Principal:
    """Return the principal as reauthenticated if the password is right, unchanged if it is empty.

    Call it from a route that runs in a thread, outside of a transaction. Raise WrongCredential, which counts
    against the token or session and against the address, or TooManyRequests.
    """
    return from_thread.run(_check_password_in_thread, principal, address, password) if password else principal


async def _defer_form_reauthentication(
    principal: CurrentPrincipal, address: ClientAddress, password: Annotated[str, Form()] = ""
) -> Callable[[], Principal]:
    return partial(reauthenticate, principal, address, password)


FormReauthentication = Annotated[Callable[[], Principal], Depends(_defer_form_reauthentication)]
"""A form route's call to ``reauthenticate``, made by the route itself so that it can display errors."""


async def _reauthenticate_caller(
    principal: CurrentPrincipal, address: ClientAddress, password: _PasswordHeader = None
) -> Principal:
    """Return the principal of an API call, reauthenticated if the password header is right."""
    return await _check_password_in_thread(principal, address, unquote(password)) if password else principal


ReauthenticatedCaller = Annotated[Principal, Depends(_reauthenticate_caller)]
"""The caller of an API route, reauthenticated if they sent their password."""
