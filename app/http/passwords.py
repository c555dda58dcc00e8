"""Passwords are hashed and checked a few at a time, while no transaction is open.

A hash takes a tenth of a second and 64 MB on purpose. Forty people at once, at the end of a break, would hold
every thread and every connection of the process.
"""

from collections.abc import Callable, Coroutine
from functools import partial, wraps
from typing import Any, ParamSpec, TypeVar

from anyio import CapacityLimiter, to_thread
from anyio.lowlevel import RunVar

from app.config import get_settings
from app.db.transaction import transaction
from app.services.accounts import accounts, passwords
from app.services.accounts.accounts import Principal

P = ParamSpec("P")
T = TypeVar("T")

AT_ONCE = 2

limiter: RunVar[CapacityLimiter] = RunVar("passwords")
"""Of each event loop."""


def threads() -> CapacityLimiter:
    try:
        return limiter.get()
    except LookupError:
        limiter.set(CapacityLimiter(get_settings().share(AT_ONCE)))
        return limiter.get()


def few_at_a_time(route: Callable[P, T]) -> Callable[P, Coroutine[Any, Any, T]]:
    """The route in one of a few threads of its own; whoever waits for one holds nothing."""

    @wraps(route)
    async def waiting(*args: P.args, **named: P.kwargs) -> T:
        return await to_thread.run_sync(partial(route, *args, **named), limiter=threads())

    return waiting


def proven(name: str, password: str) -> str:
    """The hash that the password of ``name`` matches; NotSignedIn, after as long, if it matches none."""
    with transaction() as session:
        kept = accounts.kept_hash(session, name)
    return accounts.matching(kept, password)


def change(principal: Principal, *, old: str, new: str) -> None:
    """Set a new password by the old one."""
    with transaction() as session:
        kept = passwords.own_hash(session, principal)
    if not accounts.matches(kept, old):
        raise passwords.wrong_old_password()
    made = accounts.hashed(new)
    with transaction() as session:
        passwords.change(session, principal, proven=kept, new=made)
