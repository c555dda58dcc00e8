"""Applications for tests: new ones, with the routes of the first."""

from functools import cache

from fastapi import FastAPI

from app.main import create_app
from tests.support.role_session import AsWeb


@cache
def first() -> FastAPI:
    """Its routes prepare at their first request what costs as much as ten, and know nothing of any."""
    return create_app()


def application() -> FastAPI:
    made = create_app()
    made.router.routes = first().router.routes
    # Where its routes look: empty, as of a new application.
    made.dependency_overrides = first().dependency_overrides
    made.dependency_overrides.clear()
    made.add_middleware(AsWeb)
    return made
