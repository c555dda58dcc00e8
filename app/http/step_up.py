"""The password once more, for what a stolen token or session alone must not do: what cannot be undone, or
opens a way in that outlasts it.
"""

from collections.abc import Callable
from functools import partial
from typing import Annotated
from urllib.parse import unquote

from anyio import from_thread
from fastapi import Depends, Form, Header

from app.db.transaction import transaction
from app.http import throttle
from app.http.authentication import Address, SignedIn
from app.http.passwords import few_at_a_time
from app.services.accounts import accounts, passwords
from app.services.accounts.accounts import Principal

HEADER = "X-Confirm-Password"

PasswordHeader = Annotated[
    str | None,
    Header(
        alias=HEADER,
        description="the caller's password, percent-encoded as UTF-8, for what cannot be undone or opens"
        " a way in; without it such a call answers 403 `password_needed`",
    ),
]


def checked(principal: Principal, address: str | None, password: str) -> Principal:
    with throttle.tries(address, account=accounts.confirming_key(principal)):
        with transaction() as session:
            kept = passwords.kept_hash(session, principal)
        if not accounts.matches(kept, password):
            raise passwords.wrong_password()
    return principal.who_confirmed()


in_few_threads = few_at_a_time(checked)


def confirmed(principal: Principal, address: str | None, password: str) -> Principal:
    """The person, who has just given their password with a form; nothing given leaves them as they were.

    For a route in a thread of its own, outside of a transaction. WrongCredential, which counts against the
    token or session that asks and against its address, or TooMany.
    """
    return from_thread.run(in_few_threads, principal, address, password) if password else principal


async def by_form(
    principal: SignedIn, address: Address, password: Annotated[str, Form()] = ""
) -> Callable[[], Principal]:
    return partial(confirmed, principal, address, password)


Sure = Annotated[Callable[[], Principal], Depends(by_form)]
"""What the password of a form confirms: a call gives what ``confirmed`` does, where refusals can be shown."""


async def confirming(principal: SignedIn, address: Address, password: PasswordHeader = None) -> Principal:
    """The same for a call of the API."""
    return await in_few_threads(principal, address, unquote(password)) if password else principal


Confirming = Annotated[Principal, Depends(confirming)]
"""Who makes a request, with what their password confirms if they sent it."""
