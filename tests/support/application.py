"""New applications for tests, which share prepared routes."""

from functools import cache

from fastapi import FastAPI

from app.main import create_app
from tests.support.role_session import WebRoleMiddleware


@cache
def build_shared_application() -> FastAPI:
    """Return the application whose routes all others share, because the first request of a route is slow."""
    return create_app()


def build_application() -> FastAPI:
    app = create_app()
    app.router.routes = build_shared_application().router.routes
    # The shared routes read the overrides of the first application.
    app.dependency_overrides = build_shared_application().dependency_overrides
    app.dependency_overrides.clear()
    app.add_middleware(WebRoleMiddleware)
    return app
