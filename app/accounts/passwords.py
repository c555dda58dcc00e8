"""Hash and check passwords, a few at a time and outside of transactions.

A hash deliberately takes a tenth of a second and 64 MB. Forty simultaneous sign-ins would otherwise occupy
every thread and database connection of the process.
"""

from collections.abc import Callable, Coroutine
from functools import partial, wraps
from typing import Any, ParamSpec, TypeVar

from anyio import CapacityLimiter, to_thread
from anyio.lowlevel import RunVar

from app.accounts import password_changes
from app.config import get_settings
from app.core.db.transaction import transaction
from app.core.identity import password_hashes, users
from app.core.identity.principal import Principal

P = ParamSpec("P")
T = TypeVar("T")

MAX_CONCURRENT_HASHES = 2

limiter_variable: RunVar[CapacityLimiter] = RunVar("passwords")
"""The limiter of the current event loop."""


def _get_limiter() -> CapacityLimiter:
    try:
        return limiter_variable.get()
    except LookupError:
        limiter_variable.set(CapacityLimiter(get_settings().compute_process_share(MAX_CONCURRENT_HASHES)))
        return limiter_variable.get()


def limit_concurrency(route: Callable[P, T]) -> Callable[P, Coroutine[Any, Any, T]]:
    """Run a route in a small separate thread pool. A waiting request holds no thread or connection."""

    @wraps(route)
    async def run(*args: P.args, **kwargs: P.kwargs) -> T:
        return await to_thread.run_sync(partial(route, *args, **kwargs), limiter=_get_limiter())

    return run


def verify_password(name: str, password: str) -> str:
    """Return the user's password hash if the password matches it.

    Raise NotSignedIn otherwise. An unknown name takes as long as a wrong password.
    """
    with transaction() as session:
        password_hash = users.find_password_hash(session, name)
    return password_hashes.verify_password(password_hash, password)


def change_own_password(principal: Principal, *, old: str, new: str) -> None:
    """Set a new password after checking the old one, or for a person without one, a recent sign-in."""
    principal.require("submit")
    with transaction() as session:
        old_hash = password_changes.load_hash(session, principal)
    if old_hash == password_hashes.UNUSABLE_HASH:
        principal.require_reauthentication()
    elif not password_hashes.is_correct_password(old_hash, old):
        raise password_changes.build_wrong_old_password_error()
    new_hash = password_hashes.hash_password(new)
    with transaction() as session:
        password_changes.change(session, principal, verified_hash=old_hash, new_hash=new_hash)
