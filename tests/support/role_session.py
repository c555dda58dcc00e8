"""Separate database roles for the web application, the tasks and the clock of one test process.

Code that a test runs directly acts as the owner of the database.
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

from app.core.db.privileges import WEB, WORKER
from app.core.db.transaction import transaction
from workers import allocate, clock, deliver, lease_runner, lifecycle, rank

CURRENT_ROLE: ContextVar[str | None] = ContextVar("ROLE", default=None)

WORKER_MODULES = (lease_runner, rank, deliver, clock, allocate, lifecycle)
"""The modules whose transactions use the role of workers and the clock."""


@contextmanager
def act_as(role: str | None) -> Iterator[None]:
    token = CURRENT_ROLE.set(role)
    try:
        yield
    finally:
        CURRENT_ROLE.reset(token)


def set_role(session: Session, _: Any, connection: Connection) -> None:
    """Set the role for this transaction through the driver, so that statement counts stay the same."""
    if (role := CURRENT_ROLE.get()) is not None:
        driver: Any = connection.connection.driver_connection
        driver.execute(f"SET LOCAL ROLE {role}")


class WebRoleMiddleware:
    """Runs requests in the database role of a web process."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with act_as(WEB):
            await self.app(scope, receive, send)


@contextmanager
def separate_roles() -> Iterator[None]:
    event.listen(Session, "after_begin", set_role)
    with pytest.MonkeyPatch.context() as patch:
        for module in WORKER_MODULES:
            patch.setattr(module, "transaction", worker_transaction)
        yield
    event.remove(Session, "after_begin", set_role)


@contextmanager
def worker_transaction() -> Iterator[Session]:
    with act_as(WORKER), transaction() as session:
        yield session


def build_role_url(role: str, url: str) -> str:
    """Return the database URL for a program that acts in the role."""
    return f"{url}{'&' if '?' in url else '?'}options={quote(f'-c role={role}')}"
