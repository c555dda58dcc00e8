"""The web application."""

from fastapi import FastAPI
from fastapi.responses import JSONResponse
from sqlalchemy import text

from app import queue
from app.api import (
    accounts,
    boards,
    competitions,
    guesses,
    organizing,
    rescores,
    submissions,
    targets,
    teams,
    users,
)
from app.config import get_settings
from app.http import problems
from app.http.middleware import Envelope
from app.transaction import transaction
from app.web import pages

API = "/api/v1"
RESOURCES = (
    accounts,
    users,
    competitions,
    organizing,
    teams,
    submissions,
    targets,
    guesses,
    boards,
    rescores,
)


def create_app() -> FastAPI:
    app = FastAPI(
        title="anoncup",
        summary="Anonymization and re-identification contests",
        version="0.1.0",
        docs_url=None,
        redoc_url=None,
        openapi_url=f"{API}/openapi.json",
    )
    app.add_middleware(Envelope, body_limit_mb=get_settings().body_limit_mb)
    problems.register(app)
    for resource in RESOURCES:
        app.include_router(resource.router, prefix=API)
    app.include_router(pages.router, include_in_schema=False)
    app.mount("/static", pages.static_files)
    app.add_api_route("/healthz", healthz, tags=["operation"])
    app.add_api_route("/readyz", readyz, tags=["operation"])
    return app


def healthz() -> dict[str, str]:
    """This process answers."""
    return {"status": "ok"}


def readyz() -> JSONResponse:
    """What an upload needs can be reached: the database; the queue may be away for a while."""
    with transaction() as session:
        session.execute(text("SELECT 1"))
    waiting = queue.depth()
    reachable = "unreachable" if waiting is None else "ok"
    return JSONResponse({"status": "ok", "database": "ok", "queue": reachable, "queue_depth": waiting})
