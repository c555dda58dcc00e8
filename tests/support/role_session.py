"""In one process three: its web application, its tasks and its clock act in database roles of their own.

What a test arranges by itself is done as the owner.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any
from urllib.parse import quote

import pytest
from sqlalchemy import Connection, event
from sqlalchemy.orm import Session
from starlette.types import ASGIApp, Receive, Scope, Send

from app.db.privileges import CLOCK, WEB, WORKER
from app.db.transaction import transaction
from workers import advise, allocate, clock, judge, lease_runner, lifecycle, rehearse, score

ROLE: ContextVar[str | None] = ContextVar("ROLE", default=None)

ACTORS = {
    WORKER: (score, judge, advise, rehearse, lease_runner),
    CLOCK: (clock, allocate, lifecycle),
}
"""The modules whose transactions are a process's own."""


@contextmanager
def acting_as(role: str | None) -> Iterator[None]:
    token = ROLE.set(role)
    try:
        yield
    finally:
        ROLE.reset(token)


def take_role(session: Session, _: Any, connection: Connection) -> None:
    """For this transaction; unseen by what counts statements."""
    if (role := ROLE.get()) is not None:
        driver: Any = connection.connection.driver_connection
        driver.execute(f"SET LOCAL ROLE {role}")


class AsWeb:
    """The application, in the role of a web process."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with acting_as(WEB):
            await self.app(scope, receive, send)


@contextmanager
def roles_apart() -> Iterator[None]:
    event.listen(Session, "after_begin", take_role)
    with pytest.MonkeyPatch.context() as patched:
        for role, modules in ACTORS.items():
            for module in modules:
                patched.setattr(module, "transaction", in_role(role))
        yield
    event.remove(Session, "after_begin", take_role)


def in_role(role: str) -> Any:
    @contextmanager
    def as_role() -> Iterator[Session]:
        with acting_as(role), transaction() as session:
            yield session

    return as_role


def url_as(role: str, url: str) -> str:
    """The database's address for a program that acts in the role, as if it had signed in with it."""
    return f"{url}{'&' if '?' in url else '?'}options={quote(f'-c role={role}')}"
